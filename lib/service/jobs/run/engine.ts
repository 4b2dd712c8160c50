import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { blobPath } from "@/lib/service/assets/blob-store";
import { type ServiceLog } from "@/lib/service/options";
import { isHandedOver } from "@/lib/service/runners/attempts";
import { kindWith } from "@/lib/service/runners/pool";
import { query, type Transaction } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { coalesce } from "@/lib/shared/async";
import { isStoreAway } from "@/lib/shared/error-codes";
import { type CreateQueue, type EndCommit, type JobQueue } from "../queue/job-queue";
import { isUnfinished } from "../transitions";
import { CANCELLED, createCanceller } from "./cancel";
import { resumeJob, type Running } from "./claim";
import { type Background, createBackground, createRetries, type EngineParts, type Retries } from "./engine-parts";
import { requeueOrFail } from "./finish";
import { executeJob, failRun, requeueLostRun } from "./run-job";

type Workplace = Retries & {
  parts: EngineParts;
  running: Map<string, Running>;
  queue: JobQueue;
  background: Background;
};

async function runClaimed(place: Workplace, job: Running, end: EndCommit): Promise<void> {
  const { parts, running, queue, background, untilStored, untilReachable } = place;
  const { log } = parts;
  const outputDir = join(parts.folders.work, randomUUID());
  const jobContext = { job, queue, untilStored, untilReachable };
  try {
    await mkdir(outputDir, { mode: 0o700 });
    const nextImage = await imageOfNext(parts, queue.peekNext());
    await executeJob(parts, { ...jobContext, outputDir, end, nextImage });
  } catch (error) {
    log.error({ err: error, job: job.id, attempt: job.attempts }, "a job could not be brought to its end");
    // The job is not at fault for an outage.
    if (isStoreAway(error)) await requeueLostRun(parts, jobContext, { reason: "The service's database did not answer.", counts: true });
    else await failRun(parts, jobContext, error);
  } finally {
    // The job may have been put back, and taken again.
    if (running.get(job.id) === job) running.delete(job.id);
    job.end();
    // The runner may have been set aside because of how the job ended.
    if (job.remote) background.add(refreshPool(parts));
    await reportEnd(parts, job);
    background.add(tidyUp(parts, job, outputDir));
  }
}

/** The next job's image, which a worker decodes meanwhile. A wrong guess costs nothing. */
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

function refreshPool({ pool, log }: EngineParts): Promise<void> {
  return pool.refresh().catch((error: unknown) => log.warn({ err: error }, "the runners could not be read again"));
}

function reportEnd({ database, log }: EngineParts, run: Running): Promise<void> {
  return run.reporter.ended(database).catch((error: unknown) => log.warn({ err: error, job: run.id }, "how a job ended could not be told"));
}

async function tidyUp({ collect, log }: EngineParts, job: Running, outputDir: string): Promise<void> {
  // The worker of a cancelled job may still be writing. The next start removes what is left.
  await rm(outputDir, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  // Assets may have been deleted while the job pinned their bytes.
  for (const { hash } of job.images)
    await collect(hash).catch((error: unknown) => log.warn({ err: error, hash }, "unused bytes stay until the next start"));
}

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(parts: EngineParts, createQueue: CreateQueue) {
  const { database, processes, log, now, pool } = parts;
  const running = new Map<string, Running>();
  let accepting = false;
  let isStopped = false;
  const background = createBackground(log);
  const patience = createRetries(database, () => accepting);
  const queue: JobQueue = createQueue({
    parts,
    running,
    isAccepting: () => accepting,
    untilReachable: patience.untilReachable,
    run(job, end) {
      // A job that was claimed while the engine stopped is left for the next start.
      if (isStopped && job.remote) job.leave();
      return runClaimed({ parts, running, queue, background, ...patience }, job, end);
    },
    inBackground: background.add,
  });

  /** Jobs of dead processes, never of a living one, wait again or fail. Returns those that were sent to a runner, where they may go on. */
  async function recover(): Promise<number[]> {
    return database.commitFreeing(async (tx) => {
      await queue.freeProcesses(tx, await processes.giveUpSilent(tx));
      const left = query
        .selectFrom("jobs")
        .select(["seq", "id", "user_id as userId", "needs", "attempts"])
        .select(sql<unknown>`exists (select 1 from attempts where job_seq = seq and ended_at is null)`.as("isSent"))
        .where(isHandedOver)
        .where(isUnfinished)
        .where(processes.isHolderGone)
        .orderBy("seq");
      const sent: number[] = [];
      let [returned, lost] = [0, 0];
      for (const { isSent, ...job } of await tx.rows(left)) {
        if (isSent) sent.push(job.seq);
        else if (await requeueOrFail(tx, { now, queue }, job, { counts: true })) returned += 1;
        else lost += 1;
      }
      if (returned + lost > 0) log.warn({ returned, lost }, "jobs were running at a process of the service that has ended");
      return sent;
    });
  }

  function resume(seqs: readonly number[]): void {
    for (const seq of seqs) background.add(resumeOne(seq));
  }

  async function resumeOne(seq: number): Promise<void> {
    let taken: Running | undefined;
    const takeOver = async (tx: Transaction) => {
      taken = await resumeJob(tx, parts, seq);
      if (taken) running.set(taken.id, taken);
      return taken;
    };
    const job = await patience.untilStored(takeOver, () => taken && running.delete(taken.id));
    if (job?.remote) await queue.resume(job, job.remote.runner);
  }

  async function giveBackAll(runs: readonly Running[]): Promise<void> {
    await database.commitFreeing(async (tx) => {
      for (const run of runs) await requeueOrFail(tx, { now, queue }, run, { counts: false });
    });
  }

  return {
    async start(): Promise<void> {
      const sent = await recover();
      if (isStopped) return;
      accepting = true;
      resume(sent);
      await queue.start();
    },

    async takeOver(): Promise<void> {
      const sent = await recover();
      if (!accepting) return;
      resume(sent);
      await queue.repair();
    },

    ...createCanceller({ parts, running, queue, background, reportEnd: (run) => reportEnd(parts, run) }),

    enqueue: (tx: Transaction, userId: number, seq: number, needs: number) => queue.enqueue(tx, { userId, seq, kind: kindWith(needs) }),
    submitted: (userId: number, seq: number, needs: number) => queue.notifyWaiting({ userId, seq, kind: kindWith(needs) }),
    repair: queue.repair,

    async runnersChanged(): Promise<void> {
      await pool.refresh();
      queue.slotsChanged();
    },

    runs: (): Iterable<Running> => running.values(),

    async stop(graceMs: number): Promise<void> {
      accepting = false;
      isStopped = true;
      await queue.stop();
      // It goes on at its runner, and the next start finds it again.
      for (const run of running.values()) if (run.remote) run.leave();
      await background.doneWithin(graceMs);
      const left = [...running.values()].filter((run) => !run.remote);
      if (left.length > 0)
        await giveBackAll(left).catch((error: unknown) =>
          log.error({ err: error }, "running jobs could not be given back: the next start finds them running"),
        );
      for (const run of left) run.cancel();
      await parts.runner.stop();
      await background.done();
    },
  };
}

export const RUNNERS = "runners";

type Parts = { processes: Processes; engine: Pick<Engine, "takeOver" | "endStale" | "runnersChanged">; log: ServiceLog };

export function listenToOthers({ processes, engine, log }: Parts): void {
  /** Runs one at a time; a notice that arrives meanwhile causes one more run. */
  function oneAtATime(work: () => Promise<void>): () => void {
    const begin = coalesce(work);
    return () => void begin().catch((error: unknown) => log.warn({ err: error }, "a notice of another process could not be followed"));
  }
  const endStale = oneAtATime(engine.endStale);
  const lookAgain = oneAtATime(engine.runnersChanged);
  processes.watch({ othersSilent: oneAtATime(engine.takeOver), wasGivenUp: endStale });
  processes.listen(CANCELLED, endStale, endStale);
  processes.listen(RUNNERS, lookAgain, lookAgain);
}
