// The image file that the job will read that is served next, told to the worker so that it is decoded while another job runs.
// A guess that costs nothing when it is wrong: nothing is claimed, and nothing is answered. With several slots the cores have work already,
// and it is not known which of them serves that job.

import { query } from "../store/database";
import { type EngineParts } from "./engine-parts";
import { type FairQueue } from "./fair-queue";

export function imageOfNext({ database, blobs, concurrency, log }: EngineParts, queue: FairQueue): string | undefined {
  const seq = concurrency === 1 ? queue.peek() : undefined;
  if (seq === undefined) return undefined;
  try {
    const image = database.row(query.selectFrom("job_images").select("hash").where("job_seq", "=", seq).limit(1));
    return image && blobs.pathOf(image.hash);
  } catch (error) {
    log.warn({ err: error, seq }, "the images of a job that waits could not be read");
    return undefined;
  }
}
