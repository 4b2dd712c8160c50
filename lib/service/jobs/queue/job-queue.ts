// Assigns waiting jobs to worker slots. A job is claimed only while its row is pending and its runner has a free slot.

import { findTriedRunners, formatKind, type WorkerSlot } from "@/lib/service/runners/pool";
import { type RunnerRow } from "@/lib/service/runners/store";
import { toStorageFailure } from "@/lib/service/service-error";
import { query, type Reader, retry, type Transaction } from "@/lib/service/store/database";
import { sleep } from "@/lib/shared/async";
import { type ActiveRun, claimJob } from "../run/claim";
import { type EngineDependencies, type Retries } from "../run/engine-dependencies";
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
  releaseProcesses(tx: Transaction, processIds: readonly string[]): Promise<void>;
  handleSlotsChanged(): void;
  resume(job: ActiveRun, runner: RunnerRow): Promise<void>;
  stop(): Promise<void>;
};

export type EndCommit = {
  prepare(): void;
  commit(write: (tx: Transaction) => Promise<void>): Promise<void>;
};

export type QueueContext = {
  dependencies: Pick<EngineDependencies, "database" | "pool" | "log" | "concurrency" | "now" | "processes" | "events">;
  activeRuns: Map<string, ActiveRun>;
  isAccepting(): boolean;
  retryUntilReachable: Retries["retryUntilReachable"];
  run(job: ActiveRun, endCommit: EndCommit): Promise<void>;
  runInBackground(promise: Promise<void>): void;
};

export type CreateQueue = (context: QueueContext) => JobQueue;

type QueueSource = {
  onClaim?(tx: Transaction, entry: QueueEntry): Promise<void>;
  returnEntry(entry: QueueEntry): Promise<void>;
  onSlotFree(): void;
};

/** A slot whose job is about to end, and the entry reserved for it, unless another slot becomes free first. */
type EndingSlot = { workerSlot: WorkerSlot; entry?: QueueEntry };

const RETRY_MS = 1000;

export function createSlots(
  { dependencies, activeRuns, isAccepting, run, runInBackground }: QueueContext,
  { onClaim, returnEntry, onSlotFree }: QueueSource,
) {
  const { database, pool, log } = dependencies;
  const endingSlots = new Set<EndingSlot>();

  const listUnreservedSlots = () => [...endingSlots].filter(({ entry }) => !entry);
  const findEndingSlot = (kind: string) => listUnreservedSlots().find(({ workerSlot }) => pool.canAssign(kind, workerSlot.runner));

  function createClaim(entry: QueueEntry, workerSlot: WorkerSlot) {
    let outcome: "untried" | "full" | ActiveRun | undefined = "untried";
    const getClaimedRun = () => (typeof outcome === "object" ? outcome : undefined);

    function undo(): void {
      const job = getClaimedRun();
      if (job) activeRuns.delete(job.id);
      outcome = "untried";
    }

    async function attempt(tx: Transaction): Promise<ActiveRun | undefined> {
      await onClaim?.(tx, entry);
      const job = await tx
        .runInSavepoint(() => claimJob(tx, dependencies, entry.seq, workerSlot))
        .catch((error: unknown) => {
          if (toStorageFailure(error)) throw error;
          log.error({ err: error, seq: entry.seq }, "job claim failed");
          return undefined;
        });
      if (job) activeRuns.set(job.id, job);
      return job;
    }

    return {
      undo,
      async acquire(tx: Transaction): Promise<void> {
        undo(); // of an earlier attempt at the same commit
        if (isAccepting()) outcome = (await pool.hasFreeSlot(tx, workerSlot.runner)) ? await attempt(tx) : "full";
      },
      async settle(): Promise<ActiveRun | undefined> {
        if (outcome === "full") await refreshRunners();
        if (typeof outcome === "string") await returnEntry(entry);
        return getClaimedRun();
      },
    };
  }

  /** The slot remains occupied meanwhile, so that it isn't offered the same job again. */
  async function refreshRunners(): Promise<void> {
    await pool.refresh().catch(async (error: unknown) => {
      log.warn({ err: error }, "runner refresh failed");
      await sleep(RETRY_MS);
    });
  }

  async function claimEntry(entry: QueueEntry, workerSlot: WorkerSlot): Promise<ActiveRun | undefined> {
    const claim = createClaim(entry, workerSlot);
    const attempt = async () => {
      await database.commit(claim.acquire);
      return claim.settle();
    };
    const shouldRetry = (error: unknown) => {
      claim.undo();
      log.error({ err: error }, "job claim failed");
      return isAccepting();
    };
    return retry(attempt, shouldRetry).catch(() => undefined); // the next start enqueues it
  }

  async function runJob(job: ActiveRun, workerSlot: WorkerSlot): Promise<ActiveRun | undefined> {
    const endingSlot: EndingSlot = { workerSlot };
    let committedClaim: ReturnType<typeof createClaim> | undefined;
    const prepare = () => {
      if (!isAccepting()) return;
      endingSlots.add(endingSlot);
      onSlotFree();
    };
    const commit = async (write: (tx: Transaction) => Promise<void>) => {
      const isPrepared = endingSlots.delete(endingSlot);
      const claim = endingSlot.entry && createClaim(endingSlot.entry, workerSlot);
      try {
        await database.commit(async (tx) => {
          await write(tx);
          await claim?.acquire(tx);
        });
        committedClaim = claim;
      } catch (error) {
        claim?.undo();
        if (isPrepared) endingSlots.add(endingSlot);
        throw error;
      }
    };
    const runPromise = run(job, { prepare, commit });
    runInBackground(runPromise); // Logs its error. The slot continues with the next job.
    await runPromise.catch(() => undefined);
    endingSlots.delete(endingSlot);
    return committedClaim ? committedClaim.settle() : endingSlot.entry && claimEntry(endingSlot.entry, workerSlot);
  }

  async function runJobs(workerSlot: WorkerSlot, firstJob: ActiveRun | undefined): Promise<void> {
    for (let job = firstJob; job;) job = await runJob(job, workerSlot);
  }

  async function withSlot(runner: RunnerRow, callback: (workerSlot: WorkerSlot) => Promise<void>): Promise<void> {
    const workerSlot = pool.occupySlot(runner);
    try {
      await callback(workerSlot);
    } finally {
      workerSlot.release();
      assignReservedEntries();
      onSlotFree();
    }
  }

  function assignReservedEntries(): void {
    for (const endingSlot of endingSlots) {
      const { entry } = endingSlot;
      if (!entry || !pool.findBest(entry.kind, pool.listFreeRunners())) continue;
      endingSlot.entry = undefined;
      runInBackground(assignEntry(entry));
    }
  }

  async function assignEntry(entry: QueueEntry): Promise<void> {
    const freeRunner = pool.findBest(entry.kind, pool.listFreeRunners());
    const endingSlot = freeRunner ? undefined : findEndingSlot(entry.kind);
    if (freeRunner && isAccepting())
      runInBackground(withSlot(freeRunner, async (workerSlot) => runJobs(workerSlot, await claimEntry(entry, workerSlot))));
    else if (endingSlot) endingSlot.entry = entry;
    else await returnEntry(entry);
  }

  return {
    /** Returns a filter for the kinds of jobs that can start now or when a job ends. Undefined if no slot is open. */
    getStartFilter(): ((kind: string) => boolean) | undefined {
      const freeRunners = pool.listFreeRunners();
      if (!isAccepting() || freeRunners.length + listUnreservedSlots().length === 0) return undefined;
      return (kind) => freeRunners.some(({ id }) => pool.canDo(kind, id)) || findEndingSlot(kind) !== undefined;
    },

    assignEntry,

    resume: (job: ActiveRun, runner: RunnerRow) => withSlot(runner, (workerSlot) => runJobs(workerSlot, job)),
  };
}

/** Without `seqs`, returns all waiting jobs. */
export async function listWaitingJobs(reader: Reader, seqs?: readonly number[]): Promise<(WaitingJob & { needs: number | null })[]> {
  const pendingJobs = query
    .selectFrom("jobs")
    .select(["seq", "user_id", "needs"])
    .where(isUnfinished)
    .where("state", "=", "pending")
    .where(isInOwnQueue);
  const selectedJobs = seqs ? pendingJobs.where("seq", "in", reader.dialect.numbers(seqs)) : pendingJobs;
  const [jobs, triedRunnersByJob] = [await reader.rows(selectedJobs.orderBy("seq")), await findTriedRunners(reader)];
  return jobs.map(({ seq, user_id, needs }) => ({ userId: user_id, seq, needs, kind: formatKind(needs, triedRunnersByJob.get(seq)) }));
}
