// Takes what waits, runs at most `concurrency` jobs at once, and commits how each ends (the states are in transitions.ts).
// Guarantees: a claim is durable before a node runs; a job that was cancelled keeps nothing, whatever its worker still does;
// whatever goes wrong around a run ends that job and never the process. Background work is counted, so `stop` can wait for it.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { query } from "../store/database";
import { type EngineParts } from "./engine-parts";
import { createFairQueue } from "./fair-queue";
import { cancelRunning } from "./finish";
import { type Claimed, claimJob, createRunning, executeJob, type Running } from "./run-job";
import { move } from "./transitions";

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(parts: EngineParts) {
  const { database, now, log } = parts;
  const queue = createFairQueue();
  const running = new Map<string, Running>();
  const freeSlots = Array.from({ length: parts.concurrency }, (_, index) => `slot-${index + 1}`);
  const background = new Set<Promise<void>>();
  let accepting = false;

  function pump(): void {
    while (accepting && freeSlots.length > 0) {
      const next = queue.take();
      const slot = next && freeSlots.shift();
      if (!next || slot === undefined) return;
      const work = runOne(next.seq, slot).finally(() => {
        background.delete(work);
        freeSlots.push(slot);
        pump();
      });
      background.add(work);
    }
  }

  async function runOne(seq: number, slot: string): Promise<void> {
    let job: Claimed | undefined;
    try {
      job = await database.commit(() => {
        const claimed = claimJob(database, seq, slot, now());
        // Known as running from its claim on, so that no cancel falls between waiting and running.
        if (claimed) running.set(claimed.id, createRunning(claimed));
        return claimed;
      });
      const run = job && running.get(job.id);
      if (!job || !run) return; // cancelled while it waited
      const outputDir = join(parts.folders.temp, `job-${job.id}`);
      try {
        await mkdir(outputDir, { recursive: true, mode: 0o700 });
        const again = await executeJob(parts, job, run, outputDir);
        if (again) queue.putBack(job.userId, seq);
      } finally {
        running.delete(job.id);
        // A worker that was ended may have had a write under way: it lands while the folder is emptied, once.
        await rm(outputDir, { recursive: true, force: true, maxRetries: 5 });
      }
    } catch (error) {
      log.error({ err: error, job: job?.id }, "a job could not be brought to its end");
    }
  }

  return {
    /** Loads what waits and begins; afterwards `submitted` tells of each new job. */
    start(): void {
      accepting = true;
      for (const job of database.rows(query.selectFrom("jobs").select(["seq", "user_id"]).where("state", "=", "pending").orderBy("seq")))
        queue.add(job.user_id, job.seq);
      pump();
    },

    submitted(userId: number, seq: number): void {
      queue.add(userId, seq);
      pump();
    },

    /** These pending jobs of the user (all, when absent) are cancelled in the store, or will be at once. */
    forgetPending: (userId: number, seqs?: readonly number[]) => queue.forget(userId, seqs),

    progressOf: (jobId: string) => running.get(jobId)?.record.progress(),

    /** Cancels those of `jobIds` (all of the user's, when absent) that run now; returns the ids that were really cancelled. */
    async cancelRunning(userId: number, jobIds?: readonly string[]): Promise<string[]> {
      const targets = [...running.values()].filter((run) => run.userId === userId && (jobIds === undefined || jobIds.includes(run.id)));
      const cancelled = await database.commit(() => targets.filter((run) => cancelRunning(database, run, run.record, now())));
      for (const run of cancelled) run.cancel();
      return cancelled.map((run) => run.id);
    },

    /** Lets short jobs end within `graceMs`; the rest goes back to pending, its attempt not held against it. */
    async stop(graceMs: number): Promise<void> {
      accepting = false;
      await withinTime(Promise.all(background), graceMs);
      const left = [...running.values()];
      if (left.length > 0) {
        await database.commit(() => {
          for (const run of left) {
            move(
              database,
              { seq: run.seq, from: "in_progress", to: "pending", at: now() },
              { start_time: null, slot: null, attempts: run.attempts - 1 },
            );
          }
        });
        for (const run of left) run.cancel();
      }
      await parts.runner.stop();
      await Promise.all(background);
    },
  };
}

async function withinTime(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
