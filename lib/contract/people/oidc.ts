// How signing in at a provider may end without success, as the sign-in page tells it. Free of zod: browsers load it.

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

/** A sign-in provider from the settings. */
export type OidcChoice = { id: string; label: string };
export type SignInChoices = { password: boolean; providers: OidcChoice[] };
/** For the member who asks. `hasFixedAddress`: people are signed in by their address, so they cannot change it. */
export type SignInMethods = { password: boolean; hasFixedAddress?: true; providers: (OidcChoice & { connected: boolean })[] };
/** For any member; `providers` are the names that people see. */
export type MemberMethods = { password: boolean; providers: string[] };
