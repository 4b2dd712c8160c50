// Starts the stand-alone service as a process and calls it over HTTP.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll } from "vitest";
import { openServiceStore } from "@/lib/service/index";
import { closeAfterwards } from "./close-afterwards";
import { createClient } from "./service";
import { type StartedProcess, startProcess } from "./start-process";

const execute = promisify(execFile);

export type ServiceProcess = StartedProcess & { url: string };

const runningProcesses = new Set<StartedProcess>();
// A failed test must not leave its process running.
afterAll(async () => {
  for (const process of runningProcesses) await process.stop("SIGKILL");
});

export async function startServiceProcess(dataDir: string, settings: Record<string, string> = {}): Promise<ServiceProcess> {
  const started = startProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: dataDir, LIGHTDESK_CONCURRENCY: "2", ...settings });
  runningProcesses.add(started);
  void started.exitCode.then(() => runningProcesses.delete(started));
  return { ...started, url: await started.waitForOutput("Service") };
}

/** Starts a service with its own folder, key and client. It must exit with 0 after the tests. */
export async function openServiceProcess(settings?: Record<string, string>) {
  const dataDir = await mkdtemp(join(tmpdir(), "lightdesk-process-"));
  const key = await createKey(dataDir, "ada");
  const service = await startServiceProcess(dataDir, settings);
  closeAfterwards(async () => {
    const code = await service.stop();
    await rm(dataDir, { recursive: true, force: true });
    if (code !== 0) throw new Error(`the service exited with ${code}:\n${service.output()}`);
  });
  return { dataDir, key, service, client: createHttpClient(service.url, key) };
}

/** Runs a subcommand of the service's command line; resolves with the last line it printed. */
export async function runServiceCommand(dataDir: string, ...args: string[]): Promise<string> {
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, NODE_ENV: "production", LIGHTDESK_DATA_DIR: dataDir };
  const { stdout } = await execute(process.execPath, ["dist/service.mjs", ...args], { env });
  return stdout.trim().split("\n").at(-1) ?? "";
}

/** Creates a key as `keys create` does, without starting a process. */
export async function createKey(dataDir: string, user: string): Promise<string> {
  const store = await openServiceStore(join(dataDir, "service"), { concurrency: 1 });
  const { key } = await store.keys.createKey(user).finally(() => store.close());
  return key;
}

export function createHttpClient(url: string, key: string) {
  return createClient((request) => fetch(request), key, url);
}
