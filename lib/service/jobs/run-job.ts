// One job from its claim to its end: the request to the runner, the events that come back, the commit that closes it.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Graph } from "@/lib/contract/schemas/graph";
import { hasBlobRow } from "../assets/change-asset";
import { type RunOutcome } from "../nodes/run";
import { query } from "../store/database";
import { insertOutputs, stageOutputs } from "./adopt-outputs";
import { type EngineParts } from "./engine-parts";
import { errorAround, failJob, finishRun } from "./finish";
import { readGraph, readRecord, readStrings } from "./job-row";
import { createRunRecord, type RunRecord } from "./run-record";
import { giveBackOrFail } from "./recover";
import { move } from "./transitions";

export type Claimed = {
  seq: number;
  id: string;
  userId: number;
  attempts: number;
  slot: string;
  startMs: number;
  graph: Graph;
  outputs: string[];
  extraData: Record<string, unknown>;
  images: { name: string; hash: string }[];
};

export type Running = Pick<Claimed, "seq" | "id" | "userId" | "attempts"> & {
  record: RunRecord;
  /** Ends the run soon; before it has begun, keeps it from beginning. */
  cancel(): void;
  /** Set once the runner has the job. */
  handOver(cancel: () => void): void;
};

export function createRunning(job: Claimed): Running {
  let isCancelled = false;
  let cancelRun: (() => void) | undefined;
  const { seq, id, userId, attempts } = job;
  return {
    seq,
    id,
    userId,
    attempts,
    record: createRunRecord(id, job.graph, job.outputs, job.startMs),
    cancel() {
      isCancelled = true;
      cancelRun?.();
    },
    handOver(cancel) {
      cancelRun = cancel;
      if (isCancelled) cancel();
    },
  };
}

/** Undefined when the job no longer waits, or cannot be read and has failed for that. Inside a commit. */
export function claimJob({ database, now, log }: EngineParts, seq: number, slot: string): Claimed | undefined {
  const job = database.row(query.selectFrom("jobs").innerJoin("job_inputs", "job_seq", "seq").selectAll().where("seq", "=", seq));
  if (job?.state !== "pending") return undefined;
  const at = Math.max(now(), job.create_time);
  const attempts = job.attempts + 1;
  move(database, { seq, from: "pending", to: "in_progress", at }, { attempts, slot, start_time: at });
  const images = database.rows(query.selectFrom("job_images").select(["name", "hash"]).where("job_seq", "=", seq));
  try {
    const extraData = readRecord(job.extra_data);
    const outputs = readStrings(job.outputs_to_execute);
    return { seq, id: job.id, userId: job.user_id, attempts, slot, startMs: at, graph: readGraph(job), outputs, extraData, images };
  } catch (error) {
    log.error({ err: error, job: job.id }, "what is stored of a job cannot be read");
    failJob(database, job, "DamagedJob", "What the service stored of this job is damaged, so it cannot run. Submit it again.", at);
    return undefined;
  }
}

/** True when the job waits again: its worker was lost and it may be tried once more. */
export async function executeJob(parts: EngineParts, job: Claimed, running: Running, outputDir: string): Promise<boolean> {
  const { record } = running;
  const cacheDir = join(parts.folders.nodeCache, String(job.userId));
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const run = parts.runner.run(
    {
      jobId: job.id,
      graph: job.graph,
      outputs: job.outputs,
      images: Object.fromEntries(job.images.map(({ name, hash }) => [name, { path: parts.blobs.pathOf(hash), hash }])),
      outputDir,
      maxPixels: parts.maxJobPixels,
      cacheDir,
      blobsDir: parts.folders.blobs,
      pngText: pngTextOf(job),
    },
    (event) => record.note(event),
  );
  running.handOver(run.cancel);

  let outcome: RunOutcome;
  try {
    outcome = await run.done;
  } catch (error) {
    parts.log.warn({ err: error, job: job.id }, "the worker of a job was lost");
    return !(await parts.database.commit(() => giveBackOrFail(parts.database, job, parts.now())));
  }
  if (outcome.kind === "error" && ["WorkerLost", "OOMError"].includes(outcome.error.exception_type))
    parts.log.error(
      { job: job.id, node: outcome.error.node_type, reason: outcome.error.exception_message },
      "a worker was lost with its job",
    );
  if (outcome.kind !== "cancelled") await close(parts, job, record, outcome);
  return false;
}

async function close(
  parts: EngineParts,
  job: Claimed,
  record: RunRecord,
  outcome: Exclude<RunOutcome, { kind: "cancelled" }>,
): Promise<void> {
  const { database, blobs } = parts;
  let hashes: string[] = [];
  try {
    const staged = await stageOutputs(record.files);
    hashes = [...new Set(staged.map((output) => output.staged.hash))];
    await blobs.hold(hashes, async () => {
      for (const output of staged) await blobs.adopt(output.staged);
      await database.commit(() => {
        const at = parts.now();
        const state = database.row(query.selectFrom("jobs").select("state").where("seq", "=", job.seq))?.state;
        if (state !== "in_progress") return; // cancelled a moment ago: it keeps nothing, and what it adopted is dropped below
        const { kept, refusal } = insertOutputs(database, { id: job.id, userId: job.userId, at }, staged, record.texts);
        // What could not be kept weighs more than a node that failed after it: nothing else says where that output is.
        const error = refusal && errorAround("StorageQuotaExceeded", refusal.message);
        finishRun(database, job, record, error ? { kind: "error", error } : outcome, kept, at);
      });
    });
  } finally {
    for (const hash of hashes) blobs.drop(hash, (one) => hasBlobRow(database, one));
  }
}

/** `prompt` and every text of extra_pnginfo (the editor's `workflow` among them), as the family writes them into a PNG. */
function pngTextOf(job: Claimed): Record<string, unknown> {
  const info = job.extraData.extra_pnginfo;
  return { prompt: job.graph, ...(typeof info === "object" && info !== null && !Array.isArray(info) ? info : {}) };
}
