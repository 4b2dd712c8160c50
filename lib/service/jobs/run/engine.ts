import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { blobPath } from "@/lib/service/assets/blob-store";
import { type ServiceLog } from "@/lib/service/options";
import { isHandedOver } from "@/lib/service/runners/attempts";
import { formatKind } from "@/lib/service/runners/pool";
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

type EngineOptions = Retries & {
  parts: EngineParts;
  running: Map<string, Running>;
  queue: JobQueue;
  background: Background;
  /** Empty folders of completed jobs, reused because creating and removing one is slow compared to a small job. */
  spareFolders: string[];
};

async function runClaimed(engineOptions: EngineOptions, job: Running, end: EndCommit): Promise<void> {
  const { parts, running, queue, background, untilStored, untilReachable } = engineOptions;
  const { log } = parts;
  const spareFolder = engineOptions.spareFolders.pop();
  const outputDir = join(parts.folders.work, randomUUID());
  let isCompleted = false;
  const jobContext = { job, queue, untilStored, untilReachable };
  try {
    // Renamed, so that a reader with a path of the earlier job can't get this job's file.
    if (spareFolder === undefined) await mkdir(outputDir, { mode: 0o700 });
    else await rename(spareFolder, outputDir).catch(() => mkdir(outputDir, { mode: 0o700 }));
    const nextImage = await findNextImage(parts, queue.peekNext());
    isCompleted = (await executeJob(parts, { ...jobContext, outputDir, end, nextImage })).outcome === "success";
  } catch (error) {
    log.error({ err: error, job: job.id, attempt: job.attempts }, "job end failed");
    // The job is not at fault for an outage.
    if (isStoreAway(error)) await requeueLostRun(parts, jobContext, { reason: "The service's database was unavailable.", counts: true });
    else await failRun(parts, jobContext, error);
  } finally {
    // The job may have been requeued and claimed again.
    if (running.get(job.id) === job) running.delete(job.id);
    job.end();
    // The runner may have been set aside because of how the job ended.
    if (job.remote) background.add(refreshPool(parts));
    await reportEnd(parts, job);
    background.add(removeTempFolders(engineOptions, job, outputDir, isCompleted));
  }
}

/** The next job's image, which a worker decodes in advance. A wrong guess does no harm. */
async function findNextImage({ database, blobs, log }: EngineParts, seq: number | undefined): Promise<string | undefined> {
  if (seq === undefined) return undefined;
  try {
    const image = await database.row(query.selectFrom("job_images").select("hash").where("job_seq", "=", seq).limit(1));
    return image && blobPath(blobs.folder, image.hash);
  } catch (error) {
    log.warn({ err: error, seq }, "waiting job image read failed");
    return undefined;
  }
}

function refreshPool({ pool, log }: EngineParts): Promise<void> {
  return pool.refresh().catch((error: unknown) => log.warn({ err: error }, "runner refresh failed"));
}

function reportEnd({ database, log }: EngineParts, run: Running): Promise<void> {
  return run.reporter.ended(database).catch((error: unknown) => log.warn({ err: error, job: run.id }, "job end event failed"));
}

async function emptyFolder(job: Running, outputDir: string): Promise<boolean> {
  try {
    for (const { path } of job.record.files) await unlink(path);
    return (await readdir(outputDir)).length === 0;
  } catch {
    return false;
  }
}

async function removeTempFolders(
  { parts, spareFolders }: EngineOptions,
  job: Running,
  outputDir: string,
  isCompleted: boolean,
): Promise<void> {
  const { collect, log } = parts;
  if (isCompleted && (await emptyFolder(job, outputDir))) spareFolders.push(outputDir);
  // The worker of a cancelled job may still be writing. The next start removes the rest.
  else await rm(outputDir, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  // Assets may have been deleted while the job pinned their bytes.
  for (const { hash } of job.images)
    await collect(hash).catch((error: unknown) => log.warn({ err: error, hash }, "unused blob removal failed"));
}

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(parts: EngineParts, createQueue: CreateQueue) {
  const { database, processes, log, now, pool } = parts;
  const running = new Map<string, Running>();
  let accepting = false;
  let isStopped = false;
  const background = createBackground(log);
  const spareFolders: string[] = [];
  const retries = createRetries(database, () => accepting);
  const queue: JobQueue = createQueue({
    parts,
    running,
    isAccepting: () => accepting,
    untilReachable: retries.untilReachable,
    run(job, end) {
      // A job that was claimed while the engine stopped is left for the next start.
      if (isStopped && job.remote) job.leave();
      return runClaimed({ parts, running, queue, background, spareFolders, ...retries }, job, end);
    },
    inBackground: background.add,
  });

  /** Requeues or fails the jobs of dead processes. Returns those that were sent to a runner, where they may continue. */
  async function recover(): Promise<number[]> {
    return database.commitFreeing(async (tx) => {
      await queue.freeProcesses(tx, await processes.removeUnresponsive(tx));
      const orphanedJobs = query
        .selectFrom("jobs")
        .select(["seq", "id", "user_id as userId", "needs", "attempts"])
        .select(sql<unknown>`exists (select 1 from attempts where job_seq = seq and ended_at is null)`.as("isSent"))
        .where(isHandedOver)
        .where(isUnfinished)
        .where(processes.isHolderGone)
        .orderBy("seq");
      const submittedSeqs: number[] = [];
      let [returned, lost] = [0, 0];
      for (const { isSent, ...job } of await tx.rows(orphanedJobs)) {
        if (isSent) submittedSeqs.push(job.seq);
        else if (await requeueOrFail(tx, { now, queue }, job, { counts: true })) returned += 1;
        else lost += 1;
      }
      if (returned + lost > 0) log.warn({ returned, lost }, "jobs of a stopped process recovered");
      return submittedSeqs;
    });
  }

  function resume(seqs: readonly number[]): void {
    for (const seq of seqs) background.add(resumeOne(seq));
  }

  async function resumeOne(seq: number): Promise<void> {
    let claimedJob: Running | undefined;
    const takeOver = async (tx: Transaction) => {
      claimedJob = await resumeJob(tx, parts, seq);
      if (claimedJob) running.set(claimedJob.id, claimedJob);
      return claimedJob;
    };
    const job = await retries.untilStored(takeOver, () => claimedJob && running.delete(claimedJob.id));
    if (job?.remote) await queue.resume(job, job.remote.runner);
  }

  async function returnAll(runs: readonly Running[]): Promise<void> {
    await database.commitFreeing(async (tx) => {
      for (const run of runs) await requeueOrFail(tx, { now, queue }, run, { counts: false });
    });
  }

  return {
    async start(): Promise<void> {
      const submittedSeqs = await recover();
      if (isStopped) return;
      accepting = true;
      resume(submittedSeqs);
      await queue.start();
    },

    async takeOver(): Promise<void> {
      const submittedSeqs = await recover();
      if (!accepting) return;
      resume(submittedSeqs);
      await queue.repair();
    },

    ...createCanceller({ parts, running, queue, background, reportEnd: (run) => reportEnd(parts, run) }),

    enqueue: (tx: Transaction, userId: number, seq: number, needs: number) => queue.enqueue(tx, { userId, seq, kind: formatKind(needs) }),
    submitted: (userId: number, seq: number, needs: number) => queue.notifyWaiting({ userId, seq, kind: formatKind(needs) }),
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
      // The job continues at its runner, and the next start finds it again.
      for (const run of running.values()) if (run.remote) run.leave();
      await background.doneWithin(graceMs);
      const localRuns = [...running.values()].filter((run) => !run.remote);
      if (localRuns.length > 0)
        await returnAll(localRuns).catch((error: unknown) => log.error({ err: error }, "running job release failed"));
      for (const run of localRuns) run.cancel();
      await parts.runner.stop();
      await background.done();
    },
  };
}

export const RUNNERS = "runners";

type Parts = { processes: Processes; engine: Pick<Engine, "takeOver" | "endStale" | "runnersChanged">; log: ServiceLog };

export function listenToOthers({ processes, engine, log }: Parts): void {
  /** Runs one at a time. A notice that arrives meanwhile causes one more run. */
  function runCoalesced(work: () => Promise<void>): () => void {
    const begin = coalesce(work);
    return () => void begin().catch((error: unknown) => log.warn({ err: error }, "peer notice failed"));
  }
  const endStale = runCoalesced(engine.endStale);
  const refreshRunners = runCoalesced(engine.runnersChanged);
  processes.watch({ othersUnresponsive: runCoalesced(engine.takeOver), onAbandoned: endStale });
  processes.listen(CANCELLED, endStale, endStale);
  processes.listen(RUNNERS, refreshRunners, refreshRunners);
}
