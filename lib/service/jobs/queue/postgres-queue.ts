// The queue in a PostgreSQL shared by several processes (decision 63). Entries are hints; only a claim on a pending job's row counts.

import { type Pool } from "pg";
import { z } from "zod";
import { type ServiceLog } from "@/lib/service/options";
import { parseKind } from "@/lib/service/runners/pool";
import { type Processes } from "@/lib/service/store/processes";
import { toStoreError } from "@/lib/shared/database/postgres";
import { type CreateQueue, createSlots, type JobQueue, listWaitingJobs, type QueueContext } from "./job-queue";
import { enqueueAll, findSeqsWithoutEntry, freeWorkers, removeEntries, removeStale, storeTurn } from "./queue-entries";
import { createQueueWorker, migrateQueue, openQueuePool } from "./queue-worker";

/** Kinds are collected from entries. Above this number, the set is cleared. */
const MAX_KINDS = 1000;

const entrySchema = z.object({ seq: z.number(), userId: z.number(), kind: z.string(), turn: z.number() });

function createPostgresQueue(context: QueueContext, { pgPool, processes }: { pgPool: Pool; processes: Processes }): JobQueue {
  const { inBackground, isAccepting, untilReachable } = context;
  const { database, pool, log } = context.parts;
  const kinds = new Set<string>();
  const slots = createSlots(context, {
    onClaim: (tx, { turn }) => storeTurn(tx, turn),
    returnEntry: (entry) => untilReachable(() => database.commitFreeing((tx) => enqueueAll(tx, [entry], entry.turn))),
    onSlotFree: () => worker.wakeUp(),
  });
  const worker = createQueueWorker({ pgPool, processes, database, log }, { kindsToSkip, take });

  function kindsToSkip(): string[] | undefined {
    const canBegin = slots.canBegin();
    return canBegin && [...kinds].filter((kind) => !canBegin(kind));
  }

  async function take(payload: unknown): Promise<void> {
    const parsed = entrySchema.safeParse(payload);
    if (!parsed.success) return log.error({ payload }, "queue entry invalid");
    const { kind } = parsed.data;
    if (kinds.size >= MAX_KINDS) kinds.clear();
    kinds.add(kind);
    // If this fails, no slot matches and the entry is returned.
    await untilReachable(() => pool.loadNeeds([parseKind(kind).needs])).catch(() => undefined);
    // Awaited, because the next search must find a returned entry, not the one after it.
    const takePromise = slots.take(parsed.data);
    inBackground(takePromise);
    await takePromise.catch(() => undefined); // logged there
  }

  /** Adds missing entries for waiting jobs and removes stale ones. Works in batches, so that other commits can run in between. */
  async function repair(): Promise<void> {
    await database.commitFreeing(removeStale);
    let last: number | undefined = 0;
    while (last !== undefined && isAccepting()) last = await enqueueMissing(last);
  }

  function enqueueMissing(last: number): Promise<number | undefined> {
    return database.commitFreeing(async (tx) => {
      const missing = await findSeqsWithoutEntry(tx, last);
      if (missing.length > 0) await enqueueAll(tx, await listWaitingJobs(tx, missing));
      return missing.at(-1);
    });
  }

  return {
    start() {
      inBackground(untilReachable(repair));
      worker.start();
      return Promise.resolve();
    },
    enqueue: (tx, job, isFirst) => enqueueAll(tx, [job], isFirst ? "first" : undefined),
    notifyWaiting: ({ kind }) => worker.notifyKind(kind),
    removeWaiting: (userId, seqs) => database.commitFreeing((tx) => removeEntries(tx, userId, seqs)),
    repair,
    freeProcesses: freeWorkers,
    slotsChanged: worker.wakeUp,
    resume: slots.resume,
    peekNext: () => undefined,
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
