// Assigns waiting jobs to worker slots. The queue is in memory for a single process (memory-queue.ts), or in a shared PostgreSQL
// (postgres-queue.ts). Both claim and run jobs through `createSlots`.
// Invariants: a job is claimed only while its row is pending and its runner has a free slot across all processes. A job goes only to a
// runner that can run it.

import { kindWith, type Place, triedRunners } from "@/lib/service/runners/pool";
import { type RunnerRow } from "@/lib/service/runners/store";
import { asStorageFailure } from "@/lib/service/service-error";
import { query, type Reader, type Transaction } from "@/lib/service/store/database";
import { sleep } from "@/lib/shared/async";
import { claimJob, type Running } from "../run/claim";
import { type EngineParts, type Patience } from "../run/engine-parts";
import { isInOwnQueue, isUnfinished, type WaitingJob } from "../transitions";

/** A job taken from the queue. `turn`: its position in a shared queue. */
export type QueueEntry = WaitingJob & { turn: number };

export type JobQueue = {
  /** Starts assigning jobs, including those that were already waiting. */
  start(): Promise<void>;
  /** Called inside the commit that makes the job wait. `isFirst`: puts a returned job before its user's other jobs. */
  enqueue(tx: Transaction, job: WaitingJob, isFirst?: boolean): Promise<void>;
  /** Called after the commit of `enqueue`. */
  notifyWaiting(job: WaitingJob, isFirst?: boolean): void;
  /** Removes the user's pending jobs, all if `seqs` is absent. The caller cancels them in the store. */
  removeWaiting(userId: number, seqs?: readonly number[]): Promise<void>;
  /** Called after a clear: enqueues the user's jobs up to `last` that were not cancelled. */
  restoreUncancelled(userId: number, last: number): Promise<void>;
  /** Enqueues waiting jobs that the queue lost, for example when a process was killed. */
  repair(): Promise<void>;
  /** Inside a commit: releases the entries that these dead processes had locked. */
  freeProcesses(tx: Transaction, processIds: readonly string[]): Promise<void>;
  /** Called when slots or runners have changed. */
  slotsChanged(): void;
  /** Continues a job on its runner. The slot may run other jobs after it. */
  resume(job: Running, runner: RunnerRow): Promise<void>;
  /** The next job for the built-in runner; undefined if unknown. */
  peekNext(): number | undefined;
  /** Stops assigning jobs. */
  stop(): Promise<void>;
};

/** The commit that ends a job. It also claims the slot's next job. */
export type EndCommit = {
  /** Called shortly before the job ends: reserves a waiting job for the slot. */
  prepare(): void;
  commit(work: (tx: Transaction) => Promise<void>): Promise<void>;
};

/** What the engine passes to the queue. */
export type QueueContext = {
  parts: Pick<EngineParts, "database" | "pool" | "log" | "concurrency" | "now" | "processes" | "events" | "remoteLimits">;
  /** Jobs that run in this process, by id. */
  running: Map<string, Running>;
  isAccepting(): boolean;
  untilThere: Patience["untilThere"];
  /** Runs the job to its end. */
  run(job: Running, end: EndCommit): Promise<void>;
  /** The engine's `stop` waits for this work. */
  inBackground(work: Promise<void>): void;
};

export type CreateQueue = (context: QueueContext) => JobQueue;

type QueueSource = {
  /** Called inside the commit that claims the job. */
  onClaim?(tx: Transaction, entry: QueueEntry): Promise<void>;
  /** Returns the job to its position. */
  putBack(entry: QueueEntry): Promise<void>;
  /** Called when a slot is free or about to be. */
  onSlotFree(): void;
};

/** A slot whose job is about to end, and the entry that it gets next unless another slot becomes free first. */
type EndingSlot = { place: Place; entry?: QueueEntry };

const RETRY_MS = 1000;

export function createSlots(
  { parts, running, isAccepting, run, inBackground }: QueueContext,
  { onClaim, putBack, onSlotFree }: QueueSource,
) {
  const { database, pool, log } = parts;
  const endingSlots = new Set<EndingSlot>();

  const unreservedSlots = () => [...endingSlots].filter(({ entry }) => !entry);
  const findEndingSlot = (kind: string) => unreservedSlots().find(({ place }) => pool.mayTake(kind, place.runner));

  /** One claim of an entry for a slot. `settle` returns undefined if the job could not be claimed. */
  function createClaim(entry: QueueEntry, place: Place) {
    let outcome: "untried" | "full" | Running | undefined = "untried";
    const claimed = () => (typeof outcome === "object" ? outcome : undefined);

    function undo(): void {
      const job = claimed();
      if (job) running.delete(job.id);
      outcome = "untried";
    }

    async function attempt(tx: Transaction): Promise<Running | undefined> {
      await onClaim?.(tx, entry);
      const job = await tx
        .attempt(() => claimJob(tx, parts, entry.seq, place))
        .catch((error: unknown) => {
          // If storage rejects the claim, it rejects the whole commit.
          if (asStorageFailure(error)) throw error;
          log.error({ err: error, seq: entry.seq }, "job claim failed");
          return undefined;
        });
      if (job) running.set(job.id, job);
      return job;
    }

    return {
      undo,
      async take(tx: Transaction): Promise<void> {
        undo(); // an earlier attempt at the same commit
        if (isAccepting()) outcome = (await pool.hasFreeSlot(tx, place.runner)) ? await attempt(tx) : "full";
      },
      /** Called after the commit. */
      async settle(): Promise<Running | undefined> {
        if (outcome === "full") await refresh();
        if (typeof outcome === "string") await putBack(entry);
        return claimed();
      },
    };
  }

  /** The slot stays occupied meanwhile, so that it isn't offered the same job again. */
  async function refresh(): Promise<void> {
    await pool.refresh().catch(async (error: unknown) => {
      log.warn({ err: error }, "runner refresh failed");
      await sleep(RETRY_MS);
    });
  }

  async function claimAlone(entry: QueueEntry, place: Place): Promise<Running | undefined> {
    const claim = createClaim(entry, place);
    for (;;) {
      try {
        await database.commit(claim.take);
        return await claim.settle();
      } catch (error) {
        claim.undo();
        log.error({ err: error }, "job claim failed");
        if (!isAccepting()) return undefined; // the next start enqueues it
        await sleep(RETRY_MS);
      }
    }
  }

  /** Returns the slot's next job. */
  async function runOne(job: Running, place: Place): Promise<Running | undefined> {
    const slot: EndingSlot = { place };
    let committedClaim: ReturnType<typeof createClaim> | undefined;
    const prepare = () => {
      if (!isAccepting()) return;
      endingSlots.add(slot);
      onSlotFree();
    };
    const commit = async (work: (tx: Transaction) => Promise<void>) => {
      const isPrepared = endingSlots.delete(slot);
      const claim = slot.entry && createClaim(slot.entry, place);
      try {
        await database.commit(async (tx) => {
          await work(tx);
          await claim?.take(tx);
        });
        committedClaim = claim;
      } catch (error) {
        claim?.undo();
        if (isPrepared) endingSlots.add(slot);
        throw error;
      }
    };
    const ended = run(job, { prepare, commit });
    inBackground(ended); // Logs its error. The slot continues with the next job.
    await ended.catch(() => undefined);
    endingSlots.delete(slot);
    return committedClaim ? committedClaim.settle() : slot.entry && claimAlone(slot.entry, place);
  }

  async function runJobs(place: Place, first: Running | undefined): Promise<void> {
    for (let job = first; job;) job = await runOne(job, place);
  }

  async function withSlot(runner: RunnerRow, work: (place: Place) => Promise<void>): Promise<void> {
    const place = pool.occupy(runner);
    try {
      await work(place);
    } finally {
      place.release();
      takeReserved();
      onSlotFree();
    }
  }

  /** Starts jobs that are reserved for an ending slot if another slot is free. */
  function takeReserved(): void {
    for (const slot of endingSlots) {
      const { entry } = slot;
      if (!entry || !pool.best(entry.kind, pool.free())) continue;
      slot.entry = undefined;
      inBackground(take(entry));
    }
  }

  /** Claims the job for the best free slot and runs it there. If no slot is free any more, resolves once the job is back in the queue. */
  async function take(entry: QueueEntry): Promise<void> {
    const best = pool.best(entry.kind, pool.free());
    const slot = best ? undefined : findEndingSlot(entry.kind);
    if (best && isAccepting()) inBackground(withSlot(best, async (place) => runJobs(place, await claimAlone(entry, place))));
    else if (slot) slot.entry = entry;
    else await putBack(entry);
  }

  return {
    /** Tests which kinds of jobs could start now or when a job ends; undefined if no slot is open. */
    canBegin(): ((kind: string) => boolean) | undefined {
      const free = pool.free();
      if (!isAccepting() || free.length + unreservedSlots().length === 0) return undefined;
      return (kind) => free.some(({ id }) => pool.canDo(kind, id)) || findEndingSlot(kind) !== undefined;
    },

    take,

    resume: (job: Running, runner: RunnerRow) => withSlot(runner, (place) => runJobs(place, job)),
  };
}

type WaitingFilter = { userId: number; last: number } | { seqs: readonly number[] };

export async function waitingJobs(reader: Reader, which?: WaitingFilter): Promise<(WaitingJob & { needs: number | null })[]> {
  const pending = query
    .selectFrom("jobs")
    .select(["seq", "user_id", "needs"])
    .where(isUnfinished)
    .where("state", "=", "pending")
    .where(isInOwnQueue);
  const some = !which
    ? pending
    : "seqs" in which
      ? pending.where("seq", "in", reader.dialect.numbers(which.seqs))
      : pending.where("user_id", "=", which.userId).where("seq", "<=", which.last);
  const [jobs, tried] = [await reader.rows(some.orderBy("seq")), await triedRunners(reader)];
  return jobs.map(({ seq, user_id, needs }) => ({ userId: user_id, seq, needs, kind: kindWith(needs, tried.get(seq)) }));
}
