// The queue in a PostgreSQL that several processes share: graphile-worker says who is next and wakes whoever can take it (decision 63).
// Guarantees: what it gives out is a hint, and a claim counts only where the job's row still waits; an entry that this process cannot take goes
// back in its place. Must never: hold an entry for longer than a claim takes.

import { EventEmitter } from "node:events";
import { type Worker, type WorkerEvents } from "graphile-worker";
import { type Pool } from "pg";
import { z } from "zod";
import { type Processes } from "@/lib/service/store/processes";
import { type Transaction } from "@/lib/service/store/database";
import { asStorageFailure } from "@/lib/service/storage-failure";
import { type Place } from "@/lib/service/runners/pool";
import { countRunning, readRunner, stateOf } from "@/lib/service/runners/store";
import { type Claimed, claimJob, createRunning } from "../run/claim";
import { type Floor, type JobQueue } from "./job-queue";
import { type NextClaim } from "./next-claim";
import {
  beginClearing,
  endClearing,
  EVERY,
  enqueueAll,
  freeWorkers,
  QUEUE_SCHEMA,
  queueLogger,
  removeEntries,
  removeStale,
  seqsWithoutEntry,
  tookTurn,
} from "./queue-entries";
import { waitingJobs } from "./waiting-jobs";

/** So many claims are under way at once. */
const CLAIMERS = 4;
/** A notice that was lost costs so much. */
const POLL_MS = 1000;
const PAUSE_MS = 1000;
/** Once for all processes. */
const REPAIR_MS = 60_000;
/** Kinds are learnt as they come by; the oldest are learnt again. */
const MOST_KINDS = 1000;

const entrySchema = z.object({ seq: z.number(), userId: z.number(), kind: z.string(), turn: z.number() });
type Entry = z.infer<typeof entrySchema>;

/** The commit that ends a job takes no other: the queue gives it out. */
const noNext: NextClaim = { take: () => Promise.resolve(), keepIf: (commit) => commit, job: () => undefined };

export function createSharedQueue(floor: Floor, { pgPool, processes }: { pgPool: Pool; processes: Processes }): JobQueue {
  const { parts, running } = floor;
  const { database, pool, log, concurrency } = parts;
  const kinds = new Set<string>();
  const workers = new Set<Worker>();
  let wakers: (() => void)[] = [];
  /** Claimers that found a slot free and ask for a job. */
  let asking = 0;
  let isStopped = false;
  let isPausing = false;
  let isTidying = false;
  let serving: Promise<void> | undefined;
  /** Workers that may have been given an entry whose answer was lost. */
  const unsure = new Set<string>();
  let giveUp: () => void = () => undefined;

  /** Before each claim, which waits here until a slot is free: what none of those can do is not to be given out. */
  async function kindsToSkip(): Promise<string[]> {
    const isOver = () => isStopped || isPausing;
    await freeUnsure();
    while (!isOver() && !(floor.mayTake() && asking < pool.freeSlots())) await new Promise<void>((wake) => wakers.push(wake));
    asking += 1;
    const free = pool.free();
    return isOver() ? [EVERY] : [...kinds].filter((kind) => !free.some(({ id }) => pool.canDo(kind, id)));
  }

  async function freeUnsure(): Promise<void> {
    if (unsure.size === 0) return;
    const ids = [...unsure];
    await database.commitFreeing((tx) => freeWorkers(tx, ids));
    for (const id of ids) unsure.delete(id);
  }

  /** What waits without an entry gets one, and entries of what waits no longer go. In pieces: others commit too. */
  async function repair(): Promise<void> {
    await database.commitFreeing(removeStale);
    let last: number | undefined = 0;
    while (last !== undefined && !isStopped) last = await mendAfter(last);
  }

  /** Returns the last job of the piece. */
  function mendAfter(last: number): Promise<number | undefined> {
    return database.commitFreeing(async (tx) => {
      const lost = await seqsWithoutEntry(tx, last);
      if (lost.length > 0) await enqueueAll(tx, await waitingJobs(tx, { seqs: lost }));
      return lost.at(-1);
    });
  }

  /** Where one entry is of a job that waits no longer, many may be. */
  function removeAllStale(): void {
    if (isTidying) return;
    isTidying = true;
    floor.inBackground(database.commitFreeing(removeStale).finally(() => (isTidying = false)));
  }

  function changed(): void {
    const woken = wakers;
    wakers = [];
    for (const wake of woken) wake();
    if (!isStopped) for (const worker of workers) worker.nudge();
  }

  async function take(payload: unknown): Promise<void> {
    const read = entrySchema.safeParse(payload);
    let place: (Place & { release(): void }) | undefined;
    try {
      if (!read.success) return log.error({ payload }, "an entry of the queue cannot be read");
      if (kinds.size >= MOST_KINDS) kinds.clear();
      kinds.add(read.data.kind);
      await untilThere(() => pool.know([needsOf(read.data.kind)]));
      const best = pool.best(read.data.kind, pool.free());
      place = best && pool.occupy(best);
    } finally {
      asking -= 1;
    }
    const claimed = await claim(read.data, place);
    if (claimed && place) floor.inBackground(runIn(place, claimed));
    else place?.release();
    // Another one may have waited for this one to find its slot.
    changed();
  }

  async function runIn(place: Place & { release(): void }, job: Claimed): Promise<void> {
    try {
      await floor.run(job, noNext);
    } finally {
      place.release();
      changed();
    }
  }

  /** Undefined where it was not to be had here: then it waits on in its place, unless it waits no longer. */
  async function claim(entry: Entry, place: Place | undefined): Promise<Claimed | undefined> {
    let claimed: Claimed | undefined;
    let isFull = false;
    await untilThere(async () => {
      await database
        .commit(async (tx) => {
          claimed = undefined;
          isFull = place !== undefined && !(await isFree(tx, place));
          if (!place || isFull) return putBack(tx, entry);
          await tookTurn(tx, entry.turn);
          claimed = await tx
            .attempt(() => claimJob(tx, parts, entry.seq, place))
            .catch((error: unknown) => {
              if (asStorageFailure(error)) throw error;
              log.error({ err: error, seq: entry.seq }, "a job could not be begun");
              return undefined;
            });
          if (claimed) running.set(claimed.id, createRunning(claimed, parts.events));
        })
        .catch((error: unknown) => {
          if (claimed) running.delete(claimed.id);
          throw error;
        });
    });
    if (!claimed && place && !isFull) removeAllStale();
    if (isFull) await pool.refresh().catch((error: unknown) => log.warn({ err: error }, "the runners could not be read again"));
    return claimed;
  }

  /** Slots of a runner count over all processes: as it is stored now. */
  async function isFree(tx: Transaction, { runner: { id, address } }: Place): Promise<boolean> {
    const row = await readRunner(tx, id);
    if (!row || stateOf(row) !== "ready") return false;
    return address === null || (await countRunning(tx, row)) < row.slots;
  }

  async function putBack(tx: Transaction, entry: Entry): Promise<void> {
    await enqueueAll(tx, [entry], entry.turn);
  }

  /** While the database is away, or takes nothing, the entry stays this process's; where that is given up, another gets it. */
  async function untilThere(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        log.error({ err: error }, "no job could be begun");
        if (isStopped || !asStorageFailure(error)) return;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  /** Again and again: a worker that could not say that it is done ends, and the library begins no other in its place. */
  async function serve(): Promise<void> {
    while (!isStopped) {
      await serveOnce().catch((error: unknown) => log.warn({ err: error }, "the queue cannot be served now"));
      if (!isStopped) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async function serveOnce(): Promise<void> {
    const broken = new Promise<void>((resolve) => (giveUp = resolve));
    const [{ run }, logger] = [await import("graphile-worker"), await queueLogger(log)];
    let listed: () => void = () => undefined;
    const isListed = new Promise<void>((resolve) => (listed = resolve));
    const own = new Set<Worker>();
    const events: WorkerEvents = new EventEmitter();
    events.on("worker:create", ({ worker }) => own.add(worker));
    // Those that are past their wait, until they have an answer.
    const askers = new Set<Worker>();
    events.on("worker:getJob:start", ({ worker }) => askers.add(worker));
    events.on("worker:getJob:empty", ({ worker }) => void (askers.delete(worker) && (asking -= 1)));
    events.on("worker:getJob:error", ({ worker, error }) => {
      // That the database is away is said by whoever renews the lease.
      if (!asStorageFailure(error)) log.error({ err: error }, "no entry of the queue could be read");
      // Else it was still before it, and was given nothing.
      if (!askers.delete(worker)) return;
      asking -= 1;
      unsure.add(worker.workerId);
    });
    events.on("job:start", ({ worker }) => askers.delete(worker));
    events.on("worker:stop", ({ worker }) => {
      workers.delete(worker);
      giveUp();
    });
    asking = 0;
    const runner = await run({
      ...{ pgPool, schema: QUEUE_SCHEMA, logger, events, taskList: { run: take } },
      ...{ concurrency: CLAIMERS, pollInterval: POLL_MS, noHandleSignals: true, crontab: "" },
      forbiddenFlags: () => isListed.then(kindsToSkip),
    });
    runner.promise.catch(() => giveUp());
    const workerIds = [...own].map(({ workerId }) => workerId);
    try {
      // Whoever takes over from this process frees what they hold.
      await processes.describe({ slots: concurrency, workerIds });
      for (const worker of own) workers.add(worker);
      listed();
      await broken;
    } finally {
      workers.clear();
      listed();
      isPausing = true;
      changed();
      await runner.stop().catch(() => undefined); // it stops by itself
      isPausing = false;
      await database
        .commitFreeing((tx) => freeWorkers(tx, workerIds))
        .catch((error: unknown) => {
          for (const id of workerIds) unsure.add(id);
          log.warn({ err: error }, "entries of the queue could not be freed");
        });
    }
  }

  return {
    start() {
      floor.inBackground(untilThere(repair));
      serving = serve();
      return Promise.resolve();
    },
    enqueue: (tx, job, isFirst) => enqueueAll(tx, [job], isFirst ? "first" : undefined),
    waits: () => undefined,
    forget: (userId, seqs) =>
      database.commitFreeing((tx) => (seqs ? removeEntries(tx, userId, seqs) : beginClearing(tx, userId, processes.id))),
    waitAgain(userId) {
      const end = () => database.commitFreeing((tx) => endClearing(tx, userId));
      floor.inBackground(untilThere(end).then(() => untilThere(repair)));
      return Promise.resolve();
    },
    repair: async () => ((await processes.mayBegin("queue", REPAIR_MS)) ? repair() : undefined),
    takeBack: freeWorkers,
    changed,
    goOn: (job) => floor.run(job, noNext),
    guess: () => undefined,
    async stop() {
      isStopped = true;
      giveUp();
      changed();
      await serving;
    },
  };
}

/** A kind begins with the number of its needs. */
function needsOf(kind: string): number | null {
  const [needs = ""] = kind.split("|");
  return needs === "" ? null : Number(needs);
}
