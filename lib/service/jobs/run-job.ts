// One job from its claim to its end: the request to the runner, the events that come back, the commit that closes it.

import { join } from "node:path";
import { type RunOutcome } from "../nodes/run";
import { query } from "../store/database";
import { insertOutputs, type StagedOutput, toStaged } from "./adopt-outputs";
import { type Claimed, type Running } from "./claim";
import { type EngineParts } from "./engine-parts";
import { observedRun } from "../figures";
import { errorAround, finishRun } from "./finish";
import { type NextClaim } from "./next-claim";
import { giveBackOrFail } from "./recover";
import { type RunRecord } from "./run-record";

/** `waits`: its worker was lost and it may be tried once more. `isClean`: the record knows all files of the folder. */
type Execution = { waits: boolean; isClean: boolean; how: RunOutcome["kind"] | "worker lost" };

/** The commit that ends the job takes the next one. */
export async function executeJob(...[parts, run]: Parameters<typeof execute>): Promise<Execution> {
  return observedRun(run.job.id, () => execute(parts, run));
}

async function execute(
  parts: EngineParts,
  run: { job: Claimed; running: Running; outputDir: string; next: NextClaim; nextImage: string | undefined },
): Promise<Execution> {
  const { job, running, outputDir, next, nextImage } = run;
  const { record, teller } = running;
  teller.begun(record.startMs);
  const cacheDir = join(parts.folders.nodeCache, String(job.userId));
  const hashes = job.images.map(({ hash }) => hash);
  const outcome = await parts.blobs.withFiles(hashes, (pathOf) => {
    const nodes = parts.runner.run(
      {
        jobId: job.id,
        graph: job.graph,
        outputs: job.outputs,
        images: Object.fromEntries(job.images.map(({ name, hash }) => [name, { path: pathOf(hash), hash }])),
        nextImage,
        outputDir,
        maxPixels: parts.maxJobPixels,
        cacheDir,
        blobsDir: parts.blobs.folder,
        pngText: pngTextOf(job),
      },
      (event) => {
        record.note(event);
        teller.note(event);
      },
    );
    running.handOver(nodes.cancel);
    return nodes.done.catch((error: unknown) => ({ kind: "lost" as const, error }));
  });
  if (outcome.kind === "lost") {
    parts.log.warn({ err: outcome.error, job: job.id }, "the worker of a job was lost");
    const isLost = await parts.database.commitFreeing(() => giveBackOrFail(parts.database, job, parts.now()));
    return { waits: !isLost, isClean: false, how: "worker lost" };
  }
  if (outcome.kind === "error" && outcome.error.exception_type === "WorkerLost")
    parts.log.error(
      { job: job.id, node: outcome.error.node_type, reason: outcome.error.exception_message },
      "a worker was lost with its job",
    );
  if (outcome.kind !== "cancelled") await close(parts, job, record, outcome, next);
  return { waits: false, isClean: outcome.kind === "success", how: outcome.kind };
}

/** Files that are given their places side by side: the disk syncs many folders in hardly more time than one. */
const AT_ONCE = 16;

type Ended = Exclude<RunOutcome, { kind: "cancelled" }>;

async function close(parts: EngineParts, job: Claimed, record: RunRecord, outcome: Ended, next: NextClaim): Promise<void> {
  const { database, blobs } = parts;
  const staged = record.files.map(toStaged);
  const hashes = [...new Set(staged.map((output) => output.staged.hash))];
  try {
    await blobs.hold(hashes, async () => {
      for (let first = 0; first < staged.length; first += AT_ONCE)
        await Promise.all(staged.slice(first, first + AT_ONCE).map((output) => blobs.adopt(output.staged)));
      const ending = database.commit(() => {
        end(parts, job, record, outcome, staged);
        next.take();
      });
      await next.keepIf(ending);
    });
  } finally {
    for (const hash of hashes) await blobs.drop(hash);
  }
}

/** Inside a commit. */
function end({ database, now }: EngineParts, job: Claimed, record: RunRecord, outcome: Ended, staged: readonly StagedOutput[]): void {
  const at = now();
  const state = database.row(query.selectFrom("jobs").select("state").where("seq", "=", job.seq))?.state;
  if (state !== "in_progress") return; // cancelled a moment ago: it keeps nothing, and what it adopted is dropped
  const { kept, refusal } = insertOutputs(database, { id: job.id, userId: job.userId, at }, staged, record.texts);
  // What could not be kept weighs more than a node that failed after it: nothing else says where that output is.
  const error = refusal && errorAround("StorageQuotaExceeded", refusal.message);
  finishRun(database, job, record, error ? { kind: "error", error } : outcome, kept, at);
}

/** `prompt` and every text of extra_pnginfo (the editor's `workflow` among them), as the family writes them into a PNG. */
function pngTextOf(job: Claimed): Record<string, unknown> {
  const info = job.extraData.extra_pnginfo;
  return { prompt: job.graph, ...(typeof info === "object" && info !== null && !Array.isArray(info) ? info : {}) };
}
