// What signing in at a provider may end with, as the sign-in page tells it. Free of zod: browsers load it.

export const oidcRefusals = [
  "away",
  "cancelled",
  "domain",
  "invited",
  "lost",
  "other",
  "stale",
  "stranger",
  "too-many",
  "undated",
  "unverified",
  "untrusted",
] as const;
export type OidcRefusal = (typeof oidcRefusals)[number];

/** A way in that the settings name. */
export type OidcChoice = { id: string; label: string };
export type SignInChoices = { password: boolean; providers: OidcChoice[] };
/** Of the member who asks. `hasFixedAddress`: people are signed in by their address, so they cannot change it. */
export type SignInMethods = { password: boolean; hasFixedAddress?: true; providers: (OidcChoice & { connected: boolean })[] };
/** Of a member, by the names of the providers for people. */
export type MemberMethods = { password: boolean; providers: string[] };
