// The queue in PostgreSQL, shared by several processes (decision 63). Entries are hints. Only a claim on a pending job's row counts.

import { type Pool } from "pg";
import { z } from "zod";
import { type ServiceLog } from "@/lib/service/options";
import { parseKind } from "@/lib/service/runners/pool";
import { type Processes } from "@/lib/service/store/processes";
import { toStoreError } from "@/lib/shared/database/postgres";
import { type CreateQueue, createSlots, type JobQueue, listWaitingJobs, type QueueContext } from "./job-queue";
import { enqueueAll, findSeqsWithoutEntry, removeEntries, removeStaleEntries, storeTurn, unlockWorkers } from "./queue-entries";
import { createQueueWorker, migrateQueue, openQueuePool } from "./queue-worker";

/** Kinds are collected from entries. Above this number, the set is cleared. */
const MAX_KINDS = 1000;

const entrySchema = z.object({ seq: z.number(), userId: z.number(), kind: z.string(), turn: z.number() });

function createPostgresQueue(context: QueueContext, { pgPool, processes }: { pgPool: Pool; processes: Processes }): JobQueue {
  const { runInBackground, isAccepting, retryUntilReachable } = context;
  const { database, pool, log } = context.dependencies;
  const kinds = new Set<string>();
  const slots = createSlots(context, {
    onClaim: (tx, { turn }) => storeTurn(tx, turn),
    returnEntry: (entry) => retryUntilReachable(() => database.commitWithReserve((tx) => enqueueAll(tx, [entry], entry.turn))),
    onSlotFree: () => worker.wakeUp(),
  });
  const worker = createQueueWorker({ pgPool, processes, database, log }, { getKindsToSkip, handleEntry });

  function getKindsToSkip(): string[] | undefined {
    const canStart = slots.getStartFilter();
    return canStart && [...kinds].filter((kind) => !canStart(kind));
  }

  async function handleEntry(payload: unknown): Promise<void> {
    const result = entrySchema.safeParse(payload);
    if (!result.success) return log.error({ payload }, "queue entry invalid");
    const { kind } = result.data;
    if (kinds.size >= MAX_KINDS) kinds.clear();
    kinds.add(kind);
    // If this fails, no slot matches and the entry is returned.
    await retryUntilReachable(() => pool.loadNeeds([parseKind(kind).needs])).catch(() => undefined);
    // Await this: the next search must find a returned entry before later ones.
    const assignment = slots.assignEntry(result.data);
    runInBackground(assignment);
    await assignment.catch(() => undefined); // logged by runInBackground
  }

  /** Adds missing entries for waiting jobs and removes stale ones. Works in batches, so that other commits can run in between. */
  async function repair(): Promise<void> {
    await database.commitWithReserve(removeStaleEntries);
    let lastSeq: number | undefined = 0;
    while (lastSeq !== undefined && isAccepting()) lastSeq = await enqueueMissing(lastSeq);
  }

  function enqueueMissing(afterSeq: number): Promise<number | undefined> {
    return database.commitWithReserve(async (tx) => {
      const missingSeqs = await findSeqsWithoutEntry(tx, afterSeq);
      if (missingSeqs.length > 0) await enqueueAll(tx, await listWaitingJobs(tx, missingSeqs));
      return missingSeqs.at(-1);
    });
  }

  return {
    start() {
      runInBackground(retryUntilReachable(repair));
      worker.start();
      return Promise.resolve();
    },
    enqueue: (tx, job, isFirst) => enqueueAll(tx, [job], isFirst ? "first" : undefined),
    notifyWaiting: ({ kind }) => worker.notifyKind(kind),
    removeWaiting: (userId, seqs) => database.commitWithReserve((tx) => removeEntries(tx, userId, seqs)),
    repair,
    releaseProcesses: unlockWorkers,
    handleSlotsChanged: worker.wakeUp,
    resume: slots.resume,
    stop: worker.stop,
  };
}

export type SharedQueue = { create: CreateQueue; close(): Promise<void> };

export async function openSharedQueue(url: string, processes: Processes, log: ServiceLog): Promise<SharedQueue> {
  const pgPool = await openQueuePool(url);
  try {
    await migrateQueue(pgPool, log);
  } catch (error) {
    await pgPool.end();
    throw toStoreError(error);
  }
  return { create: (context) => createPostgresQueue(context, { pgPool, processes }), close: () => pgPool.end() };
}
