// Takes what waits, runs at most `concurrency` jobs at once, and commits how each ends (the states are in transitions.ts).
// Guarantees: a claim is durable before a node runs; a job that was cancelled keeps nothing, whatever its worker still does;
// whatever goes wrong around a run ends that job and never the process; while the disk takes nothing, what waits goes on waiting. Background work is counted, so `stop` can wait for it.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { asStorageFailure } from "../storage-failure";
import { query } from "../store/database";
import { type EngineParts } from "./engine-parts";
import { createFairQueue } from "./fair-queue";
import { cancelRunning, failAround } from "./finish";
import { type Claimed, claimJob, createRunning, executeJob, type Running } from "./run-job";
import { move } from "./transitions";

const PAUSE_MS = 1000;

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(parts: EngineParts) {
  const { database, now, log } = parts;
  const queue = createFairQueue();
  const running = new Map<string, Running>();
  const freeSlots = Array.from({ length: parts.concurrency }, (_, index) => `slot-${index + 1}`);
  const background = new Set<Promise<void>>();
  let accepting = false;
  let rest: NodeJS.Timeout | undefined;

  /** Nothing is taken for a while: a disk that took no claim takes none a moment later. */
  function pause(): void {
    rest ??= setTimeout(() => {
      rest = undefined;
      pump();
    }, PAUSE_MS).unref();
  }

  function pump(): void {
    while (accepting && rest === undefined && freeSlots.length > 0) {
      const next = queue.take();
      const slot = next && freeSlots.shift();
      if (!next || slot === undefined) return;
      const work = runOne(next, slot)
        .catch((error: unknown) => log.error({ err: error }, "how a job ended could not be stored: the next start finds it running"))
        .finally(() => {
          background.delete(work);
          freeSlots.push(slot);
          pump();
        });
      background.add(work);
    }
  }

  async function runOne({ userId, seq }: { userId: number; seq: number }, slot: string): Promise<void> {
    let job: Claimed | undefined;
    let outputDir: string | undefined;
    try {
      job = await claim(seq, slot);
      const run = job && running.get(job.id);
      if (!job || !run) return; // cancelled while it waited
      outputDir = join(parts.folders.temp, `job-${job.id}`);
      await mkdir(outputDir, { recursive: true, mode: 0o700 });
      const again = await executeJob(parts, job, run, outputDir);
      if (again) queue.putBack(job.userId, seq);
    } catch (error) {
      log.error({ err: error, job: job?.id }, job ? "a job could not be brought to its end" : "a job could not be begun");
      const ended = job;
      if (ended) await untilStored(() => failAround(database, ended, error, now()));
      else if (asStorageFailure(error)) {
        queue.putBack(userId, seq);
        pause();
      }
    } finally {
      if (job) running.delete(job.id);
      // A worker that was ended may have had a write under way: it lands while the folder is emptied, once.
      if (outputDir !== undefined) await rm(outputDir, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
      await letGo(job);
    }
  }

  async function claim(seq: number, slot: string): Promise<Claimed | undefined> {
    let known: string | undefined;
    try {
      return await database.commit(() => {
        const claimed = claimJob(parts, seq, slot);
        // Known as running from its claim on, so that no cancel falls between waiting and running.
        if (claimed) running.set((known = claimed.id), createRunning(claimed));
        return claimed;
      });
    } catch (error) {
      if (known !== undefined) running.delete(known);
      throw error;
    }
  }

  /** A job that has ended must not be left as running because the disk is full: it is written as soon as there is room. */
  async function untilStored(write: () => void): Promise<void> {
    for (;;) {
      try {
        return await database.commit(write);
      } catch (error) {
        if (!accepting || !asStorageFailure(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  /** Assets may have been deleted while the job kept their bytes. */
  async function letGo(job: Claimed | undefined): Promise<void> {
    for (const image of job?.images ?? []) {
      await parts
        .collect(image.hash)
        .catch((error: unknown) => log.warn({ err: error, hash: image.hash }, "unused bytes stay until the next start"));
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
      clearTimeout(rest);
      await withinTime(Promise.all(background), graceMs);
      const left = [...running.values()];
      if (left.length > 0) {
        const giveBack = ({ seq, attempts }: Running) =>
          move(database, { seq, from: "in_progress", to: "pending", at: now() }, { start_time: null, slot: null, attempts: attempts - 1 });
        await database
          .commit(() => left.forEach(giveBack))
          .catch((error: unknown) => log.error({ err: error }, "running jobs could not be given back: the next start finds them running"));
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
