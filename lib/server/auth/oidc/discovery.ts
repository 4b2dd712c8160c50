// What a provider publishes about itself at /.well-known/openid-configuration; read with a time limit and kept for a while.
// Guarantees: it names the issuer of the settings; each of its addresses is https, or on this machine if the issuer is.
// Must never: follow a redirect, or hold an unbounded answer.

import "server-only";
import { z } from "zod";
import { isLoopback } from "@/lib/contract/connections";
import { type OidcProvider } from "@/lib/server/sign-in-settings";
import { readBytes } from "@/lib/server/upstream/streams";

export type Discovered = {
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

/** Time limit for each answer of the provider. */
export const PROVIDER_MS = 5_000;
/** Used after a sign-in has begun. */
export const KEPT_MS = 10 * 60_000;
/** Used at the beginning of a sign-in: if the provider is down, the console says so, not the browser's error page. */
export const FRESH_MS = 0;
const LONGEST_ANSWER = 256 * 1024;
const algorithms = ["RS256", "PS256", "ES256", "EdDSA", "RS384", "RS512", "PS384", "PS512", "ES384", "ES512"];

const known = new Map<string, { at: number; found: Promise<Discovered> }>();

/** Throws if the provider is unreachable or does not match the settings; failures are not kept. */
export function discover(provider: OidcProvider, oldestMs: number): Promise<Discovered> {
  const kept = known.get(provider.id);
  if (kept && performance.now() - kept.at < oldestMs) return kept.found;
  const found = ask(provider);
  known.set(provider.id, { at: performance.now(), found });
  found.catch(() => known.delete(provider.id));
  return found;
}

async function ask({ issuer }: OidcProvider): Promise<Discovered> {
  const base = withoutSlash(issuer);
  const answer = await fetch(`${base}/.well-known/openid-configuration`, {
    redirect: "error",
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(PROVIDER_MS),
  });
  const bytes = answer.ok ? await readBytes(answer.body, LONGEST_ANSWER) : undefined;
  if (!bytes) throw new Error(`its configuration could not be read (${answer.status})`);
  const metadata = schemaOf(isLoopback(new URL(issuer).hostname)).parse(JSON.parse(new TextDecoder().decode(bytes)));
  if (withoutSlash(metadata.issuer) !== base) throw new Error(`it calls itself ${metadata.issuer.slice(0, 200)}, not ${base}`);
  const algorithm = algorithms.find((one) => metadata.id_token_signing_alg_values_supported.includes(one));
  if (algorithm === undefined) throw new Error("it signs with no algorithm that is known here");
  const posts = metadata.token_endpoint_auth_methods_supported;
  return {
    issuer: metadata.issuer,
    authorizationUrl: metadata.authorization_endpoint,
    tokenUrl: metadata.token_endpoint,
    keysUrl: metadata.jwks_uri,
    userinfoUrl: metadata.userinfo_endpoint,
    endSessionUrl: metadata.end_session_endpoint,
    algorithm,
    tokenAuth: posts && !posts.includes("client_secret_basic") ? "client_secret_post" : "client_secret_basic",
  };
}

function schemaOf(mayBeLocal: boolean) {
  const url = z
    .url({ protocol: /^https?$/ })
    .refine((text) => text.startsWith("https:") || (mayBeLocal && isLoopback(new URL(text).hostname)), "must be https");
  const texts = z.array(z.string());
  return z.object({
    issuer: z.string(),
    authorization_endpoint: url,
    token_endpoint: url,
    jwks_uri: url,
    userinfo_endpoint: url.optional(),
    end_session_endpoint: url.optional(),
    id_token_signing_alg_values_supported: texts.default(["RS256"]),
    token_endpoint_auth_methods_supported: texts.optional(),
  });
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, "");
}
