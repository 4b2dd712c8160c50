// The queue in a PostgreSQL that several processes share (decision 63). An entry is a hint: a claim counts only while the job's row waits.

import { type Pool } from "pg";
import { z } from "zod";
import { type ServiceLog } from "@/lib/service/options";
import { readKind } from "@/lib/service/runners/pool";
import { type Processes } from "@/lib/service/store/processes";
import { toStoreError } from "@/lib/shared/database/postgres";
import { type CreateQueue, createSlots, type JobQueue, type QueueContext, waitingJobs } from "./job-queue";
import {
  beginClearing,
  endClearing,
  enqueueAll,
  freeWorkers,
  removeEntries,
  removeStale,
  seqsWithoutEntry,
  tookTurn,
} from "./queue-entries";
import { createQueueWorker, migrateQueue, openQueuePool } from "./queue-worker";

/** Kinds are learnt as jobs of them come by; when there are too many, all are learnt anew. */
const MAX_KINDS = 1000;

const entrySchema = z.object({ seq: z.number(), userId: z.number(), kind: z.string(), turn: z.number() });

function createPostgresQueue(context: QueueContext, { pgPool, processes }: { pgPool: Pool; processes: Processes }): JobQueue {
  const { inBackground, mayTake, untilThere } = context;
  const { database, pool, log } = context.parts;
  const kinds = new Set<string>();
  const slots = createSlots(context, {
    took: (tx, { turn }) => tookTurn(tx, turn),
    putBack: (entry) => untilThere(() => database.commitFreeing((tx) => enqueueAll(tx, [entry], entry.turn))),
    opened: () => worker.nudge(),
  });
  const worker = createQueueWorker({ pgPool, processes, database, log }, { kindsToSkip, take });

  function kindsToSkip(): string[] | undefined {
    const canBegin = slots.canBegin();
    return canBegin && [...kinds].filter((kind) => !canBegin(kind));
  }

  async function take(payload: unknown): Promise<void> {
    const read = entrySchema.safeParse(payload);
    if (!read.success) return log.error({ payload }, "an entry of the queue cannot be read");
    const { kind } = read.data;
    if (kinds.size >= MAX_KINDS) kinds.clear();
    kinds.add(kind);
    // Otherwise no slot is known to suit it, and it goes back.
    await untilThere(() => pool.know([readKind(kind).needs])).catch(() => undefined);
    slots.take(read.data);
  }

  /** Makes entries for jobs that wait without one, and removes entries of jobs that no longer wait. In pieces, since others commit too. */
  async function repair(): Promise<void> {
    await database.commitFreeing(removeStale);
    let last: number | undefined = 0;
    while (last !== undefined && mayTake()) last = await mendAfter(last);
  }

  /** Returns the last job of the piece; undefined if there are no more. */
  function mendAfter(last: number): Promise<number | undefined> {
    return database.commitFreeing(async (tx) => {
      const lost = await seqsWithoutEntry(tx, last);
      if (lost.length > 0) await enqueueAll(tx, await waitingJobs(tx, { seqs: lost }));
      return lost.at(-1);
    });
  }

  return {
    start() {
      inBackground(untilThere(repair));
      worker.start();
      return Promise.resolve();
    },
    enqueue: (tx, job, isFirst) => enqueueAll(tx, [job], isFirst ? "first" : undefined),
    waits: ({ kind }) => worker.came(kind),
    forget: (userId, seqs) =>
      database.commitFreeing((tx) => (seqs ? removeEntries(tx, userId, seqs) : beginClearing(tx, userId, processes.id))),
    waitAgain(userId) {
      const end = () => database.commitFreeing((tx) => endClearing(tx, userId));
      inBackground(untilThere(end).then(() => untilThere(repair)));
      return Promise.resolve();
    },
    repair,
    takeBack: freeWorkers,
    changed: worker.nudge,
    resume: slots.resume,
    guess: () => undefined,
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
