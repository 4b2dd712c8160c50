// Checks the port, the reverse proxy and the database server.

import "server-only";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { openServiceStore } from "@/lib/service/index";
import { openToRead } from "@/lib/shared/database/sqlite-copy";
import { consoleUrl, type Env } from "../env";
import { authSecretOf, nameInstallation, PROOF_HEADER, proveDoctor, type Seen } from "../installation";
import { openKeyRing, readSharedSecret } from "../keys/key-ring";
import { openStore, type Store } from "../store/store";
import { isProxy } from "../trusted-proxies";
import { isEmbedded } from "../upstream/send";
import { type Answer, ask, attempt, type Finding, noted, passed, wrong } from "./findings";
import { lookAtService } from "./postgres";
import { CLOCK_MS, lookAtServiceFile } from "./storage";

/** `secret`: the one that signs sessions; `own`: the name that this console has by it. */
type Own = { secret: string | undefined; own: string | undefined };

const asExamples = "as the examples in docs/examples do";

async function checkFront(env: Env, { secret, own }: Own, now: () => number): Promise<Finding[]> {
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

export async function checkNetwork(env: Env, now: () => number): Promise<Finding[]> {
  const secret = await ownSecret(env);
  const own = secret === undefined ? undefined : nameInstallation(secret);
  return [
    await attempt("port", () => checkPort(env, own)),
    ...(await checkFront(env, { secret, own }, now)),
    ...(await checkConnections(env, now)),
    ...(await checkRunners(env)),
  ];
}

/** Consoles on one database share a secret, which is stored there. */
async function ownSecret({ dataDir, databaseUrl, encryptionKeys }: Env): Promise<string | undefined> {
  if (databaseUrl === undefined) return authSecretOf(dataDir);
  if (encryptionKeys === undefined && !existsSync(join(dataDir, "encryption-keys"))) return undefined;
  return onPostgres(databaseUrl, (store) => readSharedSecret(store.settings, openKeyRing(dataDir, encryptionKeys)));
}

async function onPostgres<T>(url: string, read: (store: Store) => Promise<T>): Promise<T | undefined> {
  const store = openStore("", url);
  try {
    return await read(store);
  } catch {
    return undefined; // a separate check reports what is wrong with the database or the ring
  } finally {
    await store.close();
  }
}

async function checkPort(env: Env, own: string | undefined): Promise<Finding> {
  const { host, port } = env;
  if (port === 0) return passed("port", "A free one is taken at the start.");
  const problem = await listen(port, host);
  if (problem === undefined) return passed("port", `${port} on ${host} is free: no console runs there.`);
  if (problem !== "EADDRINUSE")
    return wrong(
      "port",
      `${host}:${port} cannot be listened on (${problem}).`,
      "Set HOST and PORT to what this machine has and this user may use.",
    );
  const answer = await ask(`${consoleUrl({ ...env, publicUrl: undefined })}/api/health`);
  if (answer?.installation && answer.installation === own) return passed("port", `This console runs on ${host}:${port}.`);
  const who = answer?.installation ? "a console with other data" : "another program";
  return wrong("port", `${port} on ${host} is taken by ${who}.`, `Stop it (ss -ltnp 'sport = :${port}' names it), or set another PORT.`);
}

function listen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

async function checkConnections({ dataDir, databaseUrl }: Env, now: () => number): Promise<Finding[]> {
  const listShared = async ({ connections }: Store) => (await connections.listFor("")).map(({ baseUrl }) => baseUrl);
  const urls = databaseUrl === undefined ? readUrls(join(dataDir, "console.sqlite")) : await onPostgres(databaseUrl, listShared);
  return Promise.all(
    [...new Set(urls)]
      .filter((url) => !isEmbedded(url))
      .map((url) =>
        attempt(`service ${url}`, async () => {
          const asked = now();
          const answer = await ask(url);
          if (!answer) return noted(`service ${url}`, "It does not answer.", "Connections to it fail until it does.");
          const off = answer.date === null ? 0 : Math.abs(Date.parse(answer.date) - (asked + now()) / 2);
          if (off > CLOCK_MS)
            return wrong(
              `service ${url}`,
              `Its clock and this one differ by ${Math.round(off / 60_000)} minutes.`,
              "Set both clocks (NTP).",
            );
          return passed(`service ${url}`, answer.date === null ? "It answers." : "It answers, and its clock agrees.");
        }),
      ),
  );
}

function readUrls(file: string): string[] {
  if (!existsSync(file)) return [];
  try {
    const database = openToRead(file);
    try {
      return database.prepare<[], string>("SELECT base_url FROM connections ORDER BY base_url").pluck().all();
    } finally {
      database.close();
    }
  } catch {
    return []; // a separate check reports what is wrong with the database
  }
}

async function checkRunners({ dataDir, databaseUrl, service }: Env): Promise<Finding[]> {
  const folder = join(dataDir, "service");
  try {
    // Look first: opening the store would make the tables, or migrate them.
    const { finding } = databaseUrl === undefined ? await lookAtServiceFile(dataDir) : await lookAtService(databaseUrl);
    if (finding.state !== "passed") return [];
    const store = await openServiceStore(folder, service);
    try {
      return (await store.runners.list()).flatMap(({ label, address, state, reason }) => {
        if (address === null) return [];
        const check = `runner ${label}`;
        if (state === "unreachable" || state === "set_aside")
          return wrong(
            check,
            `${address} is ${state.replace("_", " ")}${reason ? `: ${reason.message}` : "."}`,
            "See to that server, then resume it under Settings, Runners.",
          );
        return state === "ready" ? passed(check, `${address} is ready.`) : noted(check, `${address} is ${state}.`);
      });
    } finally {
      await store.close();
    }
  } catch {
    return []; // a separate check reports it
  }
}
