// Starts several services on one PostgreSQL and simulated runners, each in its own process.
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { openServiceStore } from "@/lib/service/index";
import { createDatabase } from "@/tests/support/postgres-server";
import { createTempFolder, type ServiceProcess, startService } from "../processes";
import { type CompletedRun, type RunnerCommand, type RunnerMessage } from "./runners";

export type Runners = Awaited<ReturnType<typeof startRunners>>;
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Only the simulated runners have these classes, so jobs wait while the runners are paused. */
export const createGraph = (name: string) => ({
  "1": { class_type: "LoadModel", inputs: { model: "bench.safetensors" } },
  "2": { class_type: "Sample", inputs: { model: ["1", 0], seed: 1, prompt: name } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "bench" } },
});

export async function startRunners(count: number) {
  const child: ChildProcess = fork("dist/bench-runners.mjs", [String(count)]);
  const runs: CompletedRun[] = [];
  const addresses = await new Promise<string[]>((resolve) =>
    child.on("message", (message: RunnerMessage) => ("runs" in message ? runs.push(...message.runs) : resolve(message.addresses))),
  );
  return {
    addresses,
    /** All completed jobs, in order for each runner. */
    runs,
    setJobDuration(jobMs: number): void {
      child.send({ jobMs } satisfies RunnerCommand);
    },
    stop: () => void child.kill("SIGKILL"),
  };
}

/** Starts with an empty database, a shared blob folder and paused runners. */
export async function startCluster(postgresUrl: string, services: number, users: number, { addresses }: Runners) {
  const database = await createDatabase(postgresUrl);
  const settings = { DATABASE_URL: database.url, LIGHTDESK_BLOBS: createTempFolder() };
  const folders = Array.from({ length: services }, createTempFolder);
  const store = await openServiceStore(join(folders[0] ?? "", "service"), { concurrency: 1, databaseUrl: database.url });
  const keys: string[] = [];
  for (let user = 0; user < users; user += 1) keys.push((await store.keys.createKey(`user-${user}`)).key);
  const ids: string[] = [];
  for (const [index, address] of addresses.entries()) {
    const outcome = await store.runners.add({ address, label: `runner ${index + 1}` });
    if (!outcome.ok) throw new Error(outcome.failure.message);
    ids.push(outcome.value.id);
  }
  const setRunnerState = async (state: "paused" | "ready") => {
    for (const id of ids) await store.runners.change(id, { state });
  };
  await setRunnerState("paused");
  const startedServices: ServiceProcess[] = [];
  for (const folder of folders) startedServices.push(await startService(folder, settings, { "x-api-key": keys[0] ?? "" }));
  return {
    url: database.url,
    services: startedServices,
    keys,
    pause: () => setRunnerState("paused"),
    resume: () => setRunnerState("ready"),
    async setSlots(slots: number): Promise<void> {
      for (const id of ids) await store.runners.change(id, { slots });
    },
    async stop(): Promise<void> {
      await Promise.all(startedServices.map((service) => service.process.stop()));
      await store.close();
      await database.drop();
    },
  };
}

/** Waits until `count` jobs have run. Fails if none completes for two minutes. */
export async function waitForRuns({ runs }: Runners, count: number): Promise<void> {
  let previousCount = runs.length;
  let deadline = Date.now() + 120_000;
  while (runs.length < count) {
    if (runs.length > previousCount) deadline = Date.now() + 120_000;
    previousCount = runs.length;
    if (Date.now() > deadline) throw new Error(`${runs.length} of ${count} jobs ran, but none in the last two minutes`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
