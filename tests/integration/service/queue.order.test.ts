import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createJobEvents, createNoopPeerEvents } from "@/lib/service/events/job-events";
import { type EndCommit, type JobQueue, type QueueContext } from "@/lib/service/jobs/queue/job-queue";
import { createMemoryQueue } from "@/lib/service/jobs/queue/memory-queue";
import { type ActiveRun } from "@/lib/service/jobs/run/claim";
import { submitPrompt } from "@/lib/service/jobs/submit";
import { moveJob } from "@/lib/service/jobs/transitions";
import { createPool, storeNeeds } from "@/lib/service/runners/pool";
import { type Database, query, type Transaction } from "@/lib/service/store/database";
import { createSingleProcess } from "@/lib/service/store/processes";
import { createKeys } from "@/lib/service/users/keys";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { seedJobs } from "@/tests/bench/service/seed-jobs";
import { auditCounters } from "@/tests/faults/kill/audit-counters";
import { type Client, startService } from "@/tests/support/service";
import { createTestServiceStore } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createWaitGraph,
  getRecord,
  readJob,
  silentLog as log,
  submitGraph,
  waitForEnd,
  waitForStart,
} from "./support";

describe("job scheduling", () => {
  const getStartTime = async (client: Client, id: string) => Number((await waitForEnd(client, id)).execution_start_time);

  it("rotates between users and keeps each user's order on one slot", async () => {
    const service = await startService({ concurrency: 1 });
    const [ada, bob, cy] = [service.client("ada"), service.client("bob"), service.client("cy")];
    // Ada's first job occupies the slot while the others are queued.
    const first = await submitGraph(ada, createWaitGraph(1));
    await waitForStart(ada, first);
    const submissions: { name: string; client: Client; id: string }[] = [];
    const submitNamed = async (name: string, client: Client) =>
      void submissions.push({ name, client, id: await submitGraph(client, createWaitGraph(0.01)) });
    for (let round = 1; round <= 4; round += 1) await submitNamed(`ada${round}`, ada);
    for (let round = 1; round <= 3; round += 1) await submitNamed(`bob${round}`, bob);
    for (let round = 1; round <= 2; round += 1) await submitNamed(`cy${round}`, cy);

    const starts = await Promise.all(submissions.map(async ({ name, client, id }) => ({ name, startMs: await getStartTime(client, id) })));
    const order = starts.sort((a, b) => a.startMs - b.startMs).map(({ name }) => name);
    expect(order).toEqual(["bob1", "cy1", "ada1", "bob2", "cy2", "ada2", "bob3", "ada3", "ada4"]);
  });

  it("limits parallel jobs of all users to the setting", async () => {
    const service = await startService({ concurrency: 2 });
    const clients = [service.client("ada"), service.client("bob"), service.client("cy")];
    const submissions = await Promise.all(
      clients.flatMap((client) => [1, 2, 3].map(async (color) => ({ client, id: await submitGraph(client, createWaitGraph(0.1, color)) }))),
    );
    const spans = await Promise.all(
      submissions.map(async ({ client, id }) => {
        const job = await waitForEnd(client, id);
        expect(job.status).toBe("completed");
        return { from: Number(job.execution_start_time), to: Number(job.execution_end_time) };
      }),
    );
    for (const { from } of spans) expect(spans.filter((span) => span.from <= from && from < span.to).length).toBeLessThanOrEqual(2);
  });

  it("counts and isolates each user's jobs", async () => {
    const service = await startService({ concurrency: 1 });
    const [ada, bob] = [service.client("ada"), service.client("bob")];
    const blockingId = await submitGraph(ada, createWaitGraph(30));
    await waitForStart(ada, blockingId);
    const numbers = [];
    for (const client of [ada, bob, ada, bob])
      numbers.push(asRecord((await client.post("/api/prompt", { prompt: createWaitGraph(0) })).body).number);
    expect(numbers).toEqual([2, 1, 3, 2]);
    expect((await bob.get("/api/prompt")).body).toEqual({ exec_info: { queue_remaining: 2 } });
    const otherQueue = await getRecord(bob, "/api/queue");
    expect([asRecords(otherQueue.queue_running).length, asRecords(otherQueue.queue_pending).map((item) => item[0])]).toEqual([0, [1, 2]]);

    expect((await bob.post("/api/queue", { delete: [blockingId] })).body).toEqual({ deleted: [], cleared: false });
    await bob.post("/api/interrupt");
    expect((await bob.post("/api/interrupt", { prompt_id: blockingId })).status).toBe(404);
    expect((await bob.post(`/api/jobs/${blockingId}/cancel`)).status).toBe(404);
    expect((await bob.post("/api/jobs/cancel", { job_ids: [blockingId] })).status).toBe(404);
    await bob.post("/api/history", { delete: [blockingId], clear: true });
    expect((await readJob(ada, blockingId)).status).toBe("in_progress");
    expect(asRecord((await bob.post("/api/queue", { clear: true })).body).deleted).toHaveLength(2);
    expect(asRecord((await ada.post("/api/queue", { clear: true })).body).deleted).toHaveLength(2);
    expect((await readJob(ada, blockingId)).status).toBe("in_progress");
    await ada.post("/api/interrupt");
  });
});

describe("queue slots", () => {
  const USER_ID = 1;
  const now = Date.now;
  const processes = createSingleProcess();
  const events = createJobEvents(() => Promise.resolve(0), createNoopPeerEvents(), log);
  const remoteLimits = { leaseMs: 60_000, unresponsiveMs: 60_000, pollMs: 50, maxFileBytes: 1e6 };

  let database: Database;
  let isStopped = false;
  beforeEach(async () => {
    isStopped = false;
    database = await (await createTestServiceStore()).open(now);
    await createKeys(database, now).createKey("ada");
  });
  afterEach(async () => {
    isStopped = true;
    await database.close();
  });

  async function startQueue(concurrency: number, run: QueueContext["run"]): Promise<JobQueue> {
    const pool = await createPool({ database, processes, concurrency });
    const dependencies = { database, pool, log, concurrency, now, processes, events, remoteLimits };
    const queue = createMemoryQueue({
      dependencies,
      activeRuns: new Map(),
      isAccepting: () => !isStopped,
      retryUntilReachable: (work) => work(),
      run,
      runInBackground: (work) => void work.catch(() => undefined),
    });
    await queue.start();
    return queue;
  }

  async function submitJobs(count: number): Promise<string[]> {
    const pool = await createPool({ database, processes, concurrency: 1 });
    const engine = { enqueue: () => Promise.resolve(), notifySubmitted: () => undefined };
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      const outcome = await submitPrompt({ database, pool, engine, now }, USER_ID, { prompt: createColorGraph() });
      if (!outcome.ok) throw new Error(outcome.error.message);
      ids.push(outcome.id);
    }
    return ids;
  }

  const endJob = ({ seq }: ActiveRun, { commit }: EndCommit) =>
    commit(async (tx: Transaction) => void (await moveJob(tx, { seq, from: "in_progress", to: "completed", at: now() })));

  it("starts a job at a free slot while another stores outputs", async () => {
    const [first, second, third] = await submitJobs(3);
    const startedIds: string[] = [];
    let releaseSecond = (): void => undefined;
    const secondReleased = new Promise<void>((resolve) => (releaseSecond = resolve));
    await startQueue(2, async (job, end) => {
      startedIds.push(job.id);
      if (job.id === first) {
        end.prepare();
        releaseSecond();
        await new Promise(() => undefined); // Storing its outputs never ends.
      }
      if (job.id === second) await secondReleased;
      await endJob(job, end);
    });
    await until("the third job starts", () => startedIds.length === 3);
    expect(startedIds).toEqual([first, second, third]);
  });

  it("runs the next job when the previous job's end can't be stored", async () => {
    const [first, second] = await submitJobs(2);
    const startedIds: string[] = [];
    await startQueue(1, async (job, end) => {
      startedIds.push(job.id);
      end.prepare();
      if (job.id === first) throw new Error("the end could not be stored");
      await endJob(job, end);
    });
    await until("the second job starts", () => startedIds.length === 2);
    expect(startedIds).toEqual([first, second]);
  });

  it("reuses a slot whose job no longer has a process", async () => {
    const [orphanId, nextId] = await submitJobs(2);
    const values = { id: "runner-1", label: "GPU", address: "http://127.0.0.1:9", tags: "[]", slots: 1, devices: "[]", created_at: 1 };
    await database.commit(async (tx) => {
      await tx.run(query.updateTable("runners").set({ mode: "paused" }).where("id", "=", "built-in"));
      await tx.run(query.insertInto("runners").values({ ...values, mode: "ready", checked_at: 1 }));
      await tx.run(query.updateTable("jobs").set({ needs: await storeNeeds(tx, []) }));
      const takenSlot = { slot: "GPU/1", runner: "runner-1", attempts: 1, fence: 1 };
      await tx.run(query.updateTable("jobs").set(takenSlot).where("id", "=", String(orphanId)));
    });
    const startedIds: string[] = [];
    await startQueue(1, (job) => Promise.resolve(void startedIds.push(job.id)));
    await until("the waiting job starts", () => startedIds.length > 0);
    expect(startedIds).toEqual([nextId]);
  });
});

const JOB_COUNT = 6000;

it("returns all cleared jobs of a long queue while lists stay responsive", async () => {
  const seededService = await startService();
  seededService.client("bench");
  await seededService.service.stop();
  const file = join(seededService.folder, "service.sqlite");
  seedJobs(file, "bench", JOB_COUNT, { waiting: 0.8 });
  const seededDatabase = new SqliteConnection(file);
  seededDatabase.prepare("UPDATE job_inputs SET prompt = ?").run(JSON.stringify(createWaitGraph(3600)));
  seededDatabase.close();
  const service = await startService({ dataDir: seededService.folder, concurrency: 1 });
  const client = service.client("bench");
  const getIds = async (query: string) => {
    const { jobs, pagination } = await getRecord(client, `/api/jobs?limit=1000&${query}`);
    return { ids: asRecords(jobs).map((job) => asString(job.id)), total: Number(asRecord(pagination).total) };
  };
  const before = await getIds("status=pending&sort_order=asc");
  const cancelledBefore = (await getIds("status=cancelled")).total;
  expect(before.total).toBeGreaterThan(4000);
  let hasResponded = false;
  const clearRequest = client.post("/api/queue", { clear: true }).finally(() => (hasResponded = true));
  const totals: number[] = [];
  let laterId: string | undefined;
  while (!hasResponded) {
    await new Promise((resolve) => setImmediate(resolve));
    totals.push((await getIds("status=pending")).total);
    // Submitted after the clear has started, so this job must not be cleared.
    if (laterId === undefined && totals.some((total) => total < before.total)) laterId = await submitGraph(client, createColorGraph(5));
  }
  const { deleted } = asRecord((await clearRequest).body);
  expect(deleted).toHaveLength(before.total);
  expect(Array.isArray(deleted) && deleted.slice(0, 1000)).toEqual(before.ids);
  expect(totals.some((total) => total > 0 && total < before.total)).toBe(true);
  const remaining = await getIds("status=pending");
  expect(remaining).toEqual({ ids: [laterId], total: 1 });
  expect((await getIds("status=cancelled")).total).toBe(cancelledBefore + before.total);
  expect(await readJob(client, before.ids[0] ?? "")).toMatchObject({ status: "cancelled", outputs: {} });
  expect((await client.get("/api/queue")).text).toContain(`"queue_pending":[[1,"${laterId}",`);
  const database = new SqliteConnection(file, { readOnly: true });
  auditCounters(database);
  database.close();
  await client.post("/api/interrupt");
});
