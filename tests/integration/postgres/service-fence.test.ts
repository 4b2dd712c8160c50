// After one service takes over the other's attempt, the stale attempt has no effect.
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { openServiceStore } from "@/lib/service/index";
import { SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import {
  asRecord,
  asRecords,
  createColorGraph,
  createWaitGraph,
  type Json,
  readJob,
  submitGraph,
  waitForEnd,
  waitForStart,
} from "@/tests/integration/service/support";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { inSchema, queryDatabase } from "@/tests/support/postgres-server";
import { type Client } from "@/tests/support/service";
import { createHttpClient, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

describe("a stale attempt", () => {
  let services: TwoServices;
  let firstClient: Client;
  let secondClient: Client;
  beforeEach(async () => {
    services = await startTwoServices({ concurrency: 1, maxJobPixels: 1000 });
    ({ first: firstClient, second: secondClient } = await services.createClients());
  });

  /** Runs the job on one service while another job takes the other service's only slot. */
  async function runWithBothBusy(graph: Json): Promise<string> {
    const id = await submitGraph(firstClient, graph);
    await waitForStart(firstClient, id);
    await submitGraph(firstClient, createWaitGraph(3600, 99));
    const runningSql = "SELECT 1 FROM lightdesk_service.jobs WHERE state = 'in_progress'";
    await until("both services are busy", async () => (await queryDatabase(services.url, runningSql)).length === 2);
    return id;
  }

  /** Takes over the job as the other service would, without notifying this one. */
  async function takeOver(id: string): Promise<void> {
    await queryDatabase(
      inSchema(services.url, SERVICE_SCHEMA),
      `UPDATE jobs SET fence = fence + 1, holder = (SELECT processes.id FROM processes WHERE processes.id <> holder AND seen_at <> '-infinity') WHERE id = '${id}'`,
    );
  }

  /** Waits until the stale attempt's slot is free again. */
  async function waitForFreeSlot(): Promise<void> {
    expect((await waitForEnd(firstClient, await submitGraph(firstClient, createColorGraph(1)))).status).toBe("completed");
  }

  async function expectUntouched(id: string): Promise<void> {
    const [job] = await queryDatabase(
      services.url,
      `SELECT state, attempts, fence, error, end_time, outputs_count FROM lightdesk_service.jobs WHERE id = '${id}'`,
    );
    expect(job).toEqual({ state: "in_progress", attempts: "1", fence: "2", error: null, end_time: null, outputs_count: "0" });
    const countsSql = `SELECT (SELECT count(*)::integer FROM lightdesk_service.job_results JOIN lightdesk_service.jobs ON seq = job_seq WHERE id = '${id}') AS results,
    (SELECT count(*)::integer FROM lightdesk_service.assets WHERE prompt_id = '${id}') AS outputs,
    (SELECT count(*)::integer FROM lightdesk_queue.jobs JOIN lightdesk_service.jobs AS j ON key = seq::text WHERE j.id = '${id}') AS entries`;
    expect(await queryDatabase(services.url, countsSql)).toEqual([{ results: 0, outputs: 0, entries: 0 }]);
  }

  it.each([
    ["succeeds", createWaitGraph(4)],
    [
      "fails",
      {
        "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
        "2": { class_type: "Wait", inputs: { seconds: 4, anything: ["1", 0] } },
        "3": {
          class_type: "ImageScale",
          inputs: { image: ["2", 0], upscale_method: "bilinear", width: 512, height: 512, crop: "disabled" },
        },
        "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "x" } },
      },
    ],
  ])("neither ends the job nor stores outputs when it %s", async (_, graph) => {
    const id = await runWithBothBusy(graph);
    await takeOver(id);
    await waitForFreeSlot();
    await expectUntouched(id);
  });

  it("doesn't requeue the job when its service stops", async () => {
    await services.second.service.stop();
    const id = await submitGraph(firstClient, createWaitGraph(3600));
    await waitForStart(firstClient, id);
    await services.second.service.start();
    await takeOver(id);
    await services.first.service.stop();
    await expectUntouched(id);
    await services.first.service.start();
  });

  it("keeps the new attempt running when it ends", async () => {
    // Each service runs one job. One service is disconnected below.
    const ids = [await submitGraph(secondClient, createWaitGraph(3600)), await submitGraph(secondClient, createWaitGraph(3600, 2))];
    for (const id of ids) await waitForStart(firstClient, id);
    const listJobs = (clause = "") =>
      queryDatabase<{ id: string; holder: string; attempts: string; fence: string }>(
        services.url,
        `SELECT id, holder, attempts, fence FROM lightdesk_service.jobs ${clause} ORDER BY seq`,
      );
    const before = await listJobs();
    expect(new Set(before.map(({ holder }) => holder)).size).toBe(2);
    services.databaseProxy.cut();
    const lostJob = await until("one job is pending again", async () => (await listJobs("WHERE state = 'pending'"))[0]);
    const { id: lostId } = lostJob;
    expect(lostJob).toEqual(before.find(({ id }) => id === lostId));
    const remainingId = ids.find((id) => id !== lostId) ?? "";
    await firstClient.post("/api/jobs/cancel", { job_ids: [remainingId] });
    await until("the lost job runs on the first service", async () => (await readJob(firstClient, lostId)).status === "in_progress");
    services.databaseProxy.restore();
    // The stale attempt has ended, so the second service's slot is free.
    expect((await waitForEnd(firstClient, await submitGraph(firstClient, createColorGraph(4)), 30_000)).status).toBe("completed");
    expect((await readJob(secondClient, lostId)).status).toBe("in_progress");
    expect(await listJobs(`WHERE id = '${lostId}'`)).toMatchObject([{ attempts: "2", fence: "2" }]);
    expect((await secondClient.post("/api/jobs/cancel", { job_ids: [lostId] })).status).toBe(200);
    expect((await readJob(firstClient, lostId)).status).toBe("cancelled");
    expect(asRecords(asRecord((await firstClient.get("/api/jobs?status=cancelled")).body).jobs)).toHaveLength(2);
  });
});

describe("when services are killed", () => {
  vi.setConfig({ testTimeout: 240_000 });

  const KILL_COUNT = 2;
  let databaseUrl: string;
  let root: string;
  let key: string;
  beforeEach(async () => {
    databaseUrl = await openTestDatabase();
    root = createTemporaryFolder();
    const store = await openServiceStore(join(root, "keys"), { concurrency: 1, databaseUrl });
    ({ key } = await store.keys.createKey("ada"));
    await store.close();
  });

  const startProcess = (name: string): Promise<ServiceProcess> =>
    startServiceProcess(join(root, name), { DATABASE_URL: databaseUrl, LIGHTDESK_BLOBS: join(root, "blobs"), LIGHTDESK_CONCURRENCY: "1" });
  const listJobs = (clause = "") =>
    queryDatabase<{ id: string; holder: string; attempts: number; state: string }>(
      databaseUrl,
      `SELECT id, holder, attempts::integer, state FROM lightdesk_service.jobs ${clause} ORDER BY seq`,
    );
  const listProcessIds = async () =>
    (await queryDatabase<{ id: string }>(databaseUrl, "SELECT id FROM lightdesk_service.processes")).map(({ id }) => id);

  it("requeues their jobs and keeps the other services' jobs running", async () => {
    const first = await startProcess("first");
    const existingIds = await listProcessIds();
    const second = await startProcess("second");
    const newProcessIds = (await listProcessIds()).filter((id) => !existingIds.includes(id));
    const client = createHttpClient(first.url, key);
    const jobIds = [await submitGraph(client, createWaitGraph(3600)), await submitGraph(client, createWaitGraph(3600, 2))];
    for (const id of jobIds) await waitForStart(client, id);
    const [lostJob] = (await listJobs()).filter(({ holder }) => newProcessIds.includes(holder));
    const [survivingJob] = (await listJobs()).filter(({ holder }) => !newProcessIds.includes(holder));
    await second.stop("SIGKILL");
    // Starts before the dead process is detected, and takes over its job later.
    const third = await startProcess("third");
    await until(
      "the lost job runs on another service",
      async () => (await listJobs(`WHERE id = '${lostJob?.id}' AND state = 'in_progress' AND holder <> '${lostJob?.holder}'`)).length === 1,
    );
    expect((await listJobs(`WHERE id = '${lostJob?.id}'`))[0]).toMatchObject({ attempts: 2 });
    expect((await listJobs(`WHERE id = '${survivingJob?.id}'`))[0]).toEqual(survivingJob);
    expect((await readJob(createHttpClient(third.url, key), survivingJob?.id ?? "")).status).toBe("in_progress");
    await createHttpClient(third.url, key).post("/api/interrupt");
    for (const id of jobIds) expect((await waitForEnd(client, id)).status).toBe("cancelled");
    expect([await first.stop(), await third.stop()]).toEqual([0, 0]);
  });

  it("completes each job once after repeated restarts", async () => {
    let services = [await startProcess("a"), await startProcess("b")];
    const ids: string[] = [];
    for (let round = 0; round < KILL_COUNT; round += 1) {
      const [killedService, otherService] = services;
      if (!killedService || !otherService) throw new Error("Expected two running services.");
      for (let color = 1; color <= 10; color += 1)
        ids.push(await submitGraph(createHttpClient(otherService.url, key), createWaitGraph(0.2, round * 10 + color)));
      await until("some jobs have completed", async () => (await listJobs("WHERE state = 'completed'")).length >= round * 10 + 3);
      await killedService.stop("SIGKILL");
      services = [otherService, await startProcess(round % 2 === 0 ? "a" : "b")];
    }
    const [firstService] = services;
    const client = createHttpClient(firstService?.url ?? "", key);
    for (const id of ids) expect(["completed", "failed"]).toContain((await waitForEnd(client, id, 60_000)).status);
    const finalJobs = await listJobs();
    // A job that is lost three times fails. Each kill loses at most one job.
    expect(finalJobs.reduce((sum, { attempts }) => sum + attempts - 1, 0)).toBeLessThanOrEqual(KILL_COUNT);
    expect(finalJobs.map(({ state }) => state)).toEqual(ids.map(() => "completed"));
    const outputsSql =
      "SELECT count(*)::integer AS n, count(DISTINCT prompt_id)::integer AS jobs FROM lightdesk_service.assets WHERE origin = 'output'";
    expect(await queryDatabase(databaseUrl, outputsSql)).toEqual([{ n: ids.length, jobs: ids.length }]);
    expect((await waitForEnd(client, await submitGraph(client, createColorGraph(1)))).status).toBe("completed");
    for (const service of services) await service.stop();
  });
});
