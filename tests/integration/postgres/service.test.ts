// Runs the service on PostgreSQL, including during a database outage.
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { copyServiceStore, createService, openServiceStore } from "@/lib/service/index";
import { listJobs } from "@/lib/service/jobs/list-jobs";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { openDatabase } from "@/lib/service/store/sqlite";
import { createWorkflowId, getWorkflowCount, seedJobs } from "@/tests/bench/service/seed-jobs";
import { createColorGraph, createPng, readJob, submitGraph, waitForEnd } from "@/tests/integration/service/support";
import { createGpuClasses, createGpuGraph } from "@/tests/support/gpu-classes";
import { openTestDatabase, type PostgresProxy, startPostgresProxy } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";
import { type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

describe("service", () => {
  let databaseUrl: string;
  let databaseProxy: PostgresProxy;
  let service: TestService;
  let client: Client;
  beforeEach(async () => {
    databaseUrl = await openTestDatabase();
    databaseProxy = await startPostgresProxy(databaseUrl);
    service = await startService({ databaseUrl: databaseProxy.url });
    client = service.client();
  });

  it("reports an unavailable database instead of an empty list", async () => {
    const id = await submitGraph(client, createColorGraph());
    await waitForEnd(client, id);
    databaseProxy.cut();
    for (const path of ["/api/jobs", "/api/queue", "/api/history", "/api/assets", "/api/user"]) {
      const response = await client.get(path);
      expect([path, response.status]).toEqual([path, 503]);
      expect(response.text).toMatch(/database is unavailable/);
    }
    databaseProxy.restore();
    expect((await client.get("/api/jobs")).body).toMatchObject({ jobs: [{ id }] });
  });

  it("reads oversized integers as doubles, like SQLite", async () => {
    expect((await client.upload("some text", "note.txt")).status).toBeLessThan(300);
    await queryDatabase(
      databaseUrl,
      "UPDATE lightdesk_service.assets SET size = 9007199254740993, created_at = 9007199254740993 WHERE name = 'note.txt'",
    );
    const listResponse = await client.get("/api/assets?name_contains=note.txt");
    expect(listResponse).toMatchObject({ status: 200, body: { assets: [{ name: "note.txt", size: 2 ** 53 }] } });
  });

  it("rejects an empty database when user files exist", async () => {
    expect((await client.upload("some text", "note.txt")).status).toBeLessThan(300);
    await service.service.stop();
    const otherService = createService({ ...service.settings, databaseUrl: await openTestDatabase() });
    await expect(otherService.start()).rejects.toThrow(/references no files, but .* contains user files/);
  });
});

describe("job lists", async () => {
  const JOB_COUNT = 3000;
  const USER_ID = 1;

  const folder = createTemporaryFolder();
  const databaseUrl = await openTestDatabase();
  const store = await openServiceStore(folder, { concurrency: 1 });
  await store.keys.createKey("bench");
  await store.close();
  const file = join(folder, "service.sqlite");
  seedJobs(file, "bench", JOB_COUNT, { waiting: 0.3 });
  await copyServiceStore({ file }, { url: databaseUrl }, () => undefined);
  const sqlite = await openDatabase(file, Date.now);
  const postgres = await openPostgres(databaseUrl, Date.now);

  afterAll(() => Promise.all([sqlite.close(), postgres.close()]));

  const queries = fc.record(
    {
      status: fc.subarray(["pending", "in_progress", "completed", "failed", "cancelled"] as const),
      workflow_id: fc.constantFrom(
        ...Array.from({ length: getWorkflowCount(JOB_COUNT) }, (_, index) => createWorkflowId(index)),
        "missing-workflow",
      ),
      output_type: fc.constantFrom("image" as const, "video" as const, "audio" as const),
      sort_by: fc.constantFrom("create_time" as const, "execution_time" as const),
      sort_order: fc.constantFrom("asc" as const, "desc" as const),
      limit: fc.integer({ min: 1, max: 120 }),
      offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: JOB_COUNT + 10 })),
    },
    { requiredKeys: ["sort_by", "sort_order", "limit", "offset"] },
  );

  it("match SQLite for any filter, order and offset", async () => {
    const property = fc.asyncProperty(queries, async (page) => {
      expect(await listJobs(postgres, USER_ID, page)).toEqual(await listJobs(sqlite, USER_ID, page));
    });
    await fc.assert(property, { numRuns: 300, seed: 20261126 });
  });
});

describe("service runners", () => {
  let services: TwoServices;
  let server: RunnerServer;
  let firstClient: Client;
  let secondClient: Client;
  let probeCount = 0;
  beforeEach(async () => {
    services = await startTwoServices({ concurrency: 1, runnerCheckMs: 60_000, runnerLeaseMs: 20_000 });
    ({ first: firstClient, second: secondClient } = await services.createClients());
    const bytes = Buffer.from(createPng(8, 8));
    server = await startRunnerServer({
      objectInfo: createGpuClasses(["one.safetensors"]),
      makeOutput: () => ({ files: [{ name: "x.png", bytes }] }),
    });
    probeCount = 0;
    server.faults.set("GET /system_stats", async (_request, _response, forward) => {
      probeCount += 1;
      await forward();
    });
  });

  /** Adds the runner and waits until both services list its model. */
  async function addRunner(slots = 1): Promise<string> {
    const outcome = await services.first.service.runners.add({ address: server.address, label: "A", slots });
    if (!outcome.ok) throw new Error(outcome.failure.message);
    await until("both services list the model", async () =>
      (await secondClient.get("/api/object_info/LoadModel")).text.includes("one.safetensors"),
    );
    return outcome.value.id;
  }

  /** Starts a job on the second service and blocks it on the runner. */
  async function startBlockedJob(): Promise<string> {
    await services.first.service.stop();
    server.setMode("hold");
    const id = await submitGraph(secondClient, createGpuGraph(1));
    await until("the runner has the job", () => server.seen.ran.length === 1);
    await services.first.service.start();
    return id;
  }

  const readFence = async () =>
    (await queryDatabase<{ fence: number }>(services.url, "SELECT fence::integer FROM lightdesk_service.jobs"))[0]?.fence;

  it("counts the slots of both services until one stops", async () => {
    const slots = async () => (await services.first.service.runners.list()).find(({ address }) => address === null)?.slots;
    await until("both services are counted", async () => (await slots()) === 2);
    await services.second.service.stop();
    expect(await slots()).toBe(1);
    await services.second.service.start();
  });

  it("never exceeds a runner's slots and starts each job once", async () => {
    await addRunner(2);
    const jobIds = await Promise.all(
      Array.from({ length: 24 }, (_, seed) => submitGraph(seed % 2 ? firstClient : secondClient, createGpuGraph(seed))),
    );
    for (const id of jobIds) expect(await waitForEnd(secondClient, id)).toMatchObject({ status: "completed", outputs_count: 1 });
    expect(server.seen.ran).toHaveLength(24);
    // Counts the active attempts at the start of each attempt. Commit times are serialized.
    const maxActiveSql = `SELECT max(n)::integer AS n FROM (SELECT count(*) AS n FROM lightdesk_service.attempts AS one
    JOIN lightdesk_service.attempts AS other ON other.started_at <= one.started_at AND other.ended_at > one.started_at GROUP BY one.job_seq) AS counts`;
    expect((await queryDatabase<{ n: number }>(services.url, maxActiveSql))[0]?.n).toBeLessThanOrEqual(2);
  });

  it("starts built-in jobs while others wait for a busy runner", async () => {
    await addRunner();
    server.setMode("hold");
    const first = await submitGraph(firstClient, createGpuGraph(0));
    await until("the runner has the job", () => server.seen.ran.length === 1);
    const waitingIds = await Promise.all(
      Array.from({ length: 40 }, (_, seed) => submitGraph(seed % 2 ? firstClient : secondClient, createGpuGraph(seed + 1))),
    );
    for (const client of [firstClient, secondClient]) {
      expect((await waitForEnd(client, await submitGraph(client, createColorGraph(5)))).status).toBe("completed");
      await Promise.all(
        waitingIds.splice(0, 10).map((id, index) => (index % 2 ? firstClient : secondClient).post("/api/jobs/cancel", { job_ids: [id] })),
      );
    }
    expect(server.seen.ran).toHaveLength(1);
    server.setMode("run");
    server.release();
    for (const id of [first, ...waitingIds]) expect((await waitForEnd(secondClient, id)).status).toBe("completed");
    expect(server.seen.ran).toHaveLength(1 + waitingIds.length);
  });

  it("starts a job that only one of many free runners can run", async () => {
    for (let count = 0; count < 7; count += 1) {
      const { address } = await startRunnerServer({ objectInfo: createGpuClasses(["another.safetensors"]) });
      expect((await services.first.service.runners.add({ address, label: `B ${address}` })).ok).toBe(true);
    }
    await addRunner();
    // In each round the other runners are free, and their last queue read may have been empty.
    for (let seed = 0; seed < 5; seed += 1) {
      const id = await submitGraph(seed % 2 ? secondClient : firstClient, createGpuGraph(seed));
      expect(await waitForEnd(firstClient, id)).toMatchObject({ status: "completed", runner: { label: "A" } });
    }
  });

  it("takes over a disconnected service's jobs without resubmitting them", async () => {
    await addRunner(2);
    const id = await startBlockedJob();
    services.databaseProxy.cut();
    await until("the first service follows the job", async () => (await readFence()) === 2);
    services.databaseProxy.restore();
    server.release();
    expect(await waitForEnd(firstClient, id)).toMatchObject({ status: "completed", outputs_count: 1, runner: { label: "A", attempt: 1 } });
    expect([server.seen.submissions.length, server.seen.interrupts.length]).toEqual([1, 0]);
    await until("the second service responds again", async () => (await readJob(secondClient, id)).status === "completed");
    const outputsSql = "SELECT count(*)::integer AS n FROM lightdesk_service.assets WHERE origin = 'output'";
    expect(await queryDatabase(services.url, outputsSql)).toEqual([{ n: 1 }]);
  });

  it("follows the jobs of a stopping service and interrupts cancelled ones", async () => {
    await addRunner();
    const id = await startBlockedJob();
    await services.second.service.stop();
    await until("the first service follows the job", async () => (await readFence()) === 2);
    await firstClient.post("/api/interrupt");
    expect((await waitForEnd(firstClient, id)).status).toBe("cancelled");
    await until("the runner has dropped the job", () => server.queue().running === undefined);
    await services.second.service.start();
  });

  it("shares probes and changes between both services", async () => {
    const runnerId = await addRunner();
    const previousCount = probeCount;
    await services.second.service.stop();
    await services.second.service.start();
    const id = await submitGraph(secondClient, createGpuGraph(1));
    await waitForEnd(secondClient, id);
    expect(probeCount).toBe(previousCount);
    await services.first.service.runners.change(runnerId, { state: "paused" });
    const waitingId = await submitGraph(secondClient, createGpuGraph(2));
    await until("the second service reports the pause", async () =>
      JSON.stringify(await readJob(secondClient, waitingId)).includes("paused"),
    );
    await secondClient.post("/api/queue", { clear: true });
  });

  it("adds an address once when both services add it in parallel", async () => {
    const { address } = server;
    const additions = [services.first, services.second, services.first, services.second].map(({ service }) =>
      service.runners.add({ address }),
    );
    const outcomes = (await Promise.all(additions)).map((result) => (result.ok ? "added" : result.failure.code)).sort();
    expect(outcomes).toEqual(["added", "taken", "taken", "taken"]);
    expect(await services.first.service.runners.add({ address, keep: true })).toMatchObject({ failure: { code: "taken" } });
  });
});
