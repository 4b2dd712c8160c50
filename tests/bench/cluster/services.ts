// Starts several services on one PostgreSQL and the stand-in runners that run their jobs, in processes of their own.
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { openServiceStore } from "@/lib/service/index";
import { createDatabase } from "@/tests/support/postgres-server";
import { newFolder, type PortService, startService } from "../processes";
import { type Order, type Ran, type Report } from "./runners";

export type Runners = Awaited<ReturnType<typeof startRunners>>;
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** No other runner has their classes: while they are paused, submitted jobs wait. */
export const jobOf = (name: string) => ({
  "1": { class_type: "LoadModel", inputs: { model: "bench.safetensors" } },
  "2": { class_type: "Sample", inputs: { model: ["1", 0], seed: 1, prompt: name } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "bench" } },
});

export async function startRunners(count: number) {
  const child: ChildProcess = fork("dist/bench-runners.mjs", [String(count)]);
  const ran: Ran[] = [];
  const addresses = await new Promise<string[]>((resolve) =>
    child.on("message", (report: Report) => ("ran" in report ? ran.push(...report.ran) : resolve(report.addresses))),
  );
  return {
    addresses,
    /** All jobs that have run so far, in order for each runner. */
    ran,
    last(jobMs: number): void {
      child.send({ jobMs } satisfies Order);
    },
    stop: () => void child.kill("SIGKILL"),
  };
}

/** With an empty database and a shared folder of files. The runners are paused. */
export async function startCluster(postgresUrl: string, services: number, users: number, { addresses }: Runners) {
  const database = await createDatabase(postgresUrl);
  const settings = { DATABASE_URL: database.url, LIGHTDESK_BLOBS: newFolder() };
  const folders = Array.from({ length: services }, newFolder);
  const store = await openServiceStore(join(folders[0] ?? "", "service"), { concurrency: 1, databaseUrl: database.url });
  const keys: string[] = [];
  for (let user = 0; user < users; user += 1) keys.push((await store.keys.createKey(`user-${user}`)).key);
  const ids: string[] = [];
  for (const [at, address] of addresses.entries()) {
    const added = await store.runners.add({ address, label: `runner ${at + 1}` });
    if (!added.ok) throw new Error(added.failure.message);
    ids.push(added.value.id);
  }
  const order = async (state: "paused" | "ready") => {
    for (const id of ids) await store.runners.change(id, { state });
  };
  await order("paused");
  const started: PortService[] = [];
  for (const folder of folders) started.push(await startService(folder, settings, { "x-api-key": keys[0] ?? "" }));
  return {
    url: database.url,
    services: started,
    keys,
    pause: () => order("paused"),
    resume: () => order("ready"),
    async giveSlots(slots: number): Promise<void> {
      for (const id of ids) await store.runners.change(id, { slots });
    },
    async stop(): Promise<void> {
      await Promise.all(started.map((service) => service.process.stop()));
      await store.close();
      await database.drop();
    },
  };
}

/** Waits until this many jobs have run; fails if none did for two minutes. */
export async function haveRun({ ran }: Runners, count: number): Promise<void> {
  let before = ran.length;
  let end = Date.now() + 120_000;
  while (ran.length < count) {
    if (ran.length > before) end = Date.now() + 120_000;
    before = ran.length;
    if (Date.now() > end) throw new Error(`${ran.length} of ${count} jobs ran, and for two minutes no other one`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
