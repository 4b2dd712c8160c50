// With two services on one PostgreSQL, after one takes over the other's attempt, the stale attempt has no effect.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it, vi } from "vitest";
import { openServiceStore } from "@/lib/service/index";
import {
  asRecord,
  asRecords,
  canvas,
  type Json,
  readJob,
  submit,
  waitForEnd,
  waitForStart,
  waitGraph,
} from "@/tests/integration/service/support";
import { createDatabase, queryDatabase, type TestDatabase } from "@/tests/support/postgres-server";
import { type Client } from "@/tests/support/service";
import { httpClient, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

describe("service fence", () => {
  let two: TwoServices;
  let firstClient: Client;
  let secondClient: Client;
  beforeEach(async () => {
    two = await startTwoServices({ concurrency: 1, maxJobPixels: 1000 });
    ({ first: firstClient, second: secondClient } = await two.clients());
  });

  /** A job that runs at one service, while the other one's slot is taken. */
  async function runThere(graph: Json): Promise<string> {
    const id = await submit(firstClient, graph);
    await waitForStart(firstClient, id);
    await submit(firstClient, waitGraph(3600, 99));
    const busy = "SELECT 1 FROM lightdesk_service.jobs WHERE state = 'in_progress'";
    await until("both are busy", async () => (await queryDatabase(two.url, busy)).length === 2);
    return id;
  }

  /** Takes over the job like the other service would, unnoticed by this one. */
  async function takeOver(id: string): Promise<void> {
    const url = new URL(two.url);
    url.searchParams.set("options", "-c search_path=lightdesk_service");
    await queryDatabase(
      url.href,
      `UPDATE jobs SET fence = fence + 1, holder = (SELECT processes.id FROM processes WHERE processes.id <> holder AND seen_at <> '-infinity') WHERE id = '${id}'`,
    );
  }

  /** Waits until the stale attempt's slot is free again. */
  async function waitForFreeSlot(): Promise<void> {
    expect((await waitForEnd(firstClient, await submit(firstClient, canvas(1)))).status).toBe("completed");
  }

  async function expectUntouched(id: string): Promise<void> {
    const [job] = await queryDatabase(
      two.url,
      `SELECT state, attempts, fence, error, end_time, outputs_count FROM lightdesk_service.jobs WHERE id = '${id}'`,
    );
    expect(job).toEqual({ state: "in_progress", attempts: "1", fence: "2", error: null, end_time: null, outputs_count: "0" });
    const counts = `SELECT (SELECT count(*)::integer FROM lightdesk_service.job_results JOIN lightdesk_service.jobs ON seq = job_seq WHERE id = '${id}') AS results,
    (SELECT count(*)::integer FROM lightdesk_service.assets WHERE prompt_id = '${id}') AS outputs,
    (SELECT count(*)::integer FROM lightdesk_queue.jobs JOIN lightdesk_service.jobs AS j ON key = seq::text WHERE j.id = '${id}') AS entries`;
    expect(await queryDatabase(two.url, counts)).toEqual([{ results: 0, outputs: 0, entries: 0 }]);
  }

  it("completes nothing and stores no outputs", async () => {
    const id = await runThere(waitGraph(4));
    await takeOver(id);
    await waitForFreeSlot();
    await expectUntouched(id);
  });

  it("fails no jobs", async () => {
    const id = await runThere({
      "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
      "2": { class_type: "Wait", inputs: { seconds: 4, anything: ["1", 0] } },
      "3": { class_type: "ImageScale", inputs: { image: ["2", 0], upscale_method: "bilinear", width: 512, height: 512, crop: "disabled" } },
      "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "x" } },
    });
    await takeOver(id);
    await waitForFreeSlot();
    await expectUntouched(id);
  });

  it("requeues nothing when its service stops", async () => {
    await two.second.service.stop();
    const id = await submit(firstClient, waitGraph(3600));
    await waitForStart(firstClient, id);
    await two.second.service.start();
    await takeOver(id);
    await two.first.service.stop();
    await expectUntouched(id);
    await two.first.service.start();
  });

  it("cancels only the attempt that replaced it", async () => {
    // Each service runs one; the connection of one service is cut below.
    const ids = [await submit(secondClient, waitGraph(3600)), await submit(secondClient, waitGraph(3600, 2))];
    for (const id of ids) await waitForStart(firstClient, id);
    const before = await queryDatabase<{ id: string; holder: string }>(
      two.url,
      "SELECT id, holder FROM lightdesk_service.jobs ORDER BY seq",
    );
    expect(new Set(before.map(({ holder }) => holder)).size).toBe(2);
    two.wire.cut();
    const lostId = await until("one of them waits again", async () => {
      const [job] = await queryDatabase<{ id: string }>(two.url, "SELECT id FROM lightdesk_service.jobs WHERE state = 'pending'");
      return job?.id;
    });
    const remainingId = ids.find((id) => id !== lostId) ?? "";
    await firstClient.post("/api/jobs/cancel", { job_ids: [remainingId] });
    await until("it runs here", async () => (await readJob(firstClient, lostId)).status === "in_progress");
    two.wire.mend();
    // Its own run has ended, so its slot is free while the other's is taken.
    expect((await waitForEnd(firstClient, await submit(firstClient, canvas(4)), 30_000)).status).toBe("completed");
    expect((await readJob(secondClient, lostId)).status).toBe("in_progress");
    const [now] = await queryDatabase(two.url, `SELECT state, attempts, fence FROM lightdesk_service.jobs WHERE id = '${lostId}'`);
    expect(now).toEqual({ state: "in_progress", attempts: "2", fence: "2" });
    expect((await secondClient.post("/api/jobs/cancel", { job_ids: [lostId] })).status).toBe(200);
    expect((await readJob(firstClient, lostId)).status).toBe("cancelled");
    expect(asRecords(asRecord((await firstClient.get("/api/jobs?status=cancelled")).body).jobs)).toHaveLength(2);
  });
});

describe("services killed", () => {
  vi.setConfig({ testTimeout: 240_000 });

  let database: TestDatabase;
  let root: string;
  let key: string;
  beforeEach(async () => {
    database = await createDatabase(inject("postgres"));
    root = temporaryFolder();
    const store = await openServiceStore(join(root, "keys"), { concurrency: 1, databaseUrl: database.url });
    ({ key } = await store.keys.createKey("ada"));
    await store.close();
  });
  afterEach(() => database.drop());

  const start = (name: string): Promise<ServiceProcess> =>
    startServiceProcess(join(root, name), { DATABASE_URL: database.url, LIGHTDESK_BLOBS: join(root, "blobs"), LIGHTDESK_CONCURRENCY: "1" });
  const jobs = (where = "") =>
    queryDatabase<{ id: string; holder: string; attempts: number; state: string }>(
      database.url,
      `SELECT id, holder, attempts::integer, state FROM lightdesk_service.jobs ${where} ORDER BY seq`,
    );
  const holders = async () =>
    (await queryDatabase<{ id: string }>(database.url, "SELECT id FROM lightdesk_service.processes")).map(({ id }) => id);

  it("requeues a killed service's jobs and keeps live ones", async () => {
    const first = await start("first");
    const before = await holders();
    const second = await start("second");
    const newHolders = (await holders()).filter((id) => !before.includes(id));
    const client = httpClient(first.url, key);
    const long = [await submit(client, waitGraph(3600)), await submit(client, waitGraph(3600, 2))];
    for (const id of long) await waitForStart(client, id);
    const [lostJob] = (await jobs()).filter(({ holder }) => newHolders.includes(holder));
    const [survivingJob] = (await jobs()).filter(({ holder }) => !newHolders.includes(holder));
    await second.stop("SIGKILL");
    // Starts before the dead process is detected, and takes over in the end.
    const third = await start("third");
    await until(
      "it runs elsewhere",
      async () => (await jobs(`WHERE id = '${lostJob?.id}' AND state = 'in_progress' AND holder <> '${lostJob?.holder}'`)).length === 1,
    );
    expect((await jobs(`WHERE id = '${lostJob?.id}'`))[0]).toMatchObject({ attempts: 2 });
    expect((await jobs(`WHERE id = '${survivingJob?.id}'`))[0]).toEqual(survivingJob);
    expect((await readJob(httpClient(third.url, key), survivingJob?.id ?? "")).status).toBe("in_progress");
    await httpClient(third.url, key).post("/api/interrupt");
    for (const id of long) expect((await waitForEnd(client, id)).status).toBe("cancelled");
    expect([await first.stop(), await third.stop()]).toEqual([0, 0]);
  });

  it("loses no job and runs none twice while services are killed and restarted", async () => {
    let services = [await start("a"), await start("b")];
    const ids: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const [victim, otherService] = services;
      if (!victim || !otherService) throw new Error("there are two");
      for (let color = 1; color <= 10; color += 1)
        ids.push(await submit(httpClient(otherService.url, key), waitGraph(0.2, round * 10 + color)));
      await until("some have ended", async () => (await jobs("WHERE state = 'completed'")).length >= round * 10 + 3);
      await victim.stop("SIGKILL");
      services = [otherService, await start(round % 2 === 0 ? "a" : "b")];
    }
    const [firstService] = services;
    const client = httpClient(firstService?.url ?? "", key);
    for (const id of ids) expect(["completed", "failed"]).toContain((await waitForEnd(client, id, 60_000)).status);
    const all = await jobs();
    // A job that was lost three times is reported as lost; each kill loses at most one.
    expect(all.reduce((sum, { attempts }) => sum + attempts - 1, 0)).toBeLessThanOrEqual(4);
    expect(all.map(({ state }) => state)).toEqual(ids.map(() => "completed"));
    const outputs =
      "SELECT count(*)::integer AS n, count(DISTINCT prompt_id)::integer AS jobs FROM lightdesk_service.assets WHERE origin = 'output'";
    expect(await queryDatabase(database.url, outputs)).toEqual([{ n: ids.length, jobs: ids.length }]);
    expect((await waitForEnd(client, await submit(client, canvas(1)))).status).toBe("completed");
    for (const service of services) await service.stop();
  });
});
