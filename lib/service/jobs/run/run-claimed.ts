// A job that the queue has given out, from the folder for its files until nothing of it is left to be done here.
// Guarantees: an error around a run ends that job, never the process; while the disk accepts nothing, its end is tried again until it is stored.

import { blobPath } from "@/lib/service/assets/blob-store";
import { endAttempt } from "@/lib/service/runners/attempts";
import { query } from "@/lib/service/store/database";
import { isStoreAway } from "@/lib/shared/error-codes";
import { type Background } from "./background";
import { type Claimed, type Running } from "./claim";
import { type EngineParts } from "./engine-parts";
import { failAround } from "./finish";
import { type JobQueue, type NextClaim } from "./job-queue";
import { executeJob, giveBack } from "./run-job";
import { type Patience } from "./until-stored";
import { type createWorkFolders } from "./work-folders";

export type Workplace = Patience & {
  parts: EngineParts;
  running: Map<string, Running>;
  queue: JobQueue;
  background: Background;
  workFolders: ReturnType<typeof createWorkFolders>;
};

export async function runClaimed(place: Workplace, job: Claimed, next: NextClaim): Promise<void> {
  const { parts, running, queue, background, workFolders, untilStored, untilThere } = place;
  const { log } = parts;
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
    if (isStoreAway(error)) {
      // The job is not at fault.
      const waits = await giveBack(parts, ordered, { reason: "The service's database did not answer.", counts: true });
      if (waits) queue.waits(waits, true);
    } else await fail(place, job, error);
  } finally {
    // The job may have been put back, and taken again.
    if (running.get(job.id) === run) running.delete(job.id);
    run.end();
    // The runner may have been set aside because of how the job ended.
    if (job.remote) background.add(refreshPool(parts));
    await tellEnd(parts, run);
    background.add(tidyUp(place, job, outputDir, isClean ? run.record.files.map(({ path }) => path) : undefined));
  }
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

async function fail({ parts: { now }, untilStored }: Workplace, job: Claimed, error: unknown): Promise<void> {
  await untilStored(async (tx) => {
    if ((await failAround(tx, job, error, now())) && job.remote) await endAttempt(tx, job, "lost", now());
  });
}

/** Best effort: the rounds read the runners again. */
function refreshPool({ pool, log }: EngineParts): Promise<void> {
  return pool.refresh().catch((error: unknown) => log.warn({ err: error }, "the runners could not be read again"));
}

/** Best effort: the store knows how the job ended. */
export function tellEnd({ database, log }: EngineParts, run: Running): Promise<void> {
  return run.teller.ended(database).catch((error: unknown) => log.warn({ err: error, job: run.id }, "how a job ended could not be told"));
}

async function tidyUp(
  { parts: { collect, log }, workFolders }: Workplace,
  job: Claimed,
  outputDir: string | undefined,
  files: readonly string[] | undefined,
): Promise<void> {
  if (outputDir !== undefined) await workFolders.giveBack(outputDir, files);
  // Assets may have been deleted while the job pinned their bytes.
  for (const { hash } of job.images)
    await collect(hash).catch((error: unknown) => log.warn({ err: error, hash }, "unused bytes stay until the next start"));
}
