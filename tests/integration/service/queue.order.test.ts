import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createJobEvents, createNoPeerEvents } from "@/lib/service/events/job-events";
import { type EndCommit, type JobQueue, type QueueContext } from "@/lib/service/jobs/queue/job-queue";
import { createMemoryQueue } from "@/lib/service/jobs/queue/memory-queue";
import { type Running } from "@/lib/service/jobs/run/claim";
import { submitPrompt } from "@/lib/service/jobs/submit";
import { move } from "@/lib/service/jobs/transitions";
import { createPool, storeNeeds } from "@/lib/service/runners/pool";
import { type Database, query, type Transaction } from "@/lib/service/store/database";
import { createOnlyProcess } from "@/lib/service/store/processes";
import { createKeys } from "@/lib/service/users/keys";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { seedJobs } from "@/tests/bench/service/seed-jobs";
import { auditCounters } from "@/tests/faults/kill/audit-counters";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { createTestServiceStore, type TestServiceStore } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";
import { asRecord, asRecords, asString, canvas, readJob, submit, waitForEnd, waitForStart, waitGraph } from "./support";

describe("turns of users", () => {
  let service: TestService | undefined;

  const began = async (client: Client, id: string) => Number((await waitForEnd(client, id)).execution_start_time);

  it("rotates between users and keeps each user's order on one slot", async () => {
    service = await startService({ concurrency: 1 });
    const [ada, bob, cy] = [service.client("ada"), service.client("bob"), service.client("cy")];
    // Ada's first job holds the slot while all others queue up behind it.
    const first = await submit(ada, waitGraph(1));
    await waitForStart(ada, first);
    const submitted: { name: string; client: Client; id: string }[] = [];
    const send = async (name: string, client: Client) => void submitted.push({ name, client, id: await submit(client, waitGraph(0.01)) });
    for (let round = 1; round <= 4; round += 1) await send(`ada${round}`, ada);
    for (let round = 1; round <= 3; round += 1) await send(`bob${round}`, bob);
    for (let round = 1; round <= 2; round += 1) await send(`cy${round}`, cy);

    const starts = await Promise.all(submitted.map(async ({ name, client, id }) => ({ name, at: await began(client, id) })));
    const order = starts.sort((a, b) => a.at - b.at).map(({ name }) => name);
    expect(order).toEqual(["bob1", "cy1", "ada1", "bob2", "cy2", "ada2", "bob3", "ada3", "ada4"]);
  });

  it("limits parallel jobs to the setting for all senders", async () => {
    service = await startService({ concurrency: 2 });
    const clients = [service.client("ada"), service.client("bob"), service.client("cy")];
    const submitted = await Promise.all(
      clients.flatMap((client) => [1, 2, 3].map(async (color) => ({ client, id: await submit(client, waitGraph(0.1, color)) }))),
    );
    const spans = await Promise.all(
      submitted.map(async ({ client, id }) => {
        const job = await waitForEnd(client, id);
        expect(job.status).toBe("completed");
        return { from: Number(job.execution_start_time), to: Number(job.execution_end_time) };
      }),
    );
    for (const { from } of spans) expect(spans.filter((span) => span.from <= from && from < span.to).length).toBeLessThanOrEqual(2);
  });

  it("never exceeds the configured number of running jobs", async () => {
    service = await startService({ concurrency: 1 });
    const client = service.client();
    const jobIds = await Promise.all(Array.from({ length: 40 }, (_, color) => submit(client, canvas(color + 1))));
    const positions: number[] = [];
    await until(
      "all have ended",
      async () => {
        positions.push(asRecords(asRecord((await client.get("/api/jobs?status=in_progress")).body).jobs).length);
        return Number(asRecord(asRecord((await client.get("/api/prompt")).body).exec_info).queue_remaining) === 0;
      },
      { everyMs: 0 },
    );
    expect(Math.max(...positions)).toBe(1);
    // In the order of submission, and none began before the previous one had ended.
    const spans = await Promise.all(jobIds.map((id) => waitForEnd(client, id)));
    const inOrder = spans.toSorted((a, b) => Number(a.execution_start_time) - Number(b.execution_start_time));
    for (const [index, job] of inOrder.entries()) {
      expect(job.status).toBe("completed");
      const before = inOrder[index - 1];
      if (before) expect(Number(job.execution_start_time)).toBeGreaterThanOrEqual(Number(before.execution_end_time));
    }
  });

  it("counts and isolates each user's jobs", async () => {
    service = await startService({ concurrency: 1 });
    const [ada, bob] = [service.client("ada"), service.client("bob")];
    const blocking = await submit(ada, waitGraph(30));
    await waitForStart(ada, blocking);
    const numbers = [];
    for (const client of [ada, bob, ada, bob])
      numbers.push(asRecord((await client.post("/api/prompt", { prompt: waitGraph(0) })).body).number);
    expect(numbers).toEqual([2, 1, 3, 2]);
    expect((await bob.get("/api/prompt")).body).toEqual({ exec_info: { queue_remaining: 2 } });
    const bobs = asRecord((await bob.get("/api/queue")).body);
    expect([asRecords(bobs.queue_running).length, asRecords(bobs.queue_pending).map((item) => item[0])]).toEqual([0, [1, 2]]);

    expect((await bob.post("/api/queue", { delete: [blocking] })).body).toEqual({ deleted: [], cleared: false });
    await bob.post("/api/interrupt");
    expect((await bob.post("/api/interrupt", { prompt_id: blocking })).status).toBe(404);
    expect((await bob.post(`/api/jobs/${blocking}/cancel`)).status).toBe(404);
    expect((await bob.post("/api/jobs/cancel", { job_ids: [blocking] })).status).toBe(404);
    await bob.post("/api/history", { delete: [blocking], clear: true });
    expect((await readJob(ada, blocking)).status).toBe("in_progress");
    expect(asRecord((await bob.post("/api/queue", { clear: true })).body).deleted).toHaveLength(2);
    expect(asRecord((await ada.post("/api/queue", { clear: true })).body).deleted).toHaveLength(2);
    expect((await readJob(ada, blocking)).status).toBe("in_progress");
    await ada.post("/api/interrupt");
  });
});

describe("queue slots", () => {
  const USER = 1;
  const now = Date.now;
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const processes = createOnlyProcess();
  const events = createJobEvents(() => Promise.resolve(0), createNoPeerEvents(), log);
  const remoteLimits = { leaseMs: 60_000, unresponsiveMs: 60_000, pollMs: 50, maxFileBytes: 1e6 };

  let storeHome: TestServiceStore;
  let database: Database;
  let isStopped = false;
  beforeEach(async () => {
    isStopped = false;
    storeHome = await createTestServiceStore();
    database = await storeHome.open(now);
    await createKeys(database, now).createKey("ada");
  });
  afterEach(async () => {
    isStopped = true;
    await database.close();
  });

  async function startQueue(concurrency: number, run: QueueContext["run"]): Promise<JobQueue> {
    const pool = await createPool({ database, processes, concurrency });
    const parts = { database, pool, log, concurrency, now, processes, events, remoteLimits };
    const queue = createMemoryQueue({
      parts,
      running: new Map(),
      isAccepting: () => !isStopped,
      untilReachable: (work) => work(),
      run,
      inBackground: (work) => void work.catch(() => undefined),
    });
    await queue.start();
    return queue;
  }

  async function submitJobs(count: number): Promise<string[]> {
    const pool = await createPool({ database, processes, concurrency: 1 });
    const engine = { enqueue: () => Promise.resolve(), submitted: () => undefined };
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      const outcome = await submitPrompt({ database, pool, engine, now }, USER, { prompt: canvas() });
      if (!outcome.ok) throw new Error(outcome.error.message);
      ids.push(outcome.id);
    }
    return ids;
  }

  const endJob = ({ seq }: Running, { commit }: EndCommit) =>
    commit(async (tx: Transaction) => void (await move(tx, { seq, from: "in_progress", to: "completed", at: now() })));

  it("starts a job at a free slot while another stores outputs", async () => {
    const [first, second, third] = await submitJobs(3);
    const ranIds: string[] = [];
    let endSecond = (): void => undefined;
    const secondEnds = new Promise<void>((resolve) => (endSecond = resolve));
    await startQueue(2, async (job, end) => {
      ranIds.push(job.id);
      if (job.id === first) {
        end.prepare();
        endSecond();
        await new Promise(() => undefined); // its outputs are stored for ever
      }
      if (job.id === second) await secondEnds;
      await endJob(job, end);
    });
    await until("the third job begins", () => ranIds.length === 3);
    expect(ranIds).toEqual([first, second, third]);
  });

  it("runs the next job when the previous end could not be stored", async () => {
    const [first, second] = await submitJobs(2);
    const ranIds: string[] = [];
    await startQueue(1, async (job, end) => {
      ranIds.push(job.id);
      end.prepare();
      if (job.id === first) throw new Error("the end could not be stored");
      await endJob(job, end);
    });
    await until("the second job begins", () => ranIds.length === 2);
    expect(ranIds).toEqual([first, second]);
  });

  it("reuses a slot whose job no longer has a process", async () => {
    const [left, next] = await submitJobs(2);
    const values = { id: "there", label: "There", address: "http://127.0.0.1:9", tags: "[]", slots: 1, devices: "[]", created_at: 1 };
    await database.commit(async (tx) => {
      await tx.run(query.updateTable("runners").set({ mode: "paused" }).where("id", "=", "built-in"));
      await tx.run(query.insertInto("runners").values({ ...values, mode: "ready", checked_at: 1 }));
      await tx.run(query.updateTable("jobs").set({ needs: await storeNeeds(tx, []) }));
      const takenSlot = { slot: "There/1", runner: "there", attempts: 1, fence: 1 };
      await tx.run(
        query
          .updateTable("jobs")
          .set(takenSlot)
          .where("id", "=", left ?? ""),
      );
    });
    const ranIds: string[] = [];
    await startQueue(1, (job) => Promise.resolve(void ranIds.push(job.id)));
    await until("the waiting job begins", () => ranIds.length > 0);
    expect(ranIds).toEqual([next]);
  });
});

const JOBS = 6000;

describe("clearing a long queue", () => {
  let service: TestService;
  let client: Client;
  let file: string;

  beforeEach(async () => {
    const empty = await startService();
    empty.client("bench");
    await empty.service.stop();
    file = join(empty.folder, "service.sqlite");
    seedJobs(file, "bench", JOBS, { waiting: 0.8 });
    const database = new SqliteConnection(file);
    database.prepare("UPDATE job_inputs SET prompt = ?").run(JSON.stringify(waitGraph(3600)));
    database.close();
    service = await startService({ dataDir: empty.folder, concurrency: 1 });
    client = service.client("bench");
  });
  afterEach(() => client.post("/api/interrupt"));

  const getIds = async (query: string) => {
    const { jobs, pagination } = asRecord((await client.get(`/api/jobs?limit=1000&${query}`)).body);
    return { ids: asRecords(jobs).map((job) => asString(job.id)), total: Number(asRecord(pagination).total) };
  };

  it("returns all waiting jobs in order while lists stay responsive", async () => {
    const before = await getIds("status=pending&sort_order=asc");
    const cancelled = (await getIds("status=cancelled")).total;
    expect(before.total).toBeGreaterThan(4000);
    let isAnswered = false;
    const clearing = client.post("/api/queue", { clear: true }).finally(() => (isAnswered = true));
    const totals: number[] = [];
    let later: string | undefined;
    while (!isAnswered) {
      await new Promise((resolve) => setImmediate(resolve));
      totals.push((await getIds("status=pending")).total);
      // Submitted once part of the queue is gone: this job does not belong to the cleared queue.
      if (later === undefined && totals.some((total) => total < before.total)) later = await submit(client, canvas(5));
    }
    const { deleted } = asRecord((await clearing).body);
    expect(deleted).toHaveLength(before.total);
    expect(Array.isArray(deleted) && deleted.slice(0, 1000)).toEqual(before.ids);
    expect(totals.some((total) => total > 0 && total < before.total)).toBe(true);
    const remaining = await getIds("status=pending");
    expect(remaining).toEqual({ ids: [later], total: 1 });
    expect((await getIds("status=cancelled")).total).toBe(cancelled + before.total);
    expect(await readJob(client, before.ids[0] ?? "")).toMatchObject({ status: "cancelled", outputs: {} });
    expect((await client.get("/api/queue")).text).toContain(`"queue_pending":[[1,"${later}",`);
    const database = new SqliteConnection(file, { readOnly: true });
    auditCounters(database);
    database.close();
  });
});
