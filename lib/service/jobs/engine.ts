// Takes what waits, gives it to the runners as they have slots free, and commits how each ends together with the claim of the next one
// (the states are in transitions.ts).
// Guarantees: a claim is durable before a node runs; a job that was cancelled keeps nothing, whatever its worker still does;
// whatever goes wrong around a run ends that job and never the process; while the disk takes nothing, what waits goes on waiting. Background work is counted, so `stop` can wait for it.

import { blobPath } from "../assets/blob-path";
import { asStorageFailure } from "../storage-failure";
import { query, type Transaction } from "../store/database";
import { type ProducedFile } from "../nodes/run";
import { BUILT_IN_RUNNER } from "@/lib/contract/runners/runners";
import { endAttempt } from "../runners/attempts";
import { kindOf, kindWith, type Place, triedRunners } from "../runners/pool";
import { clearAway } from "../runners/whereabouts";
import { type Claimed, createRunning, resumeJob, type Running } from "./claim";
import { type EngineParts } from "./engine-parts";
import { createFairQueue, type FairQueue } from "./fair-queue";
import { cancelPending, cancelRunning, failAround } from "./finish";
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
  let isStopped = false;
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
    let taken: Claimed | undefined;
    const takeOver = async (tx: Transaction) => {
      taken = await resumeJob(tx, parts, seq);
      // Known as running from here on, so that no cancel misses it.
      if (taken) running.set(taken.id, createRunning(taken, parts.events));
      return taken;
    };
    const job = await untilStored(takeOver, () => taken && running.delete(taken.id));
    if (!job?.remote) return;
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

  /** Best effort: the rounds read the runners again, and how a job ended is in the store. */
  const refreshPool = () => pool.refresh().catch((error: unknown) => log.warn({ err: error }, "the runners could not be read again"));
  const tellEnd = (run: Running) =>
    run.teller.ended(database).catch((error: unknown) => log.warn({ err: error, job: run.id }, "how a job ended could not be told"));

  /** Waits again, before all others of its user. Where it was tried is read if it can be: without that it may go there once more. */
  async function putBack(job: Claimed): Promise<void> {
    const kind = await kindOf(database, job).catch((error: unknown) => {
      log.warn({ err: error, job: job.id }, "where a job was tried could not be read");
      return kindWith(job.needs);
    });
    queue.putBack(job.userId, job.seq, kind);
  }

  async function waiting(which: { userId: number; last: number } | undefined): Promise<{ userId: number; seq: number; kind: string }[]> {
    const pending = query.selectFrom("jobs").select(["seq", "user_id", "needs"]).where(isUnfinished).where("state", "=", "pending");
    const some = which ? pending.where("user_id", "=", which.userId).where("seq", "<=", which.last) : pending;
    const [jobs, tried] = [await database.rows(some.orderBy("seq")), await triedRunners(database)];
    await pool.know(jobs.map(({ needs }) => needs));
    return jobs.map(({ seq, user_id, needs }) => ({ userId: user_id, seq, kind: kindWith(needs, tried.get(seq)) }));
  }

  /** At once; the rounds look again, since what was just sent may arrive later. */
  async function clearCancelled({ runner, attempt }: NonNullable<Claimed["remote"]>): Promise<void> {
    const open = await database.row(
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
      const execution = await executeJob(parts, { job, running: run, outputDir, next, nextImage: await imageOfNext(parts, queue) });
      isClean = execution.isClean;
      if (execution.waits) {
        await putBack(job);
        // Perhaps for another runner than this slot's.
        setImmediate(pump);
      }
    } catch (error) {
      log.error({ err: error, job: job.id }, "a job could not be brought to its end");
      await untilStored(async (tx) => {
        if ((await failAround(tx, job, error, now())) && job.remote) await endAttempt(tx, job, "lost", now());
      });
    } finally {
      // It may have been put back, and have been taken again.
      if (running.get(job.id) === run) running.delete(job.id);
      // It may have been set aside for how the job ended.
      if (job.remote) await refreshPool();
      await tellEnd(run);
      inBackground(tidyUp(job, outputDir, isClean ? run.record.files.map(({ path }) => path) : undefined));
    }
  }

  /** The slot does not wait for it. */
  async function tidyUp(job: Claimed, outputDir: string | undefined, files: readonly string[] | undefined): Promise<void> {
    if (outputDir !== undefined) await workFolders.giveBack(outputDir, files);
    await letGo(job);
  }

  /**
   * A job that has ended, or goes on elsewhere, must not be left as running because the disk is full: it is written as soon as there is room.
   * `undo`: of what was noted in a commit that failed.
   */
  async function untilStored<T>(write: (tx: Transaction) => Promise<T>, undo: () => unknown = () => undefined): Promise<T> {
    for (;;) {
      try {
        return await database.commitFreeing(write);
      } catch (error) {
        undo();
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
    async start(): Promise<void> {
      const sent = query.selectFrom("jobs").select("seq").where(isUnfinished).where("state", "=", "in_progress").orderBy("seq");
      const [waits, goesOn] = [await waiting(undefined), await database.rows(sent)];
      if (isStopped) return;
      accepting = true;
      // One that was submitted meanwhile may be in the queue twice: whoever takes it the second time finds that it waits no longer.
      for (const { userId, seq, kind } of waits) queue.add(userId, seq, kind);
      for (const { seq } of goesOn) inBackground(resume(seq));
      pump();
    },

    submitted(userId: number, seq: number, needs: number): void {
      queue.add(userId, seq, kindWith(needs));
      pump();
    },

    /** What of the user's jobs up to this one was to be cancelled and is pending still. */
    async waitAgain(userId: number, last: number): Promise<void> {
      for (const { seq, kind } of await waiting({ userId, last })) queue.add(userId, seq, kind);
      pump();
    },

    /** Something about the runners has changed. */
    async runnersChanged(): Promise<void> {
      await pool.refresh();
      pump();
    },

    /** These pending jobs of the user (all, when absent) are cancelled in the store, or will be at once. */
    forgetPending: (userId: number, seqs?: readonly number[]) => queue.forget(userId, seqs),

    progressOf: (jobId: string) => running.get(jobId)?.record.progress(),

    /** Of a job of the user's that runs here: nothing of it is stored before it has ended. */
    fileOfRun(userId: number, hash: string): ProducedFile | undefined {
      for (const run of running.values()) {
        const file = run.userId === userId ? run.record.files.find((one) => one.hash === hash) : undefined;
        if (file) return file;
      }
      return undefined;
    },

    /** Cancels those of `jobIds` (all of the user's, when absent) that run now; returns the ids that were really cancelled. */
    async cancelRunning(userId: number, jobIds?: readonly string[]): Promise<string[]> {
      const targets = [...running.values()].filter((run) => run.userId === userId && (jobIds === undefined || jobIds.includes(run.id)));
      if (targets.length === 0) return [];
      const cancelled = await database.commitFreeing(async (tx) => {
        const moved: Running[] = [];
        for (const run of targets) {
          if (await cancelRunning(tx, run, run.record, now())) {
            if (run.remote) await endAttempt(tx, run, "lost", now(), "It was cancelled.");
            moved.push(run);
            // Its worker was lost a moment ago, and it waits again.
          } else if (await cancelPending(tx, [run.seq], now())) moved.push(run);
        }
        return moved;
      });
      for (const run of cancelled) {
        run.cancel();
        if (run.remote) inBackground(clearCancelled(run.remote));
      }
      for (const run of cancelled) await tellEnd(run);
      if (cancelled.length > 0) parts.events.queueChanged(userId);
      return cancelled.map((run) => run.id);
    },

    /** Lets short jobs end within `graceMs`; the rest goes back to pending, its attempt not held against it. */
    async stop(graceMs: number): Promise<void> {
      accepting = false;
      isStopped = true;
      clearTimeout(rest);
      // It goes on there, and is found again by the next start.
      for (const run of running.values()) if (run.remote) run.leave();
      await withinTime(Promise.all(background), graceMs);
      const left = [...running.values()].filter((run) => !run.remote);
      if (left.length > 0) {
        await database
          .commitFreeing(async (tx) => {
            for (const { seq, fence, attempts } of left) {
              const back = { start_time: null, slot: null, attempts: attempts - 1 };
              await move(tx, { seq, fence, from: "in_progress", to: "pending", at: now() }, back);
            }
          })
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
async function imageOfNext({ database, blobs, pool, concurrency, log }: EngineParts, queue: FairQueue): Promise<string | undefined> {
  const seq = concurrency === 1 ? queue.peek((kind) => pool.canDo(kind, BUILT_IN_RUNNER))?.seq : undefined;
  if (seq === undefined) return undefined;
  try {
    const image = await database.row(query.selectFrom("job_images").select("hash").where("job_seq", "=", seq).limit(1));
    return image && blobPath(blobs.folder, image.hash);
  } catch (error) {
    log.warn({ err: error, seq }, "the images of a job that waits could not be read");
    return undefined;
  }
}
