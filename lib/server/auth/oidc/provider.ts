// An OIDC provider: its discovery document, its claims, and its configuration for next-auth.

import "server-only";
import { type OAuthConfig } from "next-auth/providers/oauth";
import { z } from "zod";
import { isLoopback } from "@/lib/contract/connections";
import { getOwn, isObject } from "@/lib/contract/json/json";
import { type Role, roles } from "@/lib/contract/members/roles";
import { ANY_GROUP, type OidcProvider } from "@/lib/server/sign-in-settings";
import { readBytes } from "@/lib/server/upstream/streams";

export type DiscoveryDocument = {
  issuer: string;
  authorizationUrl: string;
  tokenUrl: string;
  keysUrl: string;
  userinfoUrl: string | undefined;
  endSessionUrl: string | undefined;
  /** The only algorithm accepted for its ID tokens. */
  algorithm: string;
  tokenAuth: "client_secret_basic" | "client_secret_post";
};

const PROVIDER_TIMEOUT_MS = 5_000;
/** Cache lifetime for the later steps of a sign-in. */
export const DISCOVERY_CACHE_MS = 10 * 60_000;
/** The start of a sign-in doesn't use the cache, so that the console reports an outage instead of the browser's error page. */
export const NO_DISCOVERY_CACHE = 0;
const MAX_DISCOVERY_BYTES = 256 * 1024;
const algorithms = ["RS256", "PS256", "ES256", "EdDSA", "RS384", "RS512", "PS384", "PS512", "ES384", "ES512"];

const discoveryCache = new Map<string, { fetchedAt: number; documentPromise: Promise<DiscoveryDocument> }>();

/** Throws if the provider is unreachable or doesn't match the settings. Failures are not cached. */
export function discover(provider: OidcProvider, maxAgeMs: number): Promise<DiscoveryDocument> {
  const cachedDiscovery = discoveryCache.get(provider.id);
  if (cachedDiscovery && performance.now() - cachedDiscovery.fetchedAt < maxAgeMs) return cachedDiscovery.documentPromise;
  const documentPromise = fetchDiscovery(provider);
  discoveryCache.set(provider.id, { fetchedAt: performance.now(), documentPromise });
  documentPromise.catch(() => discoveryCache.delete(provider.id));
  return documentPromise;
}

async function fetchDiscovery({ issuer }: OidcProvider): Promise<DiscoveryDocument> {
  const base = removeTrailingSlash(issuer);
  const signal = AbortSignal.timeout(PROVIDER_TIMEOUT_MS);
  const response = await fetch(`${base}/.well-known/openid-configuration`, {
    redirect: "error",
    headers: { accept: "application/json" },
    signal,
  });
  const bytes = response.ok ? await readBytes(response.body, MAX_DISCOVERY_BYTES, { signal }) : undefined;
  if (!bytes) throw new Error(`its configuration request failed (${response.status})`);
  const metadata = createDiscoverySchema(isLoopback(new URL(issuer).hostname)).parse(JSON.parse(new TextDecoder().decode(bytes)));
  if (removeTrailingSlash(metadata.issuer) !== base) throw new Error(`its issuer is ${metadata.issuer.slice(0, 200)}, not ${base}`);
  const algorithm = algorithms.find((algorithm) => metadata.id_token_signing_alg_values_supported.includes(algorithm));
  if (algorithm === undefined) throw new Error("it uses no supported signing algorithm");
  const authMethods = metadata.token_endpoint_auth_methods_supported;
  return {
    issuer: metadata.issuer,
    authorizationUrl: metadata.authorization_endpoint,
    tokenUrl: metadata.token_endpoint,
    keysUrl: metadata.jwks_uri,
    userinfoUrl: metadata.userinfo_endpoint,
    endSessionUrl: metadata.end_session_endpoint,
    algorithm,
    tokenAuth: authMethods && !authMethods.includes("client_secret_basic") ? "client_secret_post" : "client_secret_basic",
  };
}

function createDiscoverySchema(isLoopbackAllowed: boolean) {
  const url = z
    .url({ protocol: /^https?$/ })
    .refine((text) => text.startsWith("https:") || (isLoopbackAllowed && isLoopback(new URL(text).hostname)), "must be https");
  const stringList = z.array(z.string());
  return z.object({
    issuer: z.string(),
    authorization_endpoint: url,
    token_endpoint: url,
    jwks_uri: url,
    userinfo_endpoint: url.optional(),
    end_session_endpoint: url.optional(),
    id_token_signing_alg_values_supported: stringList.default(["RS256"]),
    token_endpoint_auth_methods_supported: stringList.optional(),
  });
}

function removeTrailingSlash(url: string): string {
  return url.replace(/\/$/, "");
}

export type Claims = Readonly<Record<string, unknown>> & { sub: string; iss: string };
export type Person = {
  issuer: string;
  subject: string;
  email: string | undefined;
  name: string | undefined;
  /** When the user last proved their identity to the provider, in milliseconds. */
  signedInAt: number | undefined;
  /** From the user's groups, if the settings map groups to roles. "none" if the user is in none of the mapped groups. */
  role: Role | "none" | undefined;
  groups: string[] | undefined;
};

const MAX_SUBJECT_LENGTH = 255;
const MAX_EMAIL_LENGTH = 254;
const MAX_GROUPS = 2_000;

function hasMissingClaims(claims: Claims, { verifiedClaim, roles }: OidcProvider): boolean {
  return (
    claims.email === undefined ||
    claims[verifiedClaim] === undefined ||
    (roles !== undefined && readClaim(claims, roles.claim) === undefined)
  );
}

/** The ID token takes precedence. The address and its verification always come from the same source. */
function mergeClaims(token: Claims, userinfo: Readonly<Record<string, unknown>>, { verifiedClaim }: OidcProvider): Claims {
  const source = token.email !== undefined && token[verifiedClaim] !== undefined ? token : userinfo;
  return { ...userinfo, ...token, email: source.email, [verifiedClaim]: source[verifiedClaim] };
}

export function readPerson(claims: Claims, provider: OidcProvider): Person | undefined {
  const { sub, iss, auth_time: authTime } = claims;
  if (typeof sub !== "string" || sub === "" || sub.length > MAX_SUBJECT_LENGTH) return undefined;
  const groupRole = provider.roles && findGroupRole(readClaim(claims, provider.roles.claim), provider.roles.byGroup);
  return {
    issuer: iss,
    subject: sub,
    email: claims[provider.verifiedClaim] === true ? readEmail(claims.email) : undefined,
    name: [claims.name, claims.preferred_username].find((name): name is string => typeof name === "string" && name.trim() !== ""),
    signedInAt: typeof authTime === "number" ? authTime * 1000 : undefined,
    role: groupRole?.role,
    groups: groupRole?.groups,
  };
}

function readEmail(claim: unknown): string | undefined {
  if (typeof claim !== "string" || claim.length > MAX_EMAIL_LENGTH) return undefined;
  const email = claim.trim().toLowerCase();
  return /^[^\s@\u0000-\u001f]+@[^\s@\u0000-\u001f]+$/.test(email) ? email : undefined;
}

function findGroupRole(groups: unknown, byGroup: ReadonlyMap<string, Role>): { role: Role | "none"; groups: string[] | undefined } {
  const names = (Array.isArray(groups) ? groups.slice(0, MAX_GROUPS) : [groups]).filter((name) => typeof name === "string");
  const mappedGroups = [...new Set(names)].filter((name) => name !== ANY_GROUP && byGroup.has(name));
  const acceptedGroups = mappedGroups.length > 0 || !byGroup.has(ANY_GROUP) ? mappedGroups : [ANY_GROUP];
  const role = [...roles].reverse().find((role) => acceptedGroups.some((name) => byGroup.get(name) === role));
  return role === undefined
    ? { role: "none", groups: undefined }
    : { role, groups: acceptedGroups.filter((name) => byGroup.get(name) === role) };
}

/** Finds a claim by its name or by a path such as realm_access.roles. */
function readClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) value = isObject(value) ? getOwn(value, part) : undefined;
  return value;
}

/** With `isLoginForced`, the provider must not reuse its own session. `onError` receives errors while its response is processed. */
export function toNextAuth(
  provider: OidcProvider,
  discovery: DiscoveryDocument,
  isLoginForced: boolean,
  onError: (error: unknown) => void,
): OAuthConfig<Claims> {
  async function reportErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      onError(error);
      throw error;
    }
  }
  const { id, label, clientId, clientSecret, scopes } = provider;
  return {
    id,
    name: label,
    type: "oauth",
    issuer: discovery.issuer,
    authorization: { url: discovery.authorizationUrl, params: { scope: scopes, ...(isLoginForced && reauthParams) } },
    token: {
      url: discovery.tokenUrl,
      request: ({ client, provider: { callbackUrl }, params, checks }) =>
        reportErrors(async () => ({ tokens: await client.callback(callbackUrl, params, checks) })),
    },
    userinfo: {
      url: discovery.userinfoUrl,
      request: ({ client, tokens }) =>
        reportErrors(async () => {
          const claims = toClaims("claims" in tokens && typeof tokens.claims === "function" ? tokens.claims() : undefined);
          // The library checks `exp` and `nbf` against this clock, but not `iat`.
          if (Number(claims.iat) * 1000 > Date.now() + MAX_CLOCK_SKEW_MS) throw new Error("its ID token was issued in the future");
          if (discovery.userinfoUrl === undefined || tokens.access_token === undefined || !hasMissingClaims(claims, provider))
            return claims;
          const userinfo = await client.userinfo(tokens.access_token);
          if (userinfo.sub !== claims.sub) throw new Error("its userinfo has another subject");
          return mergeClaims(claims, userinfo, provider);
        }),
    },
    jwks_endpoint: discovery.keysUrl,
    clientId,
    clientSecret,
    client: { id_token_signed_response_alg: discovery.algorithm, token_endpoint_auth_method: discovery.tokenAuth },
    checks: ["pkce", "state", "nonce"],
    idToken: true,
    httpOptions: { timeout: PROVIDER_TIMEOUT_MS },
    profile: ({ sub }) => ({ id: sub }),
  };
}

const MAX_CLOCK_SKEW_MS = 60_000;

/** Some providers report the time of the sign-in only if the claim is requested by name. */
const reauthParams = { prompt: "login", max_age: 0, claims: '{"id_token":{"auth_time":{"essential":true}}}' };

export function toClaims(claims: unknown): Claims {
  if (!isObject(claims) || typeof claims.sub !== "string" || typeof claims.iss !== "string")
    throw new Error("the ID token has no sub or no iss");
  return { ...claims, sub: claims.sub, iss: claims.iss };
}
