// Checks each sign-in provider: discovery document, issuer, clock and redirect URI. Never sends the client secret.

import "server-only";
import { discover, type Discovered, FRESH_MS } from "../auth/oidc/provider";
import { consoleUrl, type Env } from "../env";
import { type OidcProvider, oidcSetting } from "../sign-in-settings";
import { ask, attempt, type Finding, noted, passed, wrong } from "./findings";

/** The maximum time by which an ID token may be issued in the future. */
const MAX_SKEW_MS = 60_000;

export async function checkOidc(env: Env, now: () => number): Promise<Finding[]> {
  const found = await Promise.all(env.oidc.map((provider) => checkProvider(env, provider, now)));
  return found.flat();
}

async function checkProvider(env: Env, provider: OidcProvider, now: () => number): Promise<Finding[]> {
  const check = `sign-in ${provider.id}`;
  const issuer = oidcSetting(provider.id, "ISSUER");
  const url = `${provider.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const sentAt = now();
  const answer = await ask(url);
  const took = now() - sentAt;
  if (!answer) return [wrong(check, `${url} does not answer.`, `Check ${issuer}, then name, certificate and firewall.`)];
  if (answer.status !== 200)
    return [
      wrong(check, `${url} answers with status ${answer.status}.`, `Set ${issuer} to the issuer that the provider's documentation names.`),
    ];
  let found: Discovered;
  try {
    found = await discover(provider, FRESH_MS);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return [wrong(check, `Its discovery document cannot be used: ${why}.`, `Set ${issuer} to the issuer that the document names.`)];
  }
  return [
    passed(check, `${found.issuer} publishes its configuration and its name fits ${issuer}.`),
    judgeClock(check, answer.date === null ? undefined : Date.parse(answer.date) - (sentAt + took / 2)),
    await attempt(check, () => checkRedirect(env, provider, found)),
  ];
}

function judgeClock(check: string, offMs: number | undefined): Finding {
  if (offMs === undefined || Number.isNaN(offMs)) return noted(check, "It does not say what time it is, so clocks were not compared.");
  const seconds = Math.round(Math.abs(offMs) / 1000);
  if (Math.abs(offMs) <= MAX_SKEW_MS) return passed(check, "Its clock and this one agree.");
  const direction = offMs > 0 ? "ahead of" : "behind";
  return wrong(check, `Its clock is ${seconds} s ${direction} this one: sign-ins are refused.`, "Set both clocks (NTP).");
}

/** A provider redirects only to a registered URI. `prompt=none` shows no prompt to anyone. */
async function checkRedirect(env: Env, { id, clientId, scopes }: OidcProvider, { authorizationUrl }: Discovered): Promise<Finding> {
  const check = `sign-in ${id}`;
  const redirect = `${consoleUrl(env)}/api/auth/callback/${id}`;
  const register = `Register ${redirect} there as the redirect address of ${clientId}.`;
  if (env.publicUrl === undefined)
    return noted(check, `LIGHTDESK_PUBLIC_URL is not set: the redirect address is ${redirect}.`, "Set it to the address that people open.");
  const url = new URL(authorizationUrl);
  const authParams = { response_type: "code", client_id: clientId, redirect_uri: redirect, scope: scopes, prompt: "none" };
  // Any challenge works: no code is ever exchanged.
  const proof = { state: "doctor", nonce: "doctor", code_challenge: "a".repeat(43), code_challenge_method: "S256" };
  for (const [name, value] of Object.entries({ ...authParams, ...proof })) url.searchParams.set(name, value);
  const answer = await ask(url.href);
  if (!answer) return wrong(check, `${authorizationUrl} does not answer.`, "Check name, certificate and firewall.");
  if (answer.location?.startsWith(redirect)) {
    const error = new URL(answer.location).searchParams.get("error");
    const isExpected = error === null || ["login_required", "interaction_required", "consent_required"].includes(error);
    if (isExpected) return passed(check, `It accepts the client and the redirect address ${redirect}.`);
    return wrong(
      check,
      `It refuses the client: ${error.slice(0, 100)}.`,
      `Compare ${oidcSetting(id, "CLIENT_ID")} and SCOPES with what is registered.`,
    );
  }
  if (answer.status >= 400 && answer.status < 500)
    return wrong(check, `It refuses the client or the redirect address (status ${answer.status}).`, register);
  return noted(check, "It does not say whether the redirect address is registered.", register);
}
