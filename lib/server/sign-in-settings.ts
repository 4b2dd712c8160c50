// Sign-in settings for OIDC providers and an authenticating proxy.

import "server-only";
import { readFileSync } from "node:fs";
import { type IncomingMessage } from "node:http";
import { z } from "zod";
import { isLoopback } from "@/lib/contract/connections";
import { type Role, roles } from "@/lib/contract/members/roles";
import { type createBlockList, isInNetworks } from "@/lib/shared/ip-address";
import { PROXY_EMAIL_HEADER } from "./cookies";
import { networkListSchema } from "./trusted-proxies";

type ReadSetting = <T>(name: string, schema: z.ZodType<T>, expected: string) => T | undefined;
type Fail = (message: string) => never;

const assignableRoles = roles.filter((role) => role !== "owner");
const signUpSchema = z.enum(["no", ...assignableRoles]);
const signUpExpected = `no, or the role of new members: ${assignableRoles.join(", ")}`;

const domainsSchema = z
  .string()
  .toLowerCase()
  .regex(/^(\*|[a-z0-9.-]+\.[a-z0-9-]+(,[a-z0-9.-]+\.[a-z0-9-]+)*)$/);
const domainsExpected = "domains of addresses, separated by commas, or * for any";

export type OidcProvider = {
  id: string;
  label: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  scopes: string;
  /** Lower case. Empty means any domain. */
  domains: readonly string[];
  /** The role of members created at their first sign-in. Undefined: no members are created. */
  signUp: Role | undefined;
  /** Users in none of these groups can't sign in. Undefined: admins set roles in the console. */
  roles: { claim: string; byGroup: ReadonlyMap<string, Role> } | undefined;
  /** The claim that marks the email address as verified. */
  verifiedClaim: string;
  /** A verified email address signs in its member. */
  linksByAddress: boolean;
  /** The provider never sends `auth_time`, so confirmations don't require it. */
  isUndated: boolean;
};

export const ANY_GROUP = "*";
const providerKeys = [
  "CLIENT_ID",
  "CLIENT_SECRET",
  "CLIENT_SECRET_FILE",
  "DOMAINS",
  "ISSUER",
  "LABEL",
  "LINK",
  "ROLES",
  "ROLE_CLAIM",
  "SCOPES",
  "SIGN_UP",
  "UNDATED",
  "VERIFIED_CLAIM",
] as const;
type ProviderKey = (typeof providerKeys)[number];

/** Reserved provider ids. */
const reservedIds = ["credentials", "password", "none"];

const idListSchema = z.string().regex(/^[a-z][a-z0-9-]{0,30}(,[a-z][a-z0-9-]{0,30})*$/);
const textSchema = z.string().min(1).max(2000);
const flagSchema = z.enum(["0", "1"]).transform((value) => value === "1");
const roleSchema = z.enum(assignableRoles);
/** Providers on this machine need no TLS. */
const issuerSchema = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !/[?#]/.test(url))
  .refine((url) => url.startsWith("https:") || isLoopback(new URL(url).hostname));

/** `hasProxySignIn`: a reverse proxy authenticates users. */
export function readSignInSettings(
  readSetting: ReadSetting,
  fail: Fail,
  hasProxySignIn: boolean,
): { oidc: readonly OidcProvider[]; passwordSignIn: boolean } {
  const ids = readSetting("LIGHTDESK_OIDC", idListSchema, "short names in lower case, such as acme,google")?.split(",") ?? [];
  if (ids.some((id, index) => ids.indexOf(id) !== index || reservedIds.includes(id)))
    return fail(`LIGHTDESK_OIDC must name each provider once, and must not use the reserved names ${reservedIds.join(", ")}.`);
  const oidc = ids.map((id) => readProvider(id, readSetting, fail));
  const passwordSignIn = readSetting("LIGHTDESK_PASSWORD_SIGN_IN", flagSchema, "1, or 0 to disable password sign-in") ?? true;
  if (!passwordSignIn && oidc.length === 0 && !hasProxySignIn)
    return fail(
      "LIGHTDESK_PASSWORD_SIGN_IN must be 1 while neither LIGHTDESK_OIDC nor LIGHTDESK_AUTH_HEADER is set: no one could sign in.",
    );
  return { oidc, passwordSignIn };
}

export function getOidcSettingName(id: string, key: ProviderKey): string {
  return `LIGHTDESK_OIDC_${id.toUpperCase().replaceAll("-", "_")}_${key}`;
}

export function listOidcSettingNames(ids: readonly string[]): string[] {
  return ids.flatMap((id) => providerKeys.map((key) => getOidcSettingName(id, key)));
}

function readProvider(id: string, readSetting: ReadSetting, fail: Fail): OidcProvider {
  const getSettingName = (key: ProviderKey) => getOidcSettingName(id, key);
  const readKey = <T>(key: ProviderKey, schema: z.ZodType<T>, expected: string) => readSetting(getSettingName(key), schema, expected);
  const requireValue = <T>(key: ProviderKey, value: T | undefined): T =>
    value ?? fail(`${getSettingName(key)} must be set, since LIGHTDESK_OIDC names ${id}.`);
  const domains = readKey("DOMAINS", domainsSchema, domainsExpected)?.split(",");
  const signUp = readKey("SIGN_UP", signUpSchema, signUpExpected) ?? "no";
  const byGroup = readGroups(readKey("ROLES", textSchema, groupsExpected), (key) =>
    fail(`${getSettingName(key)} must be ${groupsExpected}.`),
  );
  const claim = readKey("ROLE_CLAIM", textSchema, "the name of the claim that contains groups or roles");
  if ((byGroup === undefined) !== (claim === undefined))
    return fail(`${getSettingName("ROLE_CLAIM")} and ${getSettingName("ROLES")} must be set together.`);
  if (signUp !== "no" && domains === undefined && byGroup === undefined)
    return fail(
      `${getSettingName("DOMAINS")} or ${getSettingName("ROLES")} must be set with ${getSettingName("SIGN_UP")}: otherwise everyone with an account at the provider would become a member. Set ${getSettingName("DOMAINS")}=* to allow that.`,
    );
  const scopes =
    readKey("SCOPES", z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e ]+$/), "scopes separated by spaces") ?? "openid email profile";
  return {
    id,
    label: readKey("LABEL", z.string().max(40), "a short display name") ?? `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
    issuer: requireValue("ISSUER", readKey("ISSUER", issuerSchema, "the provider's issuer URL (https)")),
    clientId: requireValue("CLIENT_ID", readKey("CLIENT_ID", textSchema, "the client id from the provider")),
    clientSecret: readSecret(
      readKey("CLIENT_SECRET", textSchema, "the client secret from the provider"),
      readKey("CLIENT_SECRET_FILE", textSchema, "a file that contains the secret"),
      (reason) => fail(`${getSettingName("CLIENT_SECRET")} or ${getSettingName("CLIENT_SECRET_FILE")} ${reason}.`),
    ),
    scopes: scopes.split(/ +/).includes("openid") ? scopes : `openid ${scopes}`,
    domains: domains === undefined || domains.includes(ANY_GROUP) ? [] : domains,
    signUp: signUp === "no" ? undefined : signUp,
    roles: byGroup && claim !== undefined ? { claim, byGroup } : undefined,
    verifiedClaim: readKey("VERIFIED_CLAIM", textSchema, "the name of the claim that marks an address as verified") ?? "email_verified",
    isUndated: readKey("UNDATED", flagSchema, "1 if the provider never sends auth_time, otherwise 0") ?? false,
    linksByAddress: readKey("LINK", flagSchema, "1 to link sign-ins to members by verified address, otherwise 0") ?? false,
  };
}

const groupsExpected = `GROUP:ROLE pairs separated by commas, each ROLE one of ${assignableRoles.join(", ")}; the GROUP * matches all other users`;

/** A group's name may contain a colon, so the role follows the last one. */
function readGroups(setting: string | undefined, fail: (key: "ROLES") => never): ReadonlyMap<string, Role> | undefined {
  if (setting === undefined) return undefined;
  const pairs = setting.split(",").map((pair): [string, Role] => {
    const colonIndex = pair.lastIndexOf(":");
    const role = roleSchema.safeParse(pair.slice(colonIndex + 1).trim());
    const group = pair.slice(0, Math.max(colonIndex, 0)).trim();
    return group !== "" && role.success ? [group, role.data] : fail("ROLES");
  });
  return new Map(pairs);
}

function readSecret(setting: string | undefined, file: string | undefined, fail: (reason: string) => never): string {
  if ((setting === undefined) === (file === undefined)) return fail("must be set, but not both");
  if (file === undefined) return setting ?? "";
  try {
    const secret = readFileSync(file, "utf8").trim();
    return secret === "" ? fail("must name a file that is not empty") : secret;
  } catch (error) {
    return fail(`must name a file that can be read (${error instanceof Error && "code" in error ? String(error.code) : "unknown error"})`);
  }
}

export type ProxySignIn = {
  header: string;
  networks: ReturnType<typeof createBlockList>;
  signUp: Role | undefined;
  domains: readonly string[];
  /** The URL at which the proxy ends its own session. */
  signOutUrl: string | undefined;
};

/** Headers that browsers or other settings already use. */
const reservedHeaders =
  /^(cookie|host|origin|authorization|x-api-key|x-forwarded-for|user-agent|referer|accept.*|sec-.*|content-.*|x-lightdesk-.*)$/;
const nameSchema = z
  .string()
  .toLowerCase()
  .regex(/^[a-z][a-z0-9-]{1,60}$/)
  .refine((name) => !reservedHeaders.test(name));

export function readProxySignIn(readSetting: ReadSetting, fail: Fail): ProxySignIn | undefined {
  const header = readSetting("LIGHTDESK_AUTH_HEADER", nameSchema, "the name of an otherwise unused header, such as x-forwarded-email");
  const networks = readSetting("LIGHTDESK_AUTH_HEADER_FROM", networkListSchema, "addresses or networks, such as 127.0.0.1,10.0.0.0/8");
  const signUp = readSetting("LIGHTDESK_AUTH_HEADER_SIGN_UP", signUpSchema, signUpExpected) ?? "no";
  const domains = readSetting("LIGHTDESK_AUTH_HEADER_DOMAINS", domainsSchema, domainsExpected);
  const signOutUrl = readSetting("LIGHTDESK_AUTH_HEADER_SIGN_OUT", z.url({ protocol: /^https?$/ }), "the proxy's sign-out URL");
  if (header === undefined && networks === undefined) return undefined;
  if (header === undefined || networks === undefined)
    return fail("LIGHTDESK_AUTH_HEADER and LIGHTDESK_AUTH_HEADER_FROM must be set together.");
  if (signUp !== "no" && domains === undefined)
    return fail(
      "LIGHTDESK_AUTH_HEADER_DOMAINS must be set with LIGHTDESK_AUTH_HEADER_SIGN_UP: the domains whose users become members, or * for all.",
    );
  const allowedDomains = domains === undefined || domains === "*" ? [] : domains.split(",");
  return { header, networks, signUp: signUp === "no" ? undefined : signUp, domains: allowedDomains, signOutUrl };
}

type HeaderRejection = { status: number; code: string; message: string };

/** Runs before any route. Copies the proxy's header to the name that routes read, or rejects the request. */
export function applyProxyHeader({ headers, socket }: IncomingMessage, settings: ProxySignIn | undefined): HeaderRejection | undefined {
  delete headers[PROXY_EMAIL_HEADER];
  const headerValue = settings && headers[settings.header];
  if (!settings || headerValue === undefined) return undefined;
  if (!isInNetworks(socket.remoteAddress ?? "", settings.networks)) {
    const message = `The header ${settings.header} is only accepted from the reverse proxy. The operator sets its address in LIGHTDESK_AUTH_HEADER_FROM.`;
    return { status: 403, code: "FORBIDDEN", message };
  }
  headers[PROXY_EMAIL_HEADER] = String(headerValue);
  return undefined;
}
