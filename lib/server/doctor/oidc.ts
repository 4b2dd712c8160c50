// Checks each sign-in provider: discovery document, issuer, clock and redirect URI. Never sends the client secret.

import "server-only";
import { discover, type DiscoveryDocument, NO_DISCOVERY_CACHE } from "../auth/oidc/provider";
import { consoleUrl, type Env } from "../env";
import { type OidcProvider, oidcSetting } from "../sign-in-settings";
import { failed, type Finding, noted, passed, probeUrl, runSafely } from "./findings";

/** The maximum time by which an ID token may be issued in the future. */
const MAX_SKEW_MS = 60_000;

export async function checkOidc(env: Env, now: () => number): Promise<Finding[]> {
  const findings = await Promise.all(env.oidc.map((provider) => checkProvider(env, provider, now)));
  return findings.flat();
}

async function checkProvider(env: Env, provider: OidcProvider, now: () => number): Promise<Finding[]> {
  const check = `sign-in ${provider.id}`;
  const issuer = oidcSetting(provider.id, "ISSUER");
  const url = `${provider.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const sentAt = now();
  const response = await probeUrl(url);
  const durationMs = now() - sentAt;
  if (!response) return [failed(check, `${url} does not answer.`, `Check ${issuer}, DNS, the certificate and the firewall.`)];
  if (response.status !== 200)
    return [
      failed(check, `${url} answers with status ${response.status}.`, `Set ${issuer} to the issuer from the provider's documentation.`),
    ];
  let discovery: DiscoveryDocument;
  try {
    discovery = await discover(provider, NO_DISCOVERY_CACHE);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return [failed(check, `Its discovery document is invalid: ${reason}.`, `Set ${issuer} to the issuer in that document.`)];
  }
  return [
    passed(check, `${discovery.issuer} publishes its configuration and matches ${issuer}.`),
    checkClock(check, response.date === null ? undefined : Date.parse(response.date) - (sentAt + durationMs / 2)),
    await runSafely(check, () => checkRedirect(env, provider, discovery)),
  ];
}

function checkClock(check: string, offMs: number | undefined): Finding {
  if (offMs === undefined || Number.isNaN(offMs)) return noted(check, "The response has no Date header, so clocks were not compared.");
  const seconds = Math.round(Math.abs(offMs) / 1000);
  if (Math.abs(offMs) <= MAX_SKEW_MS) return passed(check, "Clocks agree.");
  const direction = offMs > 0 ? "ahead of" : "behind";
  return failed(check, `Its clock is ${seconds} s ${direction} this one, so sign-ins fail.`, "Set both clocks (NTP).");
}

/** A provider redirects only to a registered URI. `prompt=none` makes sure that nobody is prompted. */
async function checkRedirect(env: Env, { id, clientId, scopes }: OidcProvider, { authorizationUrl }: DiscoveryDocument): Promise<Finding> {
  const check = `sign-in ${id}`;
  const redirect = `${consoleUrl(env)}/api/auth/callback/${id}`;
  const register = `Register ${redirect} as the redirect URI of ${clientId} at the provider.`;
  if (env.publicUrl === undefined)
    return noted(check, `LIGHTDESK_PUBLIC_URL is not set, so the redirect URI is ${redirect}.`, "Set it to the address people open.");
  const url = new URL(authorizationUrl);
  const authParams = { response_type: "code", client_id: clientId, redirect_uri: redirect, scope: scopes, prompt: "none" };
  // Any challenge works, because no code is ever exchanged.
  const challengeParams = { state: "doctor", nonce: "doctor", code_challenge: "a".repeat(43), code_challenge_method: "S256" };
  for (const [name, value] of Object.entries({ ...authParams, ...challengeParams })) url.searchParams.set(name, value);
  const response = await probeUrl(url.href);
  if (!response) return failed(check, `${authorizationUrl} does not answer.`, "Check DNS, the certificate and the firewall.");
  if (response.location?.startsWith(redirect)) {
    const error = new URL(response.location).searchParams.get("error");
    const isExpected = error === null || ["login_required", "interaction_required", "consent_required"].includes(error);
    if (isExpected) return passed(check, `The provider accepts the client and redirect URI ${redirect}.`);
    return failed(
      check,
      `The provider refuses the client: ${error.slice(0, 100)}.`,
      `Compare ${oidcSetting(id, "CLIENT_ID")} and SCOPES with what is registered.`,
    );
  }
  if (response.status >= 400 && response.status < 500)
    return failed(check, `The provider refuses the client or the redirect URI (status ${response.status}).`, register);
  return noted(check, "The provider did not confirm the redirect URI.", register);
}
