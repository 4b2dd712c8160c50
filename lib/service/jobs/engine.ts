// Takes what waits, runs at most `concurrency` jobs at once, and commits how each ends together with the claim of the next one
// (the states are in transitions.ts).
// Guarantees: a claim is durable before a node runs; a job that was cancelled keeps nothing, whatever its worker still does;
// whatever goes wrong around a run ends that job and never the process; while the disk takes nothing, what waits goes on waiting. Background work is counted, so `stop` can wait for it.

import { blobPath } from "../assets/blob-path";
import { asStorageFailure } from "../storage-failure";
import { query } from "../store/database";
import { type Claimed, type Running } from "./claim";
import { type EngineParts } from "./engine-parts";
import { createFairQueue, type FairQueue } from "./fair-queue";
import { cancelRunning, failAround } from "./finish";
import { createNextClaim, type NextClaim } from "./next-claim";
import { executeJob } from "./run-job";
import { isUnfinished, move } from "./transitions";
import { createWorkFolders } from "./work-folders";

const PAUSE_MS = 1000;

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(parts: EngineParts) {
  const { database, now, log } = parts;
  const queue = createFairQueue();
  const running = new Map<string, Running>();
  const freeSlots = Array.from({ length: parts.concurrency }, (_, index) => `slot-${index + 1}`);
  const background = new Set<Promise<void>>();
  const workFolders = createWorkFolders(parts.folders.work);
  /** Slots that are about to take a job. */
  let asking = 0;
  let accepting = false;
  let rest: NodeJS.Timeout | undefined;

  /** Nothing is taken for a while: a disk that took no claim takes none a moment later. */
  function pause(): void {
    rest ??= setTimeout(() => {
      rest = undefined;
      pump();
    }, PAUSE_MS).unref();
  }

  /** Counted, so that `stop` can wait for it. */
  function inBackground(work: Promise<void>): void {
    const counted = work
      .catch((error: unknown) => log.error({ err: error }, "how a job ended could not be stored: the next start finds it running"))
      .finally(() => background.delete(counted));
    background.add(counted);
  }

  function pump(): void {
    // A slot that asks for a job finds one: no more of them ask than jobs wait.
    while (mayTake() && asking < queue.size()) {
      const slot = freeSlots.shift();
      if (slot === undefined) return;
      inBackground(
        serve(slot).finally(() => {
          freeSlots.push(slot);
          pump();
        }),
      );
    }
  }

  const mayTake = () => accepting && rest === undefined;

  /** Runs one job after the other until none waits. */
  async function serve(slot: string): Promise<void> {
    let job = await claimAlone(slot);
    while (job) {
      const next = createNextClaim({ parts, queue, running, mayTake }, slot);
      await runOne(job, next);
      job = next.job() ?? (await claimAlone(slot));
    }
  }

  async function claimAlone(slot: string): Promise<Claimed | undefined> {
    if (queue.size() === 0) return undefined;
    const claim = createNextClaim({ parts, queue, running, mayTake }, slot);
    asking += 1;
    try {
      await claim.keepIf(database.commit(claim.take));
    } catch (error) {
      log.error({ err: error }, "no job could be begun");
      pause();
    } finally {
      asking -= 1;
    }
    return claim.job();
  }

  async function runOne(job: Claimed, next: NextClaim): Promise<void> {
    const run = running.get(job.id);
    if (!run) return;
    let outputDir: string | undefined;
    let isClean = false;
    try {
      outputDir = await workFolders.take();
      const execution = await executeJob(parts, { job, running: run, outputDir, next, nextImage: imageOfNext(parts, queue) });
      isClean = execution.isClean;
      if (execution.waits) queue.putBack(job.userId, job.seq);
    } catch (error) {
      log.error({ err: error, job: job.id }, "a job could not be brought to its end");
      await untilStored(() => failAround(database, job, error, now()));
    } finally {
      running.delete(job.id);
      run.teller.ended(database);
      inBackground(tidyUp(job, outputDir, isClean ? run.record.files.map(({ path }) => path) : undefined));
    }
  }

  /** The slot does not wait for it. */
  async function tidyUp(job: Claimed, outputDir: string | undefined, files: readonly string[] | undefined): Promise<void> {
    if (outputDir !== undefined) await workFolders.giveBack(outputDir, files);
    await letGo(job);
  }

  /** A job that has ended must not be left as running because the disk is full: it is written as soon as there is room. */
  async function untilStored(write: () => void): Promise<void> {
    for (;;) {
      try {
        return await database.commitFreeing(write);
      } catch (error) {
        if (!accepting || !asStorageFailure(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  /** Assets may have been deleted while the job kept their bytes. */
  async function letGo(job: Claimed): Promise<void> {
    for (const image of job.images) {
      await parts
        .collect(image.hash)
        .catch((error: unknown) => log.warn({ err: error, hash: image.hash }, "unused bytes stay until the next start"));
    }
  }

  return {
    /** Loads what waits and begins; afterwards `submitted` tells of each new job. */
    start(): void {
      accepting = true;
      const waiting = query.selectFrom("jobs").select(["seq", "user_id"]).where("state", "=", "pending").where(isUnfinished).orderBy("seq");
      for (const job of database.rows(waiting)) queue.add(job.user_id, job.seq);
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
      if (targets.length === 0) return [];
      const cancelled = await database.commitFreeing(() => targets.filter((run) => cancelRunning(database, run, run.record, now())));
      for (const run of cancelled) {
        run.cancel();
        run.teller.ended(database);
      }
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
          .commitFreeing(() => left.forEach(giveBack))
          .catch((error: unknown) => log.error({ err: error }, "running jobs could not be given back: the next start finds them running"));
        for (const run of left) run.cancel();
      }
      await parts.runner.stop();
      while (background.size > 0) await Promise.all(background);
    },
  };
}

async function withinTime(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}

/**
 * The image file that the job will read that is served next, told to the worker so that it is decoded while another job runs. A guess that
 * costs nothing when it is wrong. With several slots the cores have work already, and it is not known which of them serves that job.
 */
function imageOfNext({ database, blobs, concurrency, log }: EngineParts, queue: FairQueue): string | undefined {
  const seq = concurrency === 1 ? queue.peek() : undefined;
  if (seq === undefined) return undefined;
  try {
    const image = database.row(query.selectFrom("job_images").select("hash").where("job_seq", "=", seq).limit(1));
    return image && blobPath(blobs.folder, image.hash);
  } catch (error) {
    log.warn({ err: error, seq }, "the images of a job that waits could not be read");
    return undefined;
  }
}
