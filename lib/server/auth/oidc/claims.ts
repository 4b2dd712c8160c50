// What a provider says about a person: from the checked ID token, and from its userinfo if the token leaves something out.
// Guarantees: the address and its verification come from the same answer; verified means exactly `true`.

import "server-only";
import { isObject } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { type Role, roles } from "@/lib/contract/people/roles";
import { EVERYBODY, type OidcProvider } from "@/lib/server/oidc-settings";

export type Claims = Readonly<Record<string, unknown>> & { sub: string; iss: string };
export type Person = {
  issuer: string;
  subject: string;
  /** Undefined: no address, or not verified. */
  email: string | undefined;
  name: string | undefined;
  /** When the person last proved their identity to the provider, in milliseconds. */
  signedInAt: number | undefined;
  /** From their groups, if the settings map groups to roles; "none": they are in none of the mapped groups. */
  role: Role | "none" | undefined;
  /** The groups that give this role. */
  groups: string[] | undefined;
};

const LONGEST_SUBJECT = 255;
const LONGEST_EMAIL = 254;
const MOST_GROUPS = 2_000;

/** Whether the ID token lacks something that the settings need. */
export function lacksClaims(claims: Claims, { verifiedClaim, roles }: OidcProvider): boolean {
  return (
    claims.email === undefined || claims[verifiedClaim] === undefined || (roles !== undefined && at(claims, roles.claim) === undefined)
  );
}

/** The ID token takes precedence; address and verification are taken from the same answer. */
export function mergeClaims(token: Claims, userinfo: Readonly<Record<string, unknown>>, { verifiedClaim }: OidcProvider): Claims {
  const source = token.email !== undefined && token[verifiedClaim] !== undefined ? token : userinfo;
  return { ...userinfo, ...token, email: source.email, [verifiedClaim]: source[verifiedClaim] };
}

/** Undefined if the subject cannot be stored. */
export function readPerson(claims: Claims, provider: OidcProvider): Person | undefined {
  const { sub, iss, auth_time: shownAt } = claims;
  if (typeof sub !== "string" || sub === "" || sub.length > LONGEST_SUBJECT) return undefined;
  const byGroups = provider.roles && roleIn(at(claims, provider.roles.claim), provider.roles.byGroup);
  return {
    issuer: iss,
    subject: sub,
    email: claims[provider.verifiedClaim] === true ? readEmail(claims.email) : undefined,
    name: [claims.name, claims.preferred_username].find((name): name is string => typeof name === "string" && name.trim() !== ""),
    signedInAt: typeof shownAt === "number" ? shownAt * 1000 : undefined,
    role: byGroups?.role,
    groups: byGroups?.groups,
  };
}

function readEmail(given: unknown): string | undefined {
  if (typeof given !== "string" || given.length > LONGEST_EMAIL) return undefined;
  const email = given.trim().toLowerCase();
  return /^[^\s@\u0000-\u001f]+@[^\s@\u0000-\u001f]+$/.test(email) ? email : undefined;
}

/** The highest role that the groups give, and the groups that give it. */
function roleIn(groups: unknown, byGroup: ReadonlyMap<string, Role>): { role: Role | "none"; groups: string[] | undefined } {
  const names = (Array.isArray(groups) ? groups.slice(0, MOST_GROUPS) : [groups]).filter((name) => typeof name === "string");
  const mapped = [...new Set(names)].filter((name) => name !== EVERYBODY && byGroup.has(name));
  const acceptedGroups = mapped.length > 0 || !byGroup.has(EVERYBODY) ? mapped : [EVERYBODY];
  const role = [...roles].reverse().find((one) => acceptedGroups.some((name) => byGroup.get(name) === one));
  return role === undefined
    ? { role: "none", groups: undefined }
    : { role, groups: acceptedGroups.filter((name) => byGroup.get(name) === role) };
}

/** Finds a claim by its name, or by a path such as realm_access.roles. */
function at(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) value = isObject(value) ? own(value, part) : undefined;
  return value;
}
