// Turns a configured provider into one for next-auth: code flow with PKCE, state and nonce; the ID token is checked against the provider's
// published configuration.

import "server-only";
import { type OAuthConfig } from "next-auth/providers/oauth";
import { isObject } from "@/lib/contract/json/json";
import { type OidcProvider } from "@/lib/server/oidc-settings";
import { type Claims, lacksClaims, mergeClaims } from "./claims";
import { type Discovered, PROVIDER_MS } from "./discovery";

/** `asksAgain`: the provider must not reuse its own session. `failed` receives errors that occur while its answer is processed. */
export function toNextAuth(
  provider: OidcProvider,
  found: Discovered,
  asksAgain: boolean,
  failed: (error: unknown) => void,
): OAuthConfig<Claims> {
  async function hearing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      failed(error);
      throw error;
    }
  }
  const { id, label, clientId, clientSecret, scopes } = provider;
  return {
    id,
    name: label,
    type: "oauth",
    issuer: found.issuer,
    authorization: { url: found.authorizationUrl, params: { scope: scopes, ...(asksAgain && askedAgain) } },
    token: {
      url: found.tokenUrl,
      request: ({ client, provider: { callbackUrl }, params, checks }) =>
        hearing(async () => ({ tokens: await client.callback(callbackUrl, params, checks) })),
    },
    userinfo: {
      url: found.userinfoUrl,
      request: ({ client, tokens }) =>
        hearing(async () => {
          const claims = toClaims("claims" in tokens && typeof tokens.claims === "function" ? tokens.claims() : undefined);
          // The library checks `exp` and `nbf` against this clock, but not `iat`.
          if (Number(claims.iat) * 1000 > Date.now() + MAX_SKEW_MS) throw new Error("its ID token was issued in the future");
          if (found.userinfoUrl === undefined || tokens.access_token === undefined || !lacksClaims(claims, provider)) return claims;
          const more = await client.userinfo(tokens.access_token);
          if (more.sub !== claims.sub) throw new Error("its userinfo is about another person");
          return mergeClaims(claims, more, provider);
        }),
    },
    jwks_endpoint: found.keysUrl,
    clientId,
    clientSecret,
    client: { id_token_signed_response_alg: found.algorithm, token_endpoint_auth_method: found.tokenAuth },
    checks: ["pkce", "state", "nonce"],
    idToken: true,
    httpOptions: { timeout: PROVIDER_MS },
    profile: ({ sub }) => ({ id: sub }),
  };
}

/** The maximum clock skew of a provider. */
const MAX_SKEW_MS = 60_000;

/** Some providers tell the time of the sign-in only if the claim is requested by name. */
const askedAgain = { prompt: "login", max_age: 0, claims: '{"id_token":{"auth_time":{"essential":true}}}' };

export function toClaims(claims: unknown): Claims {
  if (!isObject(claims) || typeof claims.sub !== "string" || typeof claims.iss !== "string")
    throw new Error("the ID token has no sub or no iss");
  return { ...claims, sub: claims.sub, iss: claims.iss };
}
