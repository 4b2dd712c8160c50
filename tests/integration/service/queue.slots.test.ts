// How the queue fills slots that end a job, fail to end one, or are at a runner.
import { afterEach, beforeEach, expect, it } from "vitest";
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
import { makeServicePlace, type ServicePlace } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";
import { canvas } from "./support";

const USER = 1;
const now = Date.now;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const processes = createOnlyProcess();
const events = createJobEvents(() => Promise.resolve(0), createNoPeerEvents(), log);
const remoteLimits = { leaseMs: 60_000, silenceMs: 60_000, pollMs: 50, maxFileBytes: 1e6 };

let place: ServicePlace;
let database: Database;
let isStopped = false;
beforeEach(async () => {
  isStopped = false;
  place = await makeServicePlace();
  database = await place.open(now);
  await createKeys(database, now).createKey("ada");
});
afterEach(async () => {
  isStopped = true;
  await database.close();
  await place.remove();
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

it("begins a job at a free slot while the slot that would take it still stores outputs", async () => {
  const [first, second, third] = await submitJobs(3);
  const ran: string[] = [];
  let endSecond = (): void => undefined;
  const secondEnds = new Promise<void>((resolve) => (endSecond = resolve));
  await startQueue(2, async (job, end) => {
    ran.push(job.id);
    if (job.id === first) {
      end.prepare();
      endSecond();
      await new Promise(() => undefined); // its outputs are stored for ever
    }
    if (job.id === second) await secondEnds;
    await endJob(job, end);
  });
  await until("the third job begins", () => ran.length === 3);
  expect(ran).toEqual([first, second, third]);
});

it("runs the next job after one whose end could not be stored", async () => {
  const [first, second] = await submitJobs(2);
  const ran: string[] = [];
  await startQueue(1, async (job, end) => {
    ran.push(job.id);
    end.prepare();
    if (job.id === first) throw new Error("the end could not be stored");
    await endJob(job, end);
  });
  await until("the second job begins", () => ran.length === 2);
  expect(ran).toEqual([first, second]);
});

it("starts a job in a slot held by a job that no process runs", async () => {
  const [left, next] = await submitJobs(2);
  const values = { id: "there", label: "There", address: "http://127.0.0.1:9", tags: "[]", slots: 1, devices: "[]", created_at: 1 };
  await database.commit(async (tx) => {
    await tx.run(query.updateTable("runners").set({ mode: "paused" }).where("id", "=", "built-in"));
    await tx.run(query.insertInto("runners").values({ ...values, mode: "ready", checked_at: 1 }));
    await tx.run(query.updateTable("jobs").set({ needs: await storeNeeds(tx, []) }));
    const taken = { slot: "There/1", runner: "there", attempts: 1, fence: 1 };
    await tx.run(
      query
        .updateTable("jobs")
        .set(taken)
        .where("id", "=", left ?? ""),
    );
  });
  const ran: string[] = [];
  await startQueue(1, (job) => Promise.resolve(void ran.push(job.id)));
  await until("the waiting job begins", () => ran.length > 0);
  expect(ran).toEqual([next]);
});
