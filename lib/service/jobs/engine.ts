// Takes what waits, gives it to the runners as they have slots free, and commits how each ends together with the claim of the next one
// (the states are in transitions.ts).
// Guarantees: a claim is durable before a node runs; a job that was cancelled keeps nothing, whatever its worker still does;
// whatever goes wrong around a run ends that job and never the process; while the disk takes nothing, what waits goes on waiting. Background work is counted, so `stop` can wait for it.

import { blobPath } from "../assets/blob-path";
import { asStorageFailure } from "../storage-failure";
import { query } from "../store/database";
import { BUILT_IN_RUNNER } from "@/lib/contract/runners";
import { endAttempt } from "../runners/attempts";
import { kindOf, type Place } from "../runners/pool";
import { clearAway } from "../runners/whereabouts";
import { type Claimed, createRunning, resumeJob, type Running } from "./claim";
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
  const { database, now, log, pool } = parts;
  const queue = createFairQueue();
  const running = new Map<string, Running>();
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
    while (mayTake()) {
      const free = pool.free();
      const canBegin = (kind: string) => free.some(({ id }) => pool.canDo(kind, id));
      // A slot that asks for a job finds one: no more of them ask than jobs wait.
      const next = free.length > 0 && asking < queue.size(canBegin) ? queue.peek(canBegin) : undefined;
      const runner = next && pool.best(next.kind, free);
      if (!runner) return;
      const place = pool.occupy(runner);
      inBackground(
        serve(place).finally(() => {
          place.release();
          pump();
        }),
      );
    }
  }

  const mayTake = () => accepting && rest === undefined;

  /** Runs one job after the other until none waits. */
  async function serve(place: Place, first?: Claimed): Promise<void> {
    let job = first ?? (await claimAlone(place));
    while (job) {
      const next = createNextClaim({ parts, queue, running, mayTake }, place);
      await runOne(job, next);
      job = next.job() ?? (await claimAlone(place));
    }
  }

  async function claimAlone(place: Place): Promise<Claimed | undefined> {
    if (queue.size() === 0) return undefined;
    const claim = createNextClaim({ parts, queue, running, mayTake }, place);
    asking += 1;
    try {
      await claim.keepIf(database.commit(claim.take));
    } catch (error) {
      log.error({ err: error }, "no job could be begun");
      pause();
    } finally {
      asking -= 1;
      // What came while this slot asked was taken for the one that it asks for.
      pump();
    }
    return claim.job();
  }

  /** What was sent to a runner before the service started, and has not ended here. */
  async function resume(seq: number): Promise<void> {
    const job = await database.commit(() => resumeJob(parts, seq));
    if (!job?.remote) return;
    running.set(job.id, createRunning(job, parts.events));
    const place = pool.occupy(job.remote.runner);
    try {
      const next = createNextClaim({ parts, queue, running, mayTake }, place);
      await runOne(job, next);
      const another = next.job();
      if (another) await serve(place, another);
    } finally {
      place.release();
      pump();
    }
  }

  /** At once; the rounds look again, since what was just sent may arrive later. */
  async function clearCancelled({ runner, attempt }: NonNullable<Claimed["remote"]>): Promise<void> {
    const open = database.row(
      query.selectFrom("attempts").selectAll().where("job_seq", "=", attempt.seq).where("number", "=", attempt.number),
    );
    if (open) await clearAway(runner.address ?? "", { promptId: open.prompt_id, clientId: open.client_id });
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
      if (execution.waits) {
        queue.putBack(job.userId, job.seq, kindOf(database, job));
        // Perhaps for another runner than this slot's.
        setImmediate(pump);
      }
    } catch (error) {
      log.error({ err: error, job: job.id }, "a job could not be brought to its end");
      await untilStored(() => {
        if (failAround(database, job, error, now()) && job.remote) endAttempt(database, job, "lost", now());
      });
    } finally {
      running.delete(job.id);
      // It may have been set aside for how the job ended.
      if (job.remote) pool.refresh();
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
      const columns = ["seq", "user_id", "needs", "attempts"] as const;
      const unfinished = query.selectFrom("jobs").select(columns).where(isUnfinished).orderBy("seq");
      for (const job of database.rows(unfinished.where("state", "=", "pending"))) queue.add(job.user_id, job.seq, kindOf(database, job));
      for (const { seq } of database.rows(unfinished.where("state", "=", "in_progress"))) inBackground(resume(seq));
      pump();
    },

    submitted(userId: number, seq: number, needs: number | null): void {
      queue.add(userId, seq, `${needs ?? ""}|`);
      pump();
    },

    /** Something about the runners has changed. */
    runnersChanged(): void {
      pool.refresh();
      pump();
    },

    /** These pending jobs of the user (all, when absent) are cancelled in the store, or will be at once. */
    forgetPending: (userId: number, seqs?: readonly number[]) => queue.forget(userId, seqs),

    progressOf: (jobId: string) => running.get(jobId)?.record.progress(),

    /** Cancels those of `jobIds` (all of the user's, when absent) that run now; returns the ids that were really cancelled. */
    async cancelRunning(userId: number, jobIds?: readonly string[]): Promise<string[]> {
      const targets = [...running.values()].filter((run) => run.userId === userId && (jobIds === undefined || jobIds.includes(run.id)));
      if (targets.length === 0) return [];
      const cancelled = await database.commitFreeing(() =>
        targets.filter((run) => {
          const isCancelled = cancelRunning(database, run, run.record, now());
          if (isCancelled && run.remote) endAttempt(database, run, "lost", now(), "It was cancelled.");
          return isCancelled;
        }),
      );
      for (const run of cancelled) {
        run.cancel();
        run.teller.ended(database);
        if (run.remote) inBackground(clearCancelled(run.remote));
      }
      return cancelled.map((run) => run.id);
    },

    /** Lets short jobs end within `graceMs`; the rest goes back to pending, its attempt not held against it. */
    async stop(graceMs: number): Promise<void> {
      accepting = false;
      clearTimeout(rest);
      // It goes on there, and is found again by the next start.
      for (const run of running.values()) if (run.remote) run.leave();
      await withinTime(Promise.all(background), graceMs);
      const left = [...running.values()].filter((run) => !run.remote);
      if (left.length > 0) {
        const giveBack = ({ seq, fence, attempts }: Running) =>
          move(
            database,
            { seq, fence, from: "in_progress", to: "pending", at: now() },
            { start_time: null, slot: null, attempts: attempts - 1 },
          );
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
function imageOfNext({ database, blobs, pool, concurrency, log }: EngineParts, queue: FairQueue): string | undefined {
  const seq = concurrency === 1 ? queue.peek((kind) => pool.canDo(kind, BUILT_IN_RUNNER))?.seq : undefined;
  if (seq === undefined) return undefined;
  try {
    const image = database.row(query.selectFrom("job_images").select("hash").where("job_seq", "=", seq).limit(1));
    return image && blobPath(blobs.folder, image.hash);
  } catch (error) {
    log.warn({ err: error, seq }, "the images of a job that waits could not be read");
    return undefined;
  }
}
