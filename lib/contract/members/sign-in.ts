export const oidcRefusals = [
  "away",
  "cancelled",
  "domain",
  "groups",
  "invitation",
  "invited",
  "lost",
  "other",
  "read-only",
  "removed",
  "stale",
  "stranger",
  "suspended",
  "too-many",
  "undated",
  "unlinked",
  "unverified",
  "untrusted",
] as const;
export type OidcRefusal = (typeof oidcRefusals)[number];

export type OidcChoice = { id: string; label: string };
export type SignInChoices = { password: boolean; providers: OidcChoice[] };
/** For the requesting member. `hasFixedAddress`: sign-in uses the email address, so members cannot change it. */
export type SignInMethods = { password: boolean; hasFixedAddress?: true; providers: (OidcChoice & { connected: boolean })[] };
export type MemberMethods = { password: boolean; providers: string[] };

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 200;

export const tokenLifetimes = [7, 30, 90, 365] as const;

/** The name for job events (the WebSocket) in the list of operations. */
export const EVENTS_OPERATION = "events";
/** The name for running apps, with all operations that this requires, in the list of operations. */
export const APPS_OPERATION = "apps";

const tokenPattern = /^ld_[0-9a-f]{64}$/;

export function looksLikeToken(text: string): boolean {
  return tokenPattern.test(text);
}
