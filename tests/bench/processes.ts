// Console and service as real processes, each with its own data folder, and a member's session without a browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StartedProcess, startProcess } from "../support/start-process";

export type Desk = { url: string; headers: Record<string, string>; process: StartedProcess };
export type PortService = { url: string; headers: { "x-api-key": string }; process: StartedProcess };

const quiet = {
  PORT: "0",
  LIGHTDESK_CONCURRENCY: "1",
  LIGHTDESK_RATE_LIMIT: "0",
  LIGHTDESK_LOG_LEVEL: "warn",
  // Measures a console with a warm job index: indexing 100,000 jobs would take a fifth of each second for an hour.
  LIGHTDESK_LEDGER_JOBS: "1000",
};
const password = "correct horse battery";
const owner = { name: "Bench", email: "bench@example.com", password };

const children = new Set<StartedProcess>();
const folders: string[] = [];
// A bench that fails must leave neither its processes nor its gigabytes behind.
process.once("exit", () => {
  children.forEach((started) => void started.stop("SIGKILL"));
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
});

function begin(script: string, settings: Record<string, string>, args: readonly string[] = []): StartedProcess {
  const started = startProcess(script, settings, args);
  children.add(started);
  void started.ended.then(() => children.delete(started));
  return started;
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-bench-"));
  folders.push(folder);
  return folder;
}

export async function startDesk(dataDir: string, { isNew = false } = {}): Promise<Desk> {
  const drawNoise = begin("dist/console.mjs", { ...quiet, LIGHTDESK_DATA_DIR: dataDir });
  const url = await drawNoise.printed("Lightdesk");
  const origin = { origin: url };
  if (isNew) {
    const token = new URL(await drawNoise.printed("Set up")).searchParams.get("token");
    await post(`${url}/api/console/set-up`, { token, ...owner }, origin);
  }
  return { url, headers: { ...origin, cookie: await signIn(url, owner.email) }, process: drawNoise };
}

async function signIn(url: string, email: string): Promise<string> {
  const first = await fetch(`${url}/api/auth/csrf`);
  const { csrfToken }: { csrfToken: string } = await first.json();
  const body = new URLSearchParams({ csrfToken, email, password, json: "true" });
  const headers = { cookie: getCookies(first), origin: url };
  const second = await fetch(`${url}/api/auth/callback/credentials`, { method: "POST", body, headers, redirect: "manual" });
  const session = getCookies(second);
  if (!session.includes("session")) throw new Error(`signing in was refused with ${second.status}: ${await second.text()}`);
  return session;
}

const getCookies = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");

/** Adds an operator. Returns the headers of their session. */
export async function addMember(desk: Desk, name: string): Promise<Record<string, string>> {
  const email = `${name}@example.com`;
  const invitations = `${desk.url}/api/console/members/invitations`;
  const { url } = await post<{ url: string }>(invitations, { email, role: "operator" }, desk.headers);
  const token = new URL(url).searchParams.get("token");
  await post(`${invitations}/accept`, { token, name, password }, { origin: desk.url });
  return { origin: desk.url, cookie: await signIn(desk.url, email) };
}

/** A process that passes requests on to `target` and counts them (bare-proxy.ts). */
export async function startBareProxy(target: string): Promise<{ url: string; process: StartedProcess; readCount(): Promise<number> }> {
  const started = begin("dist/bench-proxy.mjs", {}, [target]);
  const url = await started.printed("Proxy");
  return { url, process: started, readCount: async () => Number(await (await fetch(`${url}/bench-proxy-count`)).text()) };
}

/** `extra` overrides the bench's settings. `headers` carry a key of the folder's service. */
export async function startService(
  dataDir: string,
  extra: Record<string, string> = {},
  headers?: PortService["headers"],
): Promise<PortService> {
  const settings = { ...quiet, LIGHTDESK_DATA_DIR: dataDir, ...extra };
  const started = begin("dist/service.mjs", settings);
  const url = await started.printed("Service");
  return { url, headers: headers ?? { "x-api-key": await createKey(settings) }, process: started };
}

async function createKey(settings: Record<string, string>): Promise<string> {
  const command = startProcess("dist/service.mjs", settings, ["keys", "create", "--user", "bench"]);
  await command.ended;
  return command.output().trimEnd().split("\n").at(-1) ?? "";
}

/** Makes the service the member's current connection. */
export async function connect(desk: Desk, service: Pick<PortService, "url" | "headers">): Promise<string> {
  const body = { name: "Port", baseUrl: service.url, key: service.headers["x-api-key"] };
  const { connection } = await post<{ connection: { id: string } }>(`${desk.url}/api/console/connections`, body, desk.headers);
  return connection.id;
}

export async function post<T>(url: string, body: unknown, headers: Record<string, string>): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { ...headers, "content-type": "application/json" },
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T; // the caller names the type it requested
}
