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
/** For the requesting member. `hasFixedAddress`: people are signed in by their address, so they cannot change it. */
export type SignInMethods = { password: boolean; hasFixedAddress?: true; providers: (OidcChoice & { connected: boolean })[] };
export type MemberMethods = { password: boolean; providers: string[] };

export const MIN_PASSWORD = 12;
export const MAX_PASSWORD_LENGTH = 200;

export const tokenLifetimes = [7, 30, 90, 365] as const;

/** In the list of operations, the name for the events of jobs (the WebSocket). */
export const EVENTS = "events";
/** In that list, the name for running apps, with everything that needs. */
export const APPS = "apps";

const shape = /^ld_[0-9a-f]{64}$/;

export function looksLikeToken(text: string): boolean {
  return shape.test(text);
}
