// Assigns waiting jobs to worker slots. A job is claimed only while its row is pending and its runner has a free slot.

import { findTriedRunners, formatKind, type WorkerSlot } from "@/lib/service/runners/pool";
import { type RunnerRow } from "@/lib/service/runners/store";
import { toStorageFailure } from "@/lib/service/service-error";
import { query, type Reader, retry, type Transaction } from "@/lib/service/store/database";
import { sleep } from "@/lib/shared/async";
import { claimJob, type Running } from "../run/claim";
import { type EngineParts, type Retries } from "../run/engine-parts";
import { isInOwnQueue, isUnfinished, type WaitingJob } from "../transitions";

export type QueueEntry = WaitingJob & { turn: number };

export type JobQueue = {
  start(): Promise<void>;
  enqueue(tx: Transaction, job: WaitingJob, isFirst?: boolean): Promise<void>;
  notifyWaiting(job: WaitingJob, isFirst?: boolean): void;
  /** The caller cancels these jobs in the store. */
  removeWaiting(userId: number, seqs: readonly number[]): Promise<void>;
  repair(): Promise<void>;
  /** Inside a commit: releases the entries that these dead processes had locked. */
  freeProcesses(tx: Transaction, processIds: readonly string[]): Promise<void>;
  slotsChanged(): void;
  resume(job: Running, runner: RunnerRow): Promise<void>;
  peekNext(): number | undefined;
  stop(): Promise<void>;
};

export type EndCommit = {
  prepare(): void;
  commit(work: (tx: Transaction) => Promise<void>): Promise<void>;
};

export type QueueContext = {
  parts: Pick<EngineParts, "database" | "pool" | "log" | "concurrency" | "now" | "processes" | "events">;
  running: Map<string, Running>;
  isAccepting(): boolean;
  untilReachable: Retries["untilReachable"];
  run(job: Running, end: EndCommit): Promise<void>;
  inBackground(work: Promise<void>): void;
};

export type CreateQueue = (context: QueueContext) => JobQueue;

type QueueSource = {
  onClaim?(tx: Transaction, entry: QueueEntry): Promise<void>;
  returnEntry(entry: QueueEntry): Promise<void>;
  onSlotFree(): void;
};

/** A slot whose job is about to end, and its next entry, unless another slot becomes free first. */
type EndingSlot = { workerSlot: WorkerSlot; entry?: QueueEntry };

const RETRY_MS = 1000;

export function createSlots(
  { parts, running, isAccepting, run, inBackground }: QueueContext,
  { onClaim, returnEntry: putBack, onSlotFree }: QueueSource,
) {
  const { database, pool, log } = parts;
  const endingSlots = new Set<EndingSlot>();

  const unreservedSlots = () => [...endingSlots].filter(({ entry }) => !entry);
  const findEndingSlot = (kind: string) => unreservedSlots().find(({ workerSlot }) => pool.mayTake(kind, workerSlot.runner));

  function createClaim(entry: QueueEntry, workerSlot: WorkerSlot) {
    let outcome: "untried" | "full" | Running | undefined = "untried";
    const getClaimed = () => (typeof outcome === "object" ? outcome : undefined);

    function undo(): void {
      const job = getClaimed();
      if (job) running.delete(job.id);
      outcome = "untried";
    }

    async function attempt(tx: Transaction): Promise<Running | undefined> {
      await onClaim?.(tx, entry);
      const job = await tx
        .attempt(() => claimJob(tx, parts, entry.seq, workerSlot))
        .catch((error: unknown) => {
          if (toStorageFailure(error)) throw error;
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
        if (isAccepting()) outcome = (await pool.hasFreeSlot(tx, workerSlot.runner)) ? await attempt(tx) : "full";
      },
      async settle(): Promise<Running | undefined> {
        if (outcome === "full") await refresh();
        if (typeof outcome === "string") await putBack(entry);
        return getClaimed();
      },
    };
  }

  /** The slot remains occupied meanwhile, so that it isn't offered the same job again. */
  async function refresh(): Promise<void> {
    await pool.refresh().catch(async (error: unknown) => {
      log.warn({ err: error }, "runner refresh failed");
      await sleep(RETRY_MS);
    });
  }

  async function claimAlone(entry: QueueEntry, workerSlot: WorkerSlot): Promise<Running | undefined> {
    const claim = createClaim(entry, workerSlot);
    const attempt = async () => {
      await database.commit(claim.take);
      return claim.settle();
    };
    const shouldRetry = (error: unknown) => {
      claim.undo();
      log.error({ err: error }, "job claim failed");
      return isAccepting();
    };
    return retry(attempt, shouldRetry).catch(() => undefined); // the next start enqueues it
  }

  async function runOne(job: Running, workerSlot: WorkerSlot): Promise<Running | undefined> {
    const endingSlot: EndingSlot = { workerSlot };
    let committedClaim: ReturnType<typeof createClaim> | undefined;
    const prepare = () => {
      if (!isAccepting()) return;
      endingSlots.add(endingSlot);
      onSlotFree();
    };
    const commit = async (work: (tx: Transaction) => Promise<void>) => {
      const isPrepared = endingSlots.delete(endingSlot);
      const claim = endingSlot.entry && createClaim(endingSlot.entry, workerSlot);
      try {
        await database.commit(async (tx) => {
          await work(tx);
          await claim?.take(tx);
        });
        committedClaim = claim;
      } catch (error) {
        claim?.undo();
        if (isPrepared) endingSlots.add(endingSlot);
        throw error;
      }
    };
    const ended = run(job, { prepare, commit });
    inBackground(ended); // Logs its error. The slot continues with the next job.
    await ended.catch(() => undefined);
    endingSlots.delete(endingSlot);
    return committedClaim ? committedClaim.settle() : endingSlot.entry && claimAlone(endingSlot.entry, workerSlot);
  }

  async function runJobs(workerSlot: WorkerSlot, first: Running | undefined): Promise<void> {
    for (let job = first; job;) job = await runOne(job, workerSlot);
  }

  async function withSlot(runner: RunnerRow, work: (workerSlot: WorkerSlot) => Promise<void>): Promise<void> {
    const workerSlot = pool.occupySlot(runner);
    try {
      await work(workerSlot);
    } finally {
      workerSlot.release();
      takeReserved();
      onSlotFree();
    }
  }

  function takeReserved(): void {
    for (const slot of endingSlots) {
      const { entry } = slot;
      if (!entry || !pool.best(entry.kind, pool.free())) continue;
      slot.entry = undefined;
      inBackground(take(entry));
    }
  }

  async function take(entry: QueueEntry): Promise<void> {
    const freeRunner = pool.best(entry.kind, pool.free());
    const slot = freeRunner ? undefined : findEndingSlot(entry.kind);
    if (freeRunner && isAccepting())
      inBackground(withSlot(freeRunner, async (workerSlot) => runJobs(workerSlot, await claimAlone(entry, workerSlot))));
    else if (slot) slot.entry = entry;
    else await putBack(entry);
  }

  return {
    /** Returns a test for the kinds of jobs that can start now or when a job ends. Undefined if no slot is open. */
    canBegin(): ((kind: string) => boolean) | undefined {
      const freeRunners = pool.free();
      if (!isAccepting() || freeRunners.length + unreservedSlots().length === 0) return undefined;
      return (kind) => freeRunners.some(({ id }) => pool.canDo(kind, id)) || findEndingSlot(kind) !== undefined;
    },

    take,

    resume: (job: Running, runner: RunnerRow) => withSlot(runner, (workerSlot) => runJobs(workerSlot, job)),
  };
}

/** Without `seqs`, returns all waiting jobs. */
export async function listWaitingJobs(reader: Reader, seqs?: readonly number[]): Promise<(WaitingJob & { needs: number | null })[]> {
  const pending = query
    .selectFrom("jobs")
    .select(["seq", "user_id", "needs"])
    .where(isUnfinished)
    .where("state", "=", "pending")
    .where(isInOwnQueue);
  const selected = seqs ? pending.where("seq", "in", reader.dialect.numbers(seqs)) : pending;
  const [jobs, triedByJob] = [await reader.rows(selected.orderBy("seq")), await findTriedRunners(reader)];
  return jobs.map(({ seq, user_id, needs }) => ({ userId: user_id, seq, needs, kind: formatKind(needs, triedByJob.get(seq)) }));
}
