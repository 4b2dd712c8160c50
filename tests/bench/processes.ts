// Starts consoles and services as real processes, each with its own data folder, and signs members in without a browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StartedProcess, startProcess } from "../support/start-process";

export type ConsoleProcess = { url: string; headers: Record<string, string>; process: StartedProcess };
export type ServiceProcess = { url: string; headers: { "x-api-key": string }; process: StartedProcess };

const baseSettings = {
  PORT: "0",
  LIGHTDESK_CONCURRENCY: "1",
  LIGHTDESK_RATE_LIMIT: "0",
  LIGHTDESK_LOG_LEVEL: "warn",
  // Limits indexing: for 100,000 jobs it would take a fifth of the processor time for an hour.
  LIGHTDESK_MAX_INDEXED_JOBS: "1000",
};
const password = "correct horse battery";
const owner = { name: "Bench", email: "bench@example.com", password };

const children = new Set<StartedProcess>();
const folders: string[] = [];
// Stops the processes and removes their large folders, even if a bench fails.
process.once("exit", () => {
  children.forEach((child) => void child.stop("SIGKILL"));
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
});

function startTracked(script: string, settings: Record<string, string>, args: readonly string[] = []): StartedProcess {
  const child = startProcess(script, settings, args);
  children.add(child);
  void child.exitCode.then(() => children.delete(child));
  return child;
}

export function createTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-bench-"));
  folders.push(folder);
  return folder;
}

export async function startConsole(dataDir: string, { isNew = false } = {}): Promise<ConsoleProcess> {
  const child = startTracked("dist/console.mjs", { ...baseSettings, LIGHTDESK_DATA_DIR: dataDir });
  const url = await child.waitForOutput("Lightdesk");
  const origin = { origin: url };
  if (isNew) {
    const token = new URL(await child.waitForOutput("Set up")).searchParams.get("token");
    await post(`${url}/api/console/set-up`, { token, ...owner }, origin);
  }
  return { url, headers: { ...origin, cookie: await signIn(url, owner.email) }, process: child };
}

async function signIn(url: string, email: string): Promise<string> {
  const csrfResponse = await fetch(`${url}/api/auth/csrf`);
  const { csrfToken }: { csrfToken: string } = await csrfResponse.json();
  const body = new URLSearchParams({ csrfToken, email, password, json: "true" });
  const headers = { cookie: getCookies(csrfResponse), origin: url };
  const signInResponse = await fetch(`${url}/api/auth/callback/credentials`, { method: "POST", body, headers, redirect: "manual" });
  const session = getCookies(signInResponse);
  if (!session.includes("session")) throw new Error(`sign-in responded with ${signInResponse.status}: ${await signInResponse.text()}`);
  return session;
}

const getCookies = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");

/** Adds an operator. Returns the headers of their session. */
export async function addMember(desk: ConsoleProcess, name: string): Promise<Record<string, string>> {
  const email = `${name}@example.com`;
  const invitations = `${desk.url}/api/console/members/invitations`;
  const { url } = await post<{ url: string }>(invitations, { email, role: "operator" }, desk.headers);
  const token = new URL(url).searchParams.get("token");
  await post(`${invitations}/accept`, { token, name, password }, { origin: desk.url });
  return { origin: desk.url, cookie: await signIn(desk.url, email) };
}

/** Starts a process that forwards requests to `target` and counts them (bare-proxy.ts). */
export async function startBareProxy(target: string): Promise<{ url: string; process: StartedProcess; readCount(): Promise<number> }> {
  const child = startTracked("dist/bench-proxy.mjs", {}, [target]);
  const url = await child.waitForOutput("Proxy");
  return { url, process: child, readCount: async () => Number(await (await fetch(`${url}/bench-proxy-count`)).text()) };
}

/** `extra` overrides the bench's settings. `headers` reuse a key that already exists in `dataDir`. */
export async function startService(
  dataDir: string,
  extra: Record<string, string> = {},
  headers?: ServiceProcess["headers"],
): Promise<ServiceProcess> {
  const settings = { ...baseSettings, LIGHTDESK_DATA_DIR: dataDir, ...extra };
  const child = startTracked("dist/service.mjs", settings);
  const url = await child.waitForOutput("Service");
  return { url, headers: headers ?? { "x-api-key": await createKey(settings) }, process: child };
}

async function createKey(settings: Record<string, string>): Promise<string> {
  const command = startProcess("dist/service.mjs", settings, ["keys", "create", "--user", "bench"]);
  await command.exitCode;
  return command.output().trimEnd().split("\n").at(-1) ?? "";
}

/** Makes the service the member's current connection. */
export async function connect(desk: ConsoleProcess, service: Pick<ServiceProcess, "url" | "headers">): Promise<string> {
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
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${await response.text()}`);
  return (await response.json()) as T; // unchecked: the caller specifies the response type
}
