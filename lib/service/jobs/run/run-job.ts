import { join } from "node:path";
import { getSpelling, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject } from "@/lib/contract/json/json";
import { countResult, observeRun } from "@/lib/service/figures";
import { createServiceError, REJECTED_TYPE, type RunEvent, type RunOutcome } from "@/lib/service/nodes/run";
import { endAttempt, forgetAttempt, isHandedOver, recordEnd, wasCacheCleared } from "@/lib/service/runners/attempts";
import { findKind } from "@/lib/service/runners/pool";
import { runRemotely } from "@/lib/service/runners/remote-run";
import { readRunner, storeProblem } from "@/lib/service/runners/store";
import { query, type Transaction } from "@/lib/service/store/database";
import { type EndCommit, type JobQueue } from "../queue/job-queue";
import { begin } from "../transitions";
import { insertOutputs, type StagedOutput, toStaged } from "./adopt-outputs";
import { type Running } from "./claim";
import { type EngineParts, type Retries } from "./engine-parts";
import { failOutsideNodes, finishRun, requeueOrFail } from "./finish";
import { type RunRecord } from "./run-record";

type Execution = { outcome: RunOutcome["kind"] | "worker lost" };

type JobContext = Retries & { job: Running; queue: Pick<JobQueue, "enqueue" | "notifyWaiting"> };

export async function executeJob(...[parts, run]: Parameters<typeof execute>): Promise<Execution> {
  return observeRun({ jobId: run.job.id, attempt: run.job.attempts }, () => execute(parts, run));
}

async function execute(
  parts: EngineParts,
  run: JobContext & { outputDir: string; end: EndCommit; nextImage: string | undefined },
): Promise<Execution> {
  const { job, outputDir, end, nextImage } = run;
  const { record, reporter } = job;
  if (job.isBegun()) reporter.begun(record.startMs);
  let pendingBegin: Promise<unknown> | undefined;
  const onBegun = () => {
    if (job.isBegun()) return;
    const at = parts.now();
    job.begin(at);
    pendingBegin = run.untilReachable(() => parts.database.commit((tx) => begin(tx, job, at)));
    pendingBegin.catch(() => undefined);
  };
  const cacheDir = join(parts.folders.nodeCache, String(job.userId));
  const hashes = job.images.map(({ hash }) => hash);
  const handleEvent = (event: RunEvent) => {
    if (event.kind === "begun") return onBegun();
    record.note(event);
    // ComfyUI has no messages for these events.
    if (event.kind !== "queued" && event.kind !== "note") reporter.note(event);
    if (!job.remote) countResult(event);
  };
  if (job.attempts > 1 && (await run.untilReachable(() => wasCacheCleared(parts.database, job.seq))))
    record.note({ kind: "note", at: parts.now(), note: { code: "cache_cleared" } });
  const outcome: RunOutcome = await parts.blobs.withFiles(hashes, async (getPath) => {
    const startedRun = job.remote
      ? await runOnRunner(parts, job, job.remote, { record, outputDir, pathOf: getPath, on: handleEvent })
      : parts.runner.run(
          {
            jobId: job.id,
            graph: job.graph,
            outputs: job.outputs,
            images: Object.fromEntries(job.images.map(({ name, hash }) => [name, { path: getPath(hash), hash }])),
            nextImage,
            outputDir,
            maxPixels: parts.maxJobPixels,
            cacheDir,
            blobsDir: parts.blobs.folder,
            pngText: getPngText(job),
          },
          handleEvent,
        );
    job.handOver(startedRun);
    return startedRun.done.catch((error: unknown): RunOutcome => {
      parts.log.warn({ err: error, job: job.id, attempt: job.attempts }, "job worker lost");
      return { kind: "lost", reason: "", counts: true };
    });
  });
  await pendingBegin;
  if (outcome.kind === "lost") await requeueLostRun(parts, run, outcome);
  if (outcome.kind === "error" && outcome.error.exception_type === "WorkerLost")
    parts.log.error({ job: job.id, node: outcome.error.node_type, reason: outcome.error.exception_message }, "job worker lost");
  if (outcome.kind === "success" || outcome.kind === "error") {
    end.prepare();
    await close(parts, run, outcome, end);
  }
  return { outcome: outcome.kind === "lost" ? "worker lost" : outcome.kind };
}

type Remote = NonNullable<Running["remote"]>;

async function runOnRunner(
  parts: EngineParts,
  job: Running,
  { runner, attempt, isResumed }: Remote,
  {
    record,
    outputDir,
    pathOf: getPath,
    on,
  }: { record: RunRecord; outputDir: string; pathOf: (hash: string) => string; on: (event: RunEvent) => void },
) {
  const { database, now, pool } = parts;
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
    { ...parts, limits: parts.remoteLimits },
    {
      jobId: job.id,
      userId: job.userId,
      attempt,
      isResumed,
      runner: { id, label, address: address ?? "" },
      graph: job.graph,
      outputs: job.outputs,
      nodesTotal: record.progress().nodes_total,
      extraData: job.extraData,
      inputs,
      library: pool.libraries.all(),
      outputDir,
      isFreeElsewhere: async () => pool.isFreeElsewhere(await findKind(database, job), id),
      reportBusy: () => pool.reportBusy(id),
      isGone: async () => (await readRunner(database, id)) === undefined,
      traffic: pool.trafficOf(id),
      reportProblem: ({ code, message }) =>
        void database
          .commit((tx) => storeProblem(tx, id, { code, message }, now()))
          .then(pool.refresh)
          .catch((error: unknown) => parts.log.warn({ err: error, runner: label }, "runner problem write failed")),
    },
    on,
  );
}

export async function requeueLostRun(
  { now }: Pick<EngineParts, "now">,
  { job, queue, untilStored }: JobContext,
  { reason, counts }: { reason: string; counts: boolean },
): Promise<void> {
  const waitingJob = await untilStored(async (tx) => {
    const at = now();
    if (!(await ensureStarted(tx, job, at))) return undefined;
    if (job.remote && counts) {
      await endAttempt(tx, job, "lost", at, reason);
      await recordEnd(tx, { runner: job.remote.runner.id, userId: job.userId, isSuccess: false, ms: at - job.record.startMs });
    } else if (job.remote) await forgetAttempt(tx, job);
    return requeueOrFail(tx, { now, queue }, job, { counts, reason: job.remote && reason });
  });
  if (waitingJob) queue.notifyWaiting(waitingJob, true);
}

/** Fails the job after an error of the service, at any time after the claim. */
export async function failRun({ now }: Pick<EngineParts, "now">, { job, untilStored }: JobContext, error: unknown): Promise<void> {
  await untilStored(async (tx) => {
    const at = now();
    if (!(await ensureStarted(tx, job, at))) return;
    await failOutsideNodes(tx, job, error, at);
    if (job.remote) await endAttempt(tx, job, "lost", at);
  });
}

/** Inside a commit: starts a job that its runner did not start, because only started jobs can fail or be requeued. False unless `isOwn`. */
async function ensureStarted(tx: Transaction, job: Running, at: number): Promise<boolean> {
  if (!(await isOwn(tx, job))) return false;
  await begin(tx, job, at);
  return true;
}

async function isOwn(tx: Transaction, { seq, fence }: Pick<Running, "seq" | "fence">): Promise<boolean> {
  const ownJob = query.selectFrom("jobs").select("seq").where("seq", "=", seq).where("fence", "=", fence).where(isHandedOver);
  return (await tx.row(ownJob)) !== undefined;
}

/** Files are stored in parallel, because the disk syncs many folders in hardly more time than one. */
const MAX_CONCURRENT = 16;

type EndedOutcome = Extract<RunOutcome, { kind: "success" | "error" }>;

async function close(parts: EngineParts, { job, untilReachable }: JobContext, outcome: EndedOutcome, { commit }: EndCommit): Promise<void> {
  const { blobs } = parts;
  const { record } = job;
  const staged = record.files.map(toStaged);
  const hashes = [...new Set(staged.map((output) => output.staged.hash))];
  async function store(): Promise<void> {
    for (let start = 0; start < staged.length; start += MAX_CONCURRENT)
      await Promise.all(staged.slice(start, start + MAX_CONCURRENT).map((output) => blobs.adopt(output.staged)));
    await commit((tx) => end(tx, parts, job, record, outcome, staged));
  }
  try {
    // If the database is unavailable at the end, the work must not be repeated.
    await untilReachable(() => blobs.hold(hashes, store));
  } finally {
    for (const hash of hashes) await blobs.drop(hash);
  }
}

async function end(
  tx: Transaction,
  { now }: EngineParts,
  job: Running,
  record: RunRecord,
  outcome: EndedOutcome,
  staged: readonly StagedOutput[],
): Promise<void> {
  const at = now();
  if (!(await isOwn(tx, job))) return; // cancelled just now or taken over: nothing is kept, and its stored bytes are dropped
  // The runner rejected the job, or completed it before it reported anything.
  if (await begin(tx, job, at)) record.begin(at);
  const { storedOutputs, refusal } = await insertOutputs(tx, { id: job.id, userId: job.userId, at }, staged, record);
  // An output that could not be stored is reported before a later failure of a node, because nothing else reports it.
  const storageError = refusal && createServiceError("StorageQuotaExceeded", refusal.message);
  await finishRun(tx, job, record, storageError ? { kind: "error", error: storageError } : outcome, storedOutputs, at);
  if (job.remote) await endAttempt(tx, job, "over", at);
  await recordEnd(tx, {
    runner: job.remote?.runner.id ?? null,
    userId: job.userId,
    isSuccess: outcome.kind === "success",
    isRefused: outcome.kind === "error" && outcome.error.exception_type === REJECTED_TYPE,
    ms: at - record.startMs,
  });
}

/** `prompt` and every text of extra_pnginfo (including the editor's `workflow`), as the JSON that ComfyUI writes into a PNG. */
function getPngText(job: Running): Record<string, string> {
  const info = asObject(job.extraData.extra_pnginfo) ?? {};
  const otherInfo = Object.entries(info).map(([keyword, value]): [string, string] => [
    keyword,
    getSpelling(info, keyword) ?? writeExactJson(value),
  ]);
  return { prompt: job.promptText, ...Object.fromEntries(otherInfo) };
}
