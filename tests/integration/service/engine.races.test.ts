// Engine races that no request can time, such as a cancel while a lost job is requeued.
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openBlobs } from "@/lib/service/assets/blobs/open-blobs";
import { createFolders } from "@/lib/service/assets/folders";
import { createJobEvents, createNoopPeerEvents } from "@/lib/service/events/job-events";
import { listQueue } from "@/lib/service/jobs/job-view";
import { createMemoryQueue } from "@/lib/service/jobs/queue/memory-queue";
import { claimJob } from "@/lib/service/jobs/run/claim";
import { createEngine, type Engine } from "@/lib/service/jobs/run/engine";
import { submitPrompt } from "@/lib/service/jobs/submit";
import { startJob } from "@/lib/service/jobs/transitions";
import { type RunOutcome } from "@/lib/service/nodes/run";
import { type Runner } from "@/lib/service/nodes/runner";
import { createPool, type Pool } from "@/lib/service/runners/pool";
import { defaultSettings } from "@/lib/service/settings";
import { type Database, query } from "@/lib/service/store/database";
import { createSingleProcess } from "@/lib/service/store/processes";
import { createKeys } from "@/lib/service/users/keys";
import { createTestServiceStore, type TestServiceStore } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";
import { createColorGraph, createGate, silentLog as log } from "./support";

const USER_ID = 1;
const now = Date.now;
const remoteLimits = { leaseMs: 60_000, unresponsiveMs: 60_000, pollMs: 50, maxFileBytes: 1e6 };
const processes = createSingleProcess();
const events = createJobEvents(() => Promise.resolve(0), createNoopPeerEvents(), log);
const unusedRunner: Runner = {
  run: () => {
    throw new Error("unexpected run");
  },
  stop: () => Promise.resolve(),
};

/** A runner whose jobs end when they are cancelled, or when they lose their worker. */
function createCancellableRunner() {
  const runs: { loseWorker: () => void }[] = [];
  const runner: Runner = {
    run() {
      let cancel: () => void = () => undefined;
      const outcome = new Promise<RunOutcome>((resolve, reject) => {
        cancel = () => resolve({ kind: "cancelled" });
        runs.push({ loseWorker: () => reject(new Error("worker lost")) });
      });
      return { done: outcome, cancel };
    },
    stop: () => Promise.resolve(),
  };
  return { runner, runs };
}

let testStore: TestServiceStore;
let database: Database;
let pool: Pool;
let engine: Engine | undefined;
beforeEach(async () => {
  testStore = await createTestServiceStore();
  database = await testStore.open(now);
  await createKeys(database, now).createKey("ada");
  pool = await createPool({ database, processes, concurrency: 1 });
});
afterEach(async () => {
  await engine?.stop(0);
  engine = undefined;
  await database.close();
});

async function startEngine(runner: Runner, engineDatabase: Database = database): Promise<Engine> {
  const folders = createFolders(testStore.folder);
  const blobs = await openBlobs({ settings: defaultSettings, folders, database, processes, now, log });
  const limits = { remoteLimits, concurrency: 1, maxJobPixels: 1e6 };
  const dependencies = { ...limits, database: engineDatabase, processes, blobs, folders, runner, events, pool, now, log };
  engine = createEngine({ ...dependencies, collect: () => Promise.resolve() }, createMemoryQueue);
  await engine.start();
  return engine;
}

async function submitJob(): Promise<{ id: string; seq: number }> {
  const unusedEngine = { enqueue: () => Promise.resolve(), notifySubmitted: () => undefined };
  const outcome = await submitPrompt({ database, pool, engine: unusedEngine, now }, USER_ID, { prompt: createColorGraph() });
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome;
}

async function getState(seq: number): Promise<string | undefined> {
  return (await database.row(query.selectFrom("jobs").select("state").where("seq", "=", seq)))?.state;
}

/** Claims and starts the job at a runner for a process that has ended. */
async function startAtRunner(seq: number): Promise<void> {
  const values = { id: "runner-1", label: "GPU", address: "http://127.0.0.1:9", tags: "[]", slots: 1, devices: "[]", created_at: 1 };
  await database.commit(async (tx) => {
    await tx.run(query.insertInto("runners").values({ ...values, mode: "ready" }));
    const runner = await tx.row(query.selectFrom("runners").selectAll().where("id", "=", "runner-1"));
    if (runner) await claimJob(tx, { now, log, processes, events }, seq, { runner, slot: "GPU/1" });
    await startJob(tx, { seq, fence: 1 }, now());
  });
}

it("lists a job that starts while the queue is read", async () => {
  const { id, seq } = await submitJob();
  let startPromise: Promise<void> | undefined;
  const rows: Database["rows"] = async (statement) => {
    const result = await database.rows(statement);
    await (startPromise ??= startAtRunner(seq));
    return result;
  };
  expect(await text(Readable.from(listQueue({ ...database, rows }, USER_ID)))).toContain(id);
});

it("leaves a resumed job at its runner when the engine stops", { timeout: 10_000 }, async () => {
  const { seq } = await submitJob();
  await startAtRunner(seq);
  const { open, opened } = createGate();
  // The first commit recovers running jobs, and the second takes over this job.
  let commitCount = 0;
  const delayedCommit: Database["commit"] = async (work) => {
    if ((commitCount += 1) === 2) await opened;
    return database.commit(work);
  };
  // The engine stops its runner last.
  const runner = { ...unusedRunner, stop: () => Promise.resolve(open()) };
  const startedEngine = await startEngine(runner, { ...database, commit: delayedCommit, commitWithReserve: delayedCommit });
  await until("the takeover commit has started", () => commitCount === 2);
  await startedEngine.stop(0);
  expect([...startedEngine.getRuns()]).toEqual([]);
  expect(await getState(seq)).toBe("in_progress");
});

it("resumes a job at its runner only after the commit succeeds", async () => {
  const { id, seq } = await submitJob();
  await startAtRunner(seq);
  // The first commit recovers running jobs.
  let commitCount = 0;
  const failingCommit: Database["commit"] = (work) =>
    database.commit(async (tx) => {
      const result = await work(tx);
      if ((commitCount += 1) === 2) throw Object.assign(new Error("disk full"), { code: "SQLITE_FULL" });
      return result;
    });
  const startedEngine = await startEngine(unusedRunner, { ...database, commit: failingCommit, commitWithReserve: failingCommit });
  await until("the commit has failed", () => commitCount === 2);
  expect(await startedEngine.cancel(USER_ID, ["in_progress"], [id])).toEqual([]);
  expect([...startedEngine.getRuns()]).toEqual([]);
  await until("the job has resumed", () => [...startedEngine.getRuns()].length === 1, { timeoutMs: 10_000 });
  expect(await startedEngine.cancel(USER_ID, ["in_progress"])).toEqual([id]);
  expect(await getState(seq)).toBe("cancelled");
});

it("cancels a job that loses its worker at the same time", async () => {
  const { id, seq } = await submitJob();
  const { runner, runs } = createCancellableRunner();
  const startedEngine = await startEngine(runner);
  await until("the job runs", () => runs.length === 1);
  const cancellation = startedEngine.cancel(USER_ID, ["pending", "in_progress"], [id]);
  runs[0]?.loseWorker();
  expect(await cancellation).toEqual([id]);
  expect(await getState(seq)).toBe("cancelled");
  await startedEngine.stop(0);
  expect(runs).toHaveLength(1);
});

it("interrupts a running job that is still stored as pending", async () => {
  const { id, seq } = await submitJob();
  const { runner, runs } = createCancellableRunner();
  const startedEngine = await startEngine(runner);
  await until("the job runs", () => runs.length === 1);
  // Simulates a job whose start isn't stored yet.
  await database.commit((tx) => tx.run(query.updateTable("jobs").set({ state: "pending" }).where("seq", "=", seq)));
  expect(await startedEngine.cancel(USER_ID, ["in_progress"])).toEqual([id]);
  expect(await getState(seq)).toBe("cancelled");
});

it("reruns a lost worker's job after the disk has recovered", async () => {
  await submitJob();
  const { runner, runs } = createCancellableRunner();
  let remainingFailures = 1;
  let hasLostWorker = false;
  const failingCommit: Database["commit"] = (work) =>
    database.commit(async (tx) => {
      const result = await work(tx);
      if (hasLostWorker && remainingFailures > 0)
        throw Object.assign(new Error(`refusal ${(remainingFailures -= 1)}`), { code: "SQLITE_FULL" });
      return result;
    });
  await startEngine(runner, { ...database, commitWithReserve: failingCommit });
  await until("the job runs", () => runs.length === 1);
  hasLostWorker = true;
  runs[0]?.loseWorker();
  await until("the job runs again", () => runs.length === 2);
  expect(remainingFailures).toBe(0);
});
