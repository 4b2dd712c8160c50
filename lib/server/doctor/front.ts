// Checks what is in front of the console: whether the public address leads to it, and whether a reverse proxy passes on what it must. Where
// the console answers there, it is judged by what arrived of a request, else by the settings alone.
// Must never: send the proof to anything that does not carry this console's name.

import "server-only";
import { type Env } from "../env";
import { PROOF_HEADER, proveDoctor, type Seen } from "../seen-request";
import { isProxy } from "../trusted-proxies";
import { type Answer, ask } from "./ask";
import { attempt, type Finding, noted, passed, wrong } from "./findings";

/** `secret`: the one that signs sessions; `own`: the name that this console has by it. */
type Own = { secret: string | undefined; own: string | undefined };

const asExamples = "as the examples in docs/examples do";

export async function checkFront(env: Env, { secret, own }: Own, now: () => number): Promise<Finding[]> {
  const { publicUrl } = env;
  const askHealth = async (headers?: Record<string, string>) => (publicUrl ? ask(`${publicUrl}/api/health`, headers) : undefined);
  const answer = await askHealth();
  const isOwn = own !== undefined && answer?.installation === own;
  const seen = isOwn && secret !== undefined ? (await askHealth({ [PROOF_HEADER]: proveDoctor(secret, now()) }))?.seen : undefined;
  return [
    await attempt("reverse proxy", () => (publicUrl && seen ? judgeSeen(env, publicUrl, seen) : undefined) ?? judgeSettings(env)),
    await attempt("public address", () => checkPublic(env, answer, isOwn)),
  ];
}

/** Undefined if nothing tells of a proxy. */
function judgeSeen({ proxies }: Env, publicUrl: string, { from, client, host, forwardedFor }: Seen): Finding | undefined {
  const check = "reverse proxy";
  const { protocol, host: expected } = new URL(publicUrl);
  if (new URL(`${protocol}//${host}`).host !== expected)
    return wrong(
      check,
      `A request to ${publicUrl} arrives with the host ${host}: every change that people make is refused.`,
      `Let the proxy pass Host on, ${asExamples}.`,
    );
  if (forwardedFor === null && !proxies) return undefined;
  if (forwardedFor === null)
    return wrong(
      check,
      `LIGHTDESK_TRUST_PROXY is set, but a request to ${publicUrl} arrives from ${from} without X-Forwarded-For: everybody who comes that way counts as one address.`,
      `Let the proxy set it, ${asExamples}; where there is no proxy, take the setting away.`,
    );
  if (!isProxy(from, proxies))
    return wrong(
      check,
      `X-Forwarded-For arrives from ${from}, which LIGHTDESK_TRUST_PROXY does not trust: everybody who comes that way counts as one address.`,
      `If that is your proxy, set LIGHTDESK_TRUST_PROXY=${from}, with your other proxies behind commas.`,
    );
  return passed(check, `A request to ${publicUrl} arrives from ${from}, which is trusted, and counts as one from ${client}.`);
}

function judgeSettings({ proxies, publicUrl, host }: Env): Finding {
  const check = "reverse proxy";
  if (proxies && !publicUrl)
    return wrong(
      check,
      "LIGHTDESK_TRUST_PROXY is set, and LIGHTDESK_PUBLIC_URL is not.",
      "Set LIGHTDESK_PUBLIC_URL to the address that people open.",
    );
  if (publicUrl && !proxies && new URL(publicUrl).protocol === "https:")
    return noted(
      check,
      "LIGHTDESK_PUBLIC_URL is https, so a reverse proxy stands in front, but LIGHTDESK_TRUST_PROXY is not set: everybody counts as one address.",
      "Set LIGHTDESK_TRUST_PROXY to the proxy's address.",
    );
  if (proxies) return passed(check, "X-Forwarded-For counts where a trusted proxy wrote it.");
  const isOpen = !["127.0.0.1", "localhost", "::1"].includes(host) && !publicUrl;
  if (isOpen)
    return noted(check, `It listens on ${host} without TLS and without LIGHTDESK_PUBLIC_URL.`, "Put a reverse proxy with TLS in front.");
  return passed(check, "None stands in front; X-Forwarded-For is not read.");
}

function checkPublic({ publicUrl }: Env, answer: Answer | undefined, isOwn: boolean): Finding {
  const check = "public address";
  if (!publicUrl) return passed(check, "LIGHTDESK_PUBLIC_URL is not set: the console is opened at its own address.");
  if (!answer)
    return wrong(check, `${publicUrl} does not answer.`, "Start the console, then look at name, proxy, certificate and firewall.");
  if (isOwn) return passed(check, `${publicUrl} is this console.`);
  const secure = publicUrl.replace(/^http:/, "https:");
  if (secure !== publicUrl && answer.location?.startsWith("https:"))
    return wrong(
      check,
      `${publicUrl} sends people on to https: every change that they make there is refused.`,
      `Set LIGHTDESK_PUBLIC_URL=${secure}`,
    );
  if (answer.status === 421)
    return wrong(check, `${publicUrl} refuses the host with which a request arrives there.`, `Let the proxy pass Host on, ${asExamples}.`);
  const what = answer.installation ? "a console with other data" : `something else (status ${answer.status})`;
  return wrong(check, `${publicUrl} is ${what}.`, "Let the proxy pass /api/health, and the rest, on to this console.");
}
