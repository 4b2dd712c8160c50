import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { type ServiceLog } from "@/lib/service/options";
import { isHandedOver } from "@/lib/service/runners/attempts";
import { formatKind } from "@/lib/service/runners/pool";
import { query, type Transaction } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { coalesce } from "@/lib/shared/async";
import { isStoreUnavailable } from "@/lib/shared/error-codes";
import { type CreateQueue, type EndCommit, type JobQueue } from "../queue/job-queue";
import { isUnfinished } from "../transitions";
import { CANCELLED_CHANNEL, createCanceller } from "./cancel";
import { type ActiveRun, resumeJob } from "./claim";
import { type Background, createBackground, createRetries, type EngineDependencies, type Retries } from "./engine-dependencies";
import { requeueOrFail } from "./finish";
import { executeJob, failRun, requeueLostRun } from "./run-job";

type EngineOptions = Retries & {
  dependencies: EngineDependencies;
  activeRuns: Map<string, ActiveRun>;
  queue: JobQueue;
  background: Background;
  /** Empty folders of completed jobs, reused because creating and removing one is slow compared to a small job. */
  spareFolders: string[];
};

async function runClaimedJob(engineOptions: EngineOptions, job: ActiveRun, end: EndCommit): Promise<void> {
  const { dependencies, activeRuns, queue, background, retryUntilStored, retryUntilReachable } = engineOptions;
  const { log } = dependencies;
  const spareFolder = engineOptions.spareFolders.pop();
  const outputDir = join(dependencies.folders.work, randomUUID());
  let isCompleted = false;
  const jobContext = { job, queue, retryUntilStored, retryUntilReachable };
  try {
    // Rename the folder so that a reader with an old path can't get this job's files.
    if (spareFolder === undefined) await mkdir(outputDir, { mode: 0o700 });
    else await rename(spareFolder, outputDir).catch(() => mkdir(outputDir, { mode: 0o700 }));
    isCompleted = (await executeJob(dependencies, { ...jobContext, outputDir, end })).outcome === "success";
  } catch (error) {
    log.error({ err: error, job: job.id, attempt: job.attempts }, "job end failed");
    // Requeue instead of failing: an outage isn't the job's fault.
    if (isStoreUnavailable(error))
      await requeueLostRun(dependencies, jobContext, { reason: "The service's database was unavailable.", countsAsAttempt: true });
    else await failRun(dependencies, jobContext, error);
  } finally {
    // The job may have been requeued and claimed again.
    if (activeRuns.get(job.id) === job) activeRuns.delete(job.id);
    job.end();
    // The job's end may have marked the runner unavailable.
    if (job.remote) background.add(refreshPool(dependencies));
    await reportEnd(dependencies, job);
    background.add(removeTempFolders(engineOptions, job, outputDir, isCompleted));
  }
}

function refreshPool({ pool, log }: EngineDependencies): Promise<void> {
  return pool.refresh().catch((error: unknown) => log.warn({ err: error }, "runner refresh failed"));
}

function reportEnd({ database, log }: EngineDependencies, run: ActiveRun): Promise<void> {
  return run.reporter.reportEnd(database).catch((error: unknown) => log.warn({ err: error, job: run.id }, "job end event failed"));
}

async function tryEmptyFolder(job: ActiveRun, outputDir: string): Promise<boolean> {
  try {
    for (const { path } of job.record.files) await unlink(path);
    return (await readdir(outputDir)).length === 0;
  } catch {
    return false;
  }
}

async function removeTempFolders(
  { dependencies, spareFolders }: EngineOptions,
  job: ActiveRun,
  outputDir: string,
  isCompleted: boolean,
): Promise<void> {
  const { collect, log } = dependencies;
  if (isCompleted && (await tryEmptyFolder(job, outputDir))) spareFolders.push(outputDir);
  // The worker of a cancelled job may still be writing. The next start removes the rest.
  else await rm(outputDir, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  // Assets may have been deleted while the job pinned their bytes.
  for (const { hash } of job.images)
    await collect(hash).catch((error: unknown) => log.warn({ err: error, hash }, "unused blob removal failed"));
}

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(dependencies: EngineDependencies, createQueue: CreateQueue) {
  const { database, processes, log, now, pool } = dependencies;
  const activeRuns = new Map<string, ActiveRun>();
  let isAccepting = false;
  let isStopped = false;
  const background = createBackground(log);
  const spareFolders: string[] = [];
  const retries = createRetries(database, () => isAccepting);
  const queue: JobQueue = createQueue({
    dependencies,
    activeRuns,
    isAccepting: () => isAccepting,
    retryUntilReachable: retries.retryUntilReachable,
    run(job, end) {
      // A job claimed while the engine was stopping waits for the next start.
      if (isStopped && job.remote) job.detach();
      return runClaimedJob({ dependencies, activeRuns, queue, background, spareFolders, ...retries }, job, end);
    },
    runInBackground: background.add,
  });

  /** Requeues or fails the jobs of dead processes. Returns those that were sent to a runner, where they may continue. */
  async function recover(): Promise<number[]> {
    return database.commitWithReserve(async (tx) => {
      await queue.releaseProcesses(tx, await processes.removeUnresponsive(tx));
      const orphanedJobs = query
        .selectFrom("jobs")
        .select(["seq", "id", "user_id as userId", "needs", "attempts"])
        .select(sql<unknown>`exists (select 1 from attempts where job_seq = seq and ended_at is null)`.as("isSent"))
        .where(isHandedOver)
        .where(isUnfinished)
        .where(processes.isHolderMissing)
        .orderBy("seq");
      const submittedSeqs: number[] = [];
      let [returnedCount, lostCount] = [0, 0];
      for (const { isSent, ...job } of await tx.rows(orphanedJobs)) {
        if (isSent) submittedSeqs.push(job.seq);
        else if (await requeueOrFail(tx, { now, queue }, job, { countsAsAttempt: true })) returnedCount += 1;
        else lostCount += 1;
      }
      if (returnedCount + lostCount > 0) log.warn({ returned: returnedCount, lost: lostCount }, "jobs of a stopped process recovered");
      return submittedSeqs;
    });
  }

  function resume(seqs: readonly number[]): void {
    for (const seq of seqs) background.add(resumeOne(seq));
  }

  async function resumeOne(seq: number): Promise<void> {
    let claimedJob: ActiveRun | undefined;
    const takeOver = async (tx: Transaction) => {
      claimedJob = await resumeJob(tx, dependencies, seq);
      if (claimedJob) activeRuns.set(claimedJob.id, claimedJob);
      return claimedJob;
    };
    const job = await retries.retryUntilStored(takeOver, () => claimedJob && activeRuns.delete(claimedJob.id));
    if (job?.remote) await queue.resume(job, job.remote.runner);
  }

  async function requeueAll(runs: readonly ActiveRun[]): Promise<void> {
    await database.commitWithReserve(async (tx) => {
      for (const run of runs) await requeueOrFail(tx, { now, queue }, run, { countsAsAttempt: false });
    });
  }

  return {
    async start(): Promise<void> {
      const submittedSeqs = await recover();
      if (isStopped) return;
      isAccepting = true;
      resume(submittedSeqs);
      await queue.start();
    },

    async takeOver(): Promise<void> {
      const submittedSeqs = await recover();
      if (!isAccepting) return;
      resume(submittedSeqs);
      await queue.repair();
    },

    ...createCanceller({ dependencies, activeRuns, queue, background, reportEnd: (run) => reportEnd(dependencies, run) }),

    enqueue: (tx: Transaction, userId: number, seq: number, needs: number) => queue.enqueue(tx, { userId, seq, kind: formatKind(needs) }),
    notifySubmitted: (userId: number, seq: number, needs: number) => queue.notifyWaiting({ userId, seq, kind: formatKind(needs) }),
    repair: queue.repair,

    async refreshRunners(): Promise<void> {
      await pool.refresh();
      queue.handleSlotsChanged();
    },

    getRuns: (): Iterable<ActiveRun> => activeRuns.values(),

    async stop(graceMs: number): Promise<void> {
      isAccepting = false;
      isStopped = true;
      await queue.stop();
      // The job continues on its runner, and the next start resumes it.
      for (const run of activeRuns.values()) if (run.remote) run.detach();
      await background.waitAtMost(graceMs);
      const localRuns = [...activeRuns.values()].filter((run) => !run.remote);
      if (localRuns.length > 0)
        await requeueAll(localRuns).catch((error: unknown) => log.error({ err: error }, "running job release failed"));
      for (const run of localRuns) run.cancel();
      await dependencies.runner.stop();
      await background.drain();
    },
  };
}

export const RUNNERS_CHANNEL = "runners";

type PeerDependencies = { processes: Processes; engine: Pick<Engine, "takeOver" | "endStaleRuns" | "refreshRunners">; log: ServiceLog };

export function subscribeToPeers({ processes, engine, log }: PeerDependencies): void {
  /** Runs one at a time. A notification that arrives meanwhile causes one more run. */
  function runCoalesced(task: () => Promise<void>): () => void {
    const runOnce = coalesce(task);
    return () => void runOnce().catch((error: unknown) => log.warn({ err: error }, "peer notification failed"));
  }
  const endStaleRuns = runCoalesced(engine.endStaleRuns);
  const refreshRunners = runCoalesced(engine.refreshRunners);
  processes.watch({ onPeersUnresponsive: runCoalesced(engine.takeOver), onAbandoned: endStaleRuns });
  processes.listen(CANCELLED_CHANNEL, endStaleRuns, endStaleRuns);
  processes.listen(RUNNERS_CHANNEL, refreshRunners, refreshRunners);
}
