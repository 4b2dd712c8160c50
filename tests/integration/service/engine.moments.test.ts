// The engine in states that no request can time: a refused commit, a cancel while a lost job is requeued.
import { afterEach, beforeEach, expect, it } from "vitest";
import { openBlobs } from "@/lib/service/assets/blobs/open-blobs";
import { createFolders } from "@/lib/service/assets/folders";
import { createJobEvents, createNoPeerEvents } from "@/lib/service/events/job-events";
import { createMemoryQueue } from "@/lib/service/jobs/queue/memory-queue";
import { claimJob } from "@/lib/service/jobs/run/claim";
import { createEngine, type Engine } from "@/lib/service/jobs/run/engine";
import { submitPrompt } from "@/lib/service/jobs/submit";
import { begin } from "@/lib/service/jobs/transitions";
import { type RunOutcome } from "@/lib/service/nodes/run";
import { type Runner } from "@/lib/service/nodes/runner";
import { createPool, type Pool } from "@/lib/service/runners/pool";
import { defaultSettings } from "@/lib/service/settings";
import { type Database, query } from "@/lib/service/store/database";
import { createOnlyProcess } from "@/lib/service/store/processes";
import { createKeys } from "@/lib/service/users/keys";
import { createTestServiceStore, type TestServiceStore } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";
import { canvas } from "./support";

const USER = 1;
const now = Date.now;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const remoteLimits = { leaseMs: 60_000, unresponsiveMs: 60_000, pollMs: 50, maxFileBytes: 1e6 };
const processes = createOnlyProcess();
const events = createJobEvents(() => Promise.resolve(0), createNoPeerEvents(), log);
const noRunner: Runner = {
  run: () => {
    throw new Error("nothing runs here");
  },
  stop: () => Promise.resolve(),
};

let storeHome: TestServiceStore;
let database: Database;
let pool: Pool;
let engine: Engine | undefined;
beforeEach(async () => {
  storeHome = await createTestServiceStore();
  database = await storeHome.open(now);
  await createKeys(database, now).createKey("ada");
  pool = await createPool({ database, processes, concurrency: 1 });
});
afterEach(async () => {
  await engine?.stop(0);
  engine = undefined;
  await database.close();
});

async function startEngine(runner: Runner, through: Database = database): Promise<Engine> {
  const folders = createFolders(storeHome.folder);
  const blobs = await openBlobs({ settings: defaultSettings, folders, database, processes, now, log });
  const collect = () => Promise.resolve();
  const parts = {
    database: through,
    processes,
    blobs,
    folders,
    runner,
    events,
    pool,
    remoteLimits,
    concurrency: 1,
    maxJobPixels: 1e6,
    collect,
    now,
    log,
  };
  engine = createEngine(parts, createMemoryQueue);
  await engine.start();
  return engine;
}

async function submitOne(): Promise<{ id: string; seq: number }> {
  const noEngine = { enqueue: () => Promise.resolve(), submitted: () => undefined };
  const outcome = await submitPrompt({ database, pool, engine: noEngine, now }, USER, { prompt: canvas() });
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome;
}

async function getState(seq: number): Promise<string | undefined> {
  return (await database.row(query.selectFrom("jobs").select("state").where("seq", "=", seq)))?.state;
}

/** A job that a runner began for a process that has ended. */
async function leaveAtRunner(seq: number): Promise<void> {
  const values = { id: "there", label: "There", address: "http://127.0.0.1:9", tags: "[]", slots: 1, devices: "[]", created_at: 1 };
  await database.commit(async (tx) => {
    await tx.run(query.insertInto("runners").values({ ...values, mode: "ready" }));
    const runner = await tx.row(query.selectFrom("runners").selectAll().where("id", "=", "there"));
    if (runner) await claimJob(tx, { now, log, processes, events }, seq, { runner, slot: "There/1" });
    await begin(tx, { seq, fence: 1 }, now());
  });
}

it("leaves a resumed job at its runner when the engine stops", { timeout: 10_000 }, async () => {
  const { seq } = await submitOne();
  await leaveAtRunner(seq);
  let takeOver = (): void => undefined;
  const isStopping = new Promise<void>((resolve) => (takeOver = resolve));
  // The first commit recovers running jobs, the second one takes over this one.
  let commits = 0;
  const delayedCommit: Database["commit"] = async (work) => {
    if ((commits += 1) === 2) await isStopping;
    return database.commit(work);
  };
  // The engine stops its runner last.
  const runner = { ...noRunner, stop: () => Promise.resolve(takeOver()) };
  const started = await startEngine(runner, { ...database, commit: delayedCommit, commitFreeing: delayedCommit });
  await until("it is about to be taken over", () => commits === 2);
  await started.stop(0);
  expect([...started.runs()]).toEqual([]);
  expect(await getState(seq)).toBe("in_progress");
});

it("runs a job at a runner only after the disk accepts it", async () => {
  const { id, seq } = await submitOne();
  await leaveAtRunner(seq);
  // The first commit recovers the jobs that were left running.
  let commits = 0;
  const full: Database["commit"] = (work) =>
    database.commit(async (tx) => {
      const result = await work(tx);
      if ((commits += 1) === 2) throw Object.assign(new Error("refused"), { code: "SQLITE_FULL" });
      return result;
    });
  const started = await startEngine(noRunner, { ...database, commit: full, commitFreeing: full });
  await until("the disk has refused it", () => commits === 2);
  expect(await started.cancel(USER, ["in_progress"], [id])).toEqual([]);
  expect([...started.runs()]).toEqual([]);
  await until("it goes on", () => [...started.runs()].length === 1, { timeoutMs: 10_000 });
  expect(await started.cancel(USER, ["in_progress"])).toEqual([id]);
  expect(await getState(seq)).toBe("cancelled");
});

it("cancels a job that loses its worker at the same moment", async () => {
  const { id, seq } = await submitOne();
  let runs = 0;
  let lose: (() => void) | undefined;
  const runner: Runner = {
    run() {
      runs += 1;
      let end: (outcome: RunOutcome) => void = () => undefined;
      const outcomePromise = new Promise<RunOutcome>((resolve, reject) => {
        end = resolve;
        lose = () => reject(new Error("the worker is gone"));
      });
      return { done: outcomePromise, cancel: () => end({ kind: "cancelled" }) };
    },
    stop: () => Promise.resolve(),
  };
  const started = await startEngine(runner);
  await until("it runs", () => lose !== undefined);
  const cancelled = started.cancel(USER, ["pending", "in_progress"], [id]);
  lose?.();
  expect(await cancelled).toEqual([id]);
  expect(await getState(seq)).toBe("cancelled");
  await started.stop(0);
  expect(runs).toBe(1);
});

it("interrupts a job that runs but is not stored as running yet", async () => {
  const { id, seq } = await submitOne();
  let isRunning = false;
  const runner: Runner = {
    run() {
      let end: (outcome: RunOutcome) => void = () => undefined;
      const outcomePromise = new Promise<RunOutcome>((resolve) => (end = resolve));
      isRunning = true;
      return { done: outcomePromise, cancel: () => end({ kind: "cancelled" }) };
    },
    stop: () => Promise.resolve(),
  };
  const started = await startEngine(runner);
  await until("it runs", () => isRunning);
  // Like a runner's job whose start is about to be stored.
  await database.commit((tx) => tx.run(query.updateTable("jobs").set({ state: "pending" }).where("seq", "=", seq)));
  expect(await started.cancel(USER, ["in_progress"])).toEqual([id]);
  expect(await getState(seq)).toBe("cancelled");
});

it("reruns a job of a lost worker, even when the disk recovers later", async () => {
  await submitOne();
  let refusals = 1;
  const full: Database["commit"] = (work) =>
    database.commit(async (tx) => {
      const result = await work(tx);
      if (runs > 0 && refusals > 0) throw Object.assign(new Error(`refusal ${(refusals -= 1)}`), { code: "SQLITE_FULL" });
      return result;
    });
  let runs = 0;
  const runner: Runner = {
    run() {
      runs += 1;
      if (runs === 1) return { done: Promise.reject(new Error("the worker is gone")), cancel: () => undefined };
      let end: (outcome: RunOutcome) => void = () => undefined;
      return { done: new Promise<RunOutcome>((resolve) => (end = resolve)), cancel: () => end({ kind: "cancelled" }) };
    },
    stop: () => Promise.resolve(),
  };
  await startEngine(runner, { ...database, commitFreeing: full });
  await until("it runs once more", () => runs === 2);
  expect(refusals).toBe(0);
});
