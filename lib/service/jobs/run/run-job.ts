import { join } from "node:path";
import { getSpelling, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject } from "@/lib/contract/json/json";
import { countNodeResult, observeRun } from "@/lib/service/metrics";
import { createServiceError, REJECTED_TYPE, type RunEvent, type RunOutcome } from "@/lib/service/nodes/run";
import { deleteAttempt, endAttempt, isHandedOver, recordEnd, wasCacheCleared } from "@/lib/service/runners/attempts";
import { findKind } from "@/lib/service/runners/pool";
import { runRemotely } from "@/lib/service/runners/remote-run";
import { readRunner, storeProblem } from "@/lib/service/runners/store";
import { query, type Transaction } from "@/lib/service/store/database";
import { type EndCommit, type JobQueue } from "../queue/job-queue";
import { startJob } from "../transitions";
import { insertOutputs, type StagedOutput, toStagedOutput } from "./adopt-outputs";
import { type ActiveRun } from "./claim";
import { type EngineDependencies, type Retries } from "./engine-dependencies";
import { failOutsideNodes, finishRun, requeueOrFail } from "./finish";
import { type RunRecord } from "./run-record";

type Execution = { outcome: RunOutcome["kind"] | "worker lost" };

type JobContext = Retries & { job: ActiveRun; queue: Pick<JobQueue, "enqueue" | "notifyWaiting"> };

export async function executeJob(...[dependencies, run]: Parameters<typeof execute>): Promise<Execution> {
  return observeRun({ jobId: run.job.id, attempt: run.job.attempts }, () => execute(dependencies, run));
}

async function execute(dependencies: EngineDependencies, run: JobContext & { outputDir: string; end: EndCommit }): Promise<Execution> {
  const { job, outputDir, end } = run;
  const { record, reporter } = job;
  if (job.isStarted()) reporter.reportStart(record.startMs);
  let startPromise: Promise<unknown> | undefined;
  const handleStart = () => {
    if (job.isStarted()) return;
    const startMs = dependencies.now();
    job.markStarted(startMs);
    startPromise = run.retryUntilReachable(() => dependencies.database.commit((tx) => startJob(tx, job, startMs)));
    startPromise.catch(() => undefined);
  };
  const cacheDir = join(dependencies.folders.nodeCache, String(job.userId));
  const hashes = job.images.map(({ hash }) => hash);
  const handleEvent = (event: RunEvent) => {
    if (event.kind === "begun") return handleStart();
    record.recordEvent(event);
    // ComfyUI has no messages for these events.
    if (event.kind !== "queued" && event.kind !== "note") reporter.reportEvent(event);
    if (!job.remote) countNodeResult(event);
  };
  if (job.attempts > 1 && (await run.retryUntilReachable(() => wasCacheCleared(dependencies.database, job.seq))))
    record.recordEvent({ kind: "note", at: dependencies.now(), note: { code: "cache_cleared" } });
  const outcome: RunOutcome = await dependencies.blobs.withFiles(hashes, async (getPath) => {
    const startedRun = job.remote
      ? await runOnRunner(dependencies, job, job.remote, { record, outputDir, getPath, onEvent: handleEvent })
      : dependencies.runner.run(
          {
            jobId: job.id,
            graph: job.graph,
            outputs: job.outputs,
            images: Object.fromEntries(job.images.map(({ name, hash }) => [name, { path: getPath(hash), hash }])),
            outputDir,
            maxPixels: dependencies.maxJobPixels,
            cacheDir,
            blobsDir: dependencies.blobs.folder,
            pngText: getPngText(job),
          },
          handleEvent,
        );
    job.attachRun(startedRun);
    return startedRun.done.catch((error: unknown): RunOutcome => {
      dependencies.log.warn({ err: error, job: job.id, attempt: job.attempts }, "job worker lost");
      return { kind: "lost", reason: "", countsAsAttempt: true };
    });
  });
  await startPromise;
  if (outcome.kind === "lost") await requeueLostRun(dependencies, run, outcome);
  if (outcome.kind === "error" && outcome.error.exception_type === "WorkerLost")
    dependencies.log.error({ job: job.id, node: outcome.error.node_type, reason: outcome.error.exception_message }, "job worker lost");
  if (outcome.kind === "success" || outcome.kind === "error") {
    end.prepare();
    await storeOutcome(dependencies, run, outcome, end);
  }
  return { outcome: outcome.kind === "lost" ? "worker lost" : outcome.kind };
}

type Remote = NonNullable<ActiveRun["remote"]>;

async function runOnRunner(
  dependencies: EngineDependencies,
  job: ActiveRun,
  { runner, attempt, isResumed }: Remote,
  {
    record,
    outputDir,
    getPath,
    onEvent,
  }: { record: RunRecord; outputDir: string; getPath: (hash: string) => string; onEvent: (event: RunEvent) => void },
) {
  const { database, now, pool } = dependencies;
  const images = query
    .selectFrom("job_images")
    .innerJoin("blobs", "blobs.hash", "job_images.hash")
    .select(["name", "job_images.hash", "media_type", "size"])
    .where("job_seq", "=", job.seq);
  const inputs = (await database.rows(images)).map(({ name, hash, media_type, size }) => ({
    name,
    hash,
    mediaType: media_type,
    size,
    path: getPath(hash),
  }));
  const { id, label, address } = runner;
  return runRemotely(
    { ...dependencies, limits: dependencies.remoteLimits },
    {
      jobId: job.id,
      userId: job.userId,
      attempt,
      isResumed,
      runner: { id, label, address: address ?? "" },
      graph: job.graph,
      outputs: job.outputs,
      nodesTotal: record.getProgress().nodes_total,
      extraData: job.extraData,
      inputs,
      library: pool.libraries.getMergedLibrary(),
      outputDir,
      isOtherRunnerFree: async () => pool.isFreeElsewhere(await findKind(database, job), id),
      reportBusy: () => pool.reportBusy(id),
      isRunnerDeleted: async () => (await readRunner(database, id)) === undefined,
      traffic: pool.getTraffic(id),
      reportProblem: ({ code, message }) =>
        void database
          .commit((tx) => storeProblem(tx, id, { code, message }, now()))
          .then(pool.refresh)
          .catch((error: unknown) => dependencies.log.warn({ err: error, runner: label }, "runner problem write failed")),
    },
    onEvent,
  );
}

export async function requeueLostRun(
  { now }: Pick<EngineDependencies, "now">,
  { job, queue, retryUntilStored }: JobContext,
  { reason, countsAsAttempt }: { reason: string; countsAsAttempt: boolean },
): Promise<void> {
  const waitingJob = await retryUntilStored(async (tx) => {
    const nowMs = now();
    if (!(await ensureStarted(tx, job, nowMs))) return undefined;
    if (job.remote && countsAsAttempt) {
      await endAttempt(tx, job, "lost", nowMs, reason);
      await recordEnd(tx, { runner: job.remote.runner.id, userId: job.userId, isSuccess: false, ms: nowMs - job.record.startMs });
    } else if (job.remote) await deleteAttempt(tx, job);
    return requeueOrFail(tx, { now, queue }, job, { countsAsAttempt, reason: job.remote && reason });
  });
  if (waitingJob) queue.notifyWaiting(waitingJob, true);
}

/** Fails a claimed job because of an error in the service. */
export async function failRun(
  { now }: Pick<EngineDependencies, "now">,
  { job, retryUntilStored }: JobContext,
  error: unknown,
): Promise<void> {
  await retryUntilStored(async (tx) => {
    const nowMs = now();
    if (!(await ensureStarted(tx, job, nowMs))) return;
    await failOutsideNodes(tx, job, error, nowMs);
    if (job.remote) await endAttempt(tx, job, "lost", nowMs);
  });
}

/** Starts a job that its runner did not start, because only started jobs can fail or be requeued. Returns false if another attempt owns the job. */
async function ensureStarted(tx: Transaction, job: ActiveRun, nowMs: number): Promise<boolean> {
  if (!(await isJobOwner(tx, job))) return false;
  await startJob(tx, job, nowMs);
  return true;
}

async function isJobOwner(tx: Transaction, { seq, fence }: Pick<ActiveRun, "seq" | "fence">): Promise<boolean> {
  const ownedJob = query.selectFrom("jobs").select("seq").where("seq", "=", seq).where("fence", "=", fence).where(isHandedOver);
  return (await tx.row(ownedJob)) !== undefined;
}

/** Files are stored in parallel, because the disk syncs many folders almost as fast as one. */
const MAX_CONCURRENT_WRITES = 16;

type EndedOutcome = Extract<RunOutcome, { kind: "success" | "error" }>;

async function storeOutcome(
  dependencies: EngineDependencies,
  { job, retryUntilReachable }: JobContext,
  outcome: EndedOutcome,
  { commit }: EndCommit,
): Promise<void> {
  const { blobs } = dependencies;
  const { record } = job;
  const stagedOutputs = record.files.map(toStagedOutput);
  const hashes = [...new Set(stagedOutputs.map((output) => output.staged.hash))];
  async function store(): Promise<void> {
    for (let start = 0; start < stagedOutputs.length; start += MAX_CONCURRENT_WRITES)
      await Promise.all(stagedOutputs.slice(start, start + MAX_CONCURRENT_WRITES).map((output) => blobs.adopt(output.staged)));
    await commit((tx) => finishJob(tx, dependencies, job, record, outcome, stagedOutputs));
  }
  try {
    // If the database is unavailable at the end, the work must not be repeated.
    await retryUntilReachable(() => blobs.hold(hashes, store));
  } finally {
    for (const hash of hashes) await blobs.removeIfUnused(hash);
  }
}

async function finishJob(
  tx: Transaction,
  { now }: EngineDependencies,
  job: ActiveRun,
  record: RunRecord,
  outcome: EndedOutcome,
  stagedOutputs: readonly StagedOutput[],
): Promise<void> {
  const nowMs = now();
  if (!(await isJobOwner(tx, job))) return; // cancelled or taken over: the stored bytes are removed
  // The runner rejected the job, or completed it without reporting a start.
  if (await startJob(tx, job, nowMs)) record.markStarted(nowMs);
  const { storedOutputs, quotaError } = await insertOutputs(tx, { id: job.id, userId: job.userId, at: nowMs }, stagedOutputs, record);
  // A storage error takes precedence over a node's failure, because nothing else reports it.
  const storageError = quotaError && createServiceError("StorageQuotaExceeded", quotaError.message);
  await finishRun(tx, job, record, storageError ? { kind: "error", error: storageError } : outcome, storedOutputs, nowMs);
  if (job.remote) await endAttempt(tx, job, "over", nowMs);
  await recordEnd(tx, {
    runner: job.remote?.runner.id ?? null,
    userId: job.userId,
    isSuccess: outcome.kind === "success",
    isRejected: outcome.kind === "error" && outcome.error.exception_type === REJECTED_TYPE,
    ms: nowMs - record.startMs,
  });
}

/** Returns `prompt` and each entry of extra_pnginfo (including the editor's `workflow`) as the JSON that ComfyUI writes into a PNG. */
function getPngText(job: ActiveRun): Record<string, string> {
  const pngInfo = asObject(job.extraData.extra_pnginfo) ?? {};
  const otherInfo = Object.entries(pngInfo).map(([keyword, value]): [string, string] => [
    keyword,
    getSpelling(pngInfo, keyword) ?? writeExactJson(value),
  ]);
  return { prompt: job.promptText, ...Object.fromEntries(otherInfo) };
}
