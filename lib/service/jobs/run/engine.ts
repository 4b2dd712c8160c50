// Runs the jobs that the queue gives out (job-queue.ts) to their end, takes over what dead processes left, and cancels running jobs (the
// states are in transitions.ts).
// Guarantees: a claim is durable before a node runs; a cancelled job keeps nothing, whatever its worker still does; an error around a run
// ends that job, never the process; while the disk accepts nothing, waiting jobs go on waiting; `stop` waits for background work.

import { isStoreAway } from "@/lib/shared/database/store-away";
import { blobPath } from "@/lib/service/assets/blob-path";
import { asStorageFailure } from "@/lib/service/storage-failure";
import { query, type Transaction } from "@/lib/service/store/database";
import { whileAway } from "@/lib/service/store/while-away";
import { endAttempt } from "@/lib/service/runners/attempts";
import { kindOf, kindWith } from "@/lib/service/runners/pool";
import { clearAway } from "@/lib/service/runners/whereabouts";
import { cancelAll, runningJobs } from "./cancel-running";
import { type Claimed, createRunning, resumeJob, type Running } from "./claim";
import { type EngineParts } from "./engine-parts";
import { failAround } from "./finish";
import { type CreateQueue } from "../queue/job-queue";
import { type NextClaim } from "../queue/next-claim";
import { recoverJobs } from "./recover";
import { executeJob, giveBack, type Ordered } from "./run-job";
import { move } from "../transitions";
import { createWorkFolders } from "./work-folders";

const PAUSE_MS = 1000;

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(parts: EngineParts, createQueue: CreateQueue) {
  const { database, now, log, pool, processes } = parts;
  const running = new Map<string, Running>();
  const background = new Set<Promise<void>>();
  const workFolders = createWorkFolders(parts.folders.work);
  let accepting = false;
  let isStopped = false;
  const queue = createQueue({ parts, running, mayTake: () => accepting, run: runOne, inBackground });

  /** Counted, so that `stop` can wait for it. */
  function inBackground(work: Promise<void>): void {
    const counted = work
      .catch((error: unknown) => log.error({ err: error }, "how a job ended could not be stored: the next start finds it running"))
      .finally(() => background.delete(counted));
    background.add(counted);
  }

  /**
   * Recovers what dead processes left: running jobs wait again or have failed. Returns the jobs that were sent to a runner and may go on
   * there.
   */
  async function recover(): Promise<number[]> {
    const { returned, lost, sent } = await recoverJobs({ database, processes, queue, now });
    if (returned + lost > 0) log.warn({ returned, lost }, "jobs were running at a process of the service that has ended");
    return sent;
  }

  /** Resumes a job that a dead process sent to a runner and that has not ended here. */
  async function resume(seq: number): Promise<void> {
    let taken: Claimed | undefined;
    const takeOver = async (tx: Transaction) => {
      taken = await resumeJob(tx, parts, seq);
      // Known as running from this moment on, so that no cancel misses it.
      if (taken) running.set(taken.id, createRunning(taken, parts.events));
      return taken;
    };
    const job = await untilStored(takeOver, () => taken && running.delete(taken.id));
    if (!job?.remote) return;
    const place = pool.occupy(job.remote.runner);
    try {
      await queue.goOn(job, place);
    } finally {
      place.release();
      queue.changed();
    }
  }

  /** Best effort: the rounds read the runners again, and the store knows how a job ended. */
  const refreshPool = () => pool.refresh().catch((error: unknown) => log.warn({ err: error }, "the runners could not be read again"));
  const tellEnd = (run: Running) =>
    run.teller.ended(database).catch((error: unknown) => log.warn({ err: error, job: run.id }, "how a job ended could not be told"));

  /** Clears up at once; the rounds look again, since a request that was just sent may arrive later. */
  async function clearCancelled(seq: number): Promise<void> {
    const lost = query
      .selectFrom("attempts")
      .innerJoin("runners", "runners.id", "attempts.runner")
      .select(["address", "prompt_id", "client_id"])
      .where("job_seq", "=", seq)
      .where("state", "=", "lost")
      .orderBy("number", "desc")
      .limit(1);
    const there = await database.row(lost);
    if (there?.address) await clearAway(there.address, { promptId: there.prompt_id, clientId: there.client_id });
  }

  /**
   * Ends runs whose job was cancelled or taken over by another process; they write nothing. A claim that is not visible yet does not count
   * as one.
   */
  async function endStale(): Promise<void> {
    if (running.size === 0) return;
    const seqs = [...running.values()].map(({ seq }) => seq);
    const rows = await database.rows(
      query.selectFrom("jobs").select(["seq", "fence", "state"]).where("seq", "in", database.dialect.numbers(seqs)),
    );
    const stored = new Map(rows.map((row) => [row.seq, row]));
    for (const run of running.values()) {
      const row = stored.get(run.seq);
      if (row && (row.fence > run.fence || (row.fence === run.fence && row.state !== "in_progress"))) run.cancel();
    }
  }

  async function runOne(job: Claimed, next: NextClaim): Promise<void> {
    const run = running.get(job.id);
    if (!run) return;
    let outputDir: string | undefined;
    let isClean = false;
    const ordered = { job, running: run, queue, untilStored, untilThere };
    try {
      outputDir = await workFolders.take();
      const nextImage = await imageOfNext(parts, queue.guess());
      const execution = await executeJob(parts, { ...ordered, outputDir, next, nextImage });
      isClean = execution.isClean;
      // It may be for another runner than this slot's.
      if (execution.waits) queue.waits(execution.waits, true);
    } catch (error) {
      log.error({ err: error, job: job.id, attempt: job.attempts }, "a job could not be brought to its end");
      await (isStoreAway(error) ? tryAgain(ordered) : fail(job, error));
    } finally {
      // The job may have been put back, and taken again.
      if (running.get(job.id) === run) running.delete(job.id);
      run.end();
      // The runner may have been set aside because of how the job ended.
      if (job.remote) inBackground(refreshPool());
      await tellEnd(run);
      inBackground(tidyUp(job, outputDir, isClean ? run.record.files.map(({ path }) => path) : undefined));
    }
  }

  async function fail(job: Claimed, error: unknown): Promise<void> {
    await untilStored(async (tx) => {
      if ((await failAround(tx, job, error, now())) && job.remote) await endAttempt(tx, job, "lost", now());
    });
  }

  /** The job is not at fault. */
  async function tryAgain(ordered: Ordered): Promise<void> {
    const waits = await giveBack(parts, ordered, { reason: "The service's database did not answer.", counts: true });
    if (waits) queue.waits(waits, true);
  }

  /** The slot does not wait for it. */
  async function tidyUp(job: Claimed, outputDir: string | undefined, files: readonly string[] | undefined): Promise<void> {
    if (outputDir !== undefined) await workFolders.giveBack(outputDir, files);
    await letGo(job);
  }

  /**
   * A job that has ended, or goes on elsewhere, must not stay marked as running because the disk is full: it is written as soon as there is
   * room. `undo`: reverts what was noted in a commit that failed.
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

  const untilThere: Ordered["untilThere"] = (work) =>
    whileAway(work, async (error) => {
      if (!accepting) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    });

  /** Assets may have been deleted while the job pinned their bytes. */
  async function letGo(job: Claimed): Promise<void> {
    for (const image of job.images) {
      await parts
        .collect(image.hash)
        .catch((error: unknown) => log.warn({ err: error, hash: image.hash }, "unused bytes stay until the next start"));
    }
  }

  return {
    /** Loads waiting jobs and begins; afterwards `submitted` reports each new job. */
    async start(): Promise<void> {
      const sent = await recover();
      if (isStopped) return;
      accepting = true;
      for (const seq of sent) inBackground(resume(seq));
      await queue.start();
    },

    /** Called when other processes were silent for too long. */
    async takeOver(): Promise<void> {
      const sent = await recover();
      if (accepting) for (const seq of sent) inBackground(resume(seq));
      queue.changed();
    },

    endStale,
    enqueue: (tx: Transaction, userId: number, seq: number, needs: number) => queue.enqueue(tx, { userId, seq, kind: kindWith(needs) }),
    submitted: (userId: number, seq: number, needs: number) => queue.waits({ userId, seq, kind: kindWith(needs) }),
    waitAgain: queue.waitAgain,
    repair: queue.repair,
    forgetPending: queue.forget,

    /** Something about the runners has changed. */
    async runnersChanged(): Promise<void> {
      await pool.refresh();
      queue.changed();
    },

    /** The jobs that run here. */
    runs: (): Iterable<Running> => running.values(),

    /**
     * Cancels those of `jobIds` (all of the user's, if absent) that run now, here or elsewhere; returns the ids that were really cancelled.
     */
    async cancelRunning(userId: number, jobIds?: readonly string[]): Promise<string[]> {
      const ran = [...running.values()].filter((run) => run.userId === userId && (jobIds === undefined || jobIds.includes(run.id)));
      const which = { userId, jobIds };
      if (ran.length === 0 && (await runningJobs(database, parts, which)).length === 0) return [];
      const cancelled = await database.commitFreeing((tx) => cancelAll(tx, parts, which, { ran, running }));
      for (const { seq, run } of cancelled) {
        run?.cancel();
        if (!run || run.remote) inBackground(clearCancelled(seq));
      }
      for (const { run } of cancelled) if (run) await tellEnd(run);
      if (cancelled.length > 0) parts.events.queueChanged(userId);
      return cancelled.map(({ id }) => id);
    },

    /** Lets short jobs end within `graceMs`; the rest goes back to pending, and the attempt is not counted. */
    async stop(graceMs: number): Promise<void> {
      accepting = false;
      isStopped = true;
      await queue.stop();
      // It goes on at its runner, and the next start finds it again.
      for (const run of running.values()) if (run.remote) run.leave();
      await withinTime(Promise.all(background), graceMs);
      const left = [...running.values()].filter((run) => !run.remote);
      if (left.length > 0) {
        await database
          .commitFreeing(async (tx) => {
            for (const { userId, seq, fence, needs, ...run } of left) {
              const attempts = run.attempts - 1;
              const back = { start_time: null, slot: null, attempts };
              if (await move(tx, { seq, fence, from: "in_progress", to: "pending", at: now() }, back))
                await queue.enqueue(tx, { userId, seq, kind: await kindOf(tx, { seq, needs, attempts }) }, true);
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
 * The image file that the next job will read: the worker gets its path and decodes it while another job runs. A wrong guess costs
 * nothing. With several slots the cores are busy already.
 */
async function imageOfNext({ database, blobs, log }: EngineParts, seq: number | undefined): Promise<string | undefined> {
  if (seq === undefined) return undefined;
  try {
    const image = await database.row(query.selectFrom("job_images").select("hash").where("job_seq", "=", seq).limit(1));
    return image && blobPath(blobs.folder, image.hash);
  } catch (error) {
    log.warn({ err: error, seq }, "the images of a job that waits could not be read");
    return undefined;
  }
}
