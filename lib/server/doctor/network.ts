// Checks what is reached over the network: the port, what is in front of the console, the services of connections and their clocks, the
// runners.
// Must never: send a key, or follow a redirect.

import "server-only";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { openServiceStore } from "@/lib/service/index";
import { openToRead } from "@/lib/shared/database/sqlite-copy";
import { consoleUrl, type Env } from "../env";
import { authSecretOf, nameInstallation } from "../installation";
import { openKeyRing } from "../keys/key-ring";
import { readSharedSecret } from "../keys/shared-secret";
import { openStore, type Store } from "../store/store";
import { isEmbedded } from "../upstream/send";
import { ask } from "./ask";
import { attempt, type Finding, noted, passed, wrong } from "./findings";
import { checkFront } from "./front";
import { lookAtService } from "./postgres";
import { CLOCK_MS, lookAtServiceFile } from "./storage";

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
  const store = openStore("", undefined, url);
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
