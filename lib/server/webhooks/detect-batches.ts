// Finds the batches of a connection that ended: jobs that were submitted together, of which none waits or runs any more.

import "server-only";
import { z } from "zod";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { type JobLabelStore } from "../store/jobs/submissions";
import { MAX_ACTIVE } from "./detect-jobs";

/** A batch whose sender stopped halfway ends this long after its last job was submitted. */
const ABANDONED_MS = 60_000;
const MAX_BATCHES = 100;

const batchStateSchema = z.object({
  id: z.string(),
  name: z.string(),
  workflowId: z.string().optional(),
  member: z.string().optional(),
  completed: z.int(),
  failed: z.int(),
});
/** Batches of which a job has ended, the newest last. */
export const batchesStateSchema = z.array(batchStateSchema);
type BatchState = z.output<typeof batchStateSchema>;
/** `newestJobId`: a batch that is continued after its end ends again. */
type EndedBatch = BatchState & { jobs: number; newestJobId: string };

type BatchInput = {
  jobLabels: JobLabelStore;
  connectionId: string;
  before: readonly BatchState[];
  /** Jobs that ended since the last check. */
  ended: readonly JobListItem[];
  /** Ids of jobs that waited or ran at `listedAt`; up to MAX_ACTIVE. */
  open: readonly string[];
  listedAt: number;
};

export async function findEndedBatches({ jobLabels, connectionId, before, ended, open, listedAt }: BatchInput) {
  const tracked = new Map(before.map((batch) => [batch.id, batch]));
  const ids = ended.map(({ id }) => id);
  const batchOf = ids.length > 0 ? await jobLabels.batchesOf(connectionId, ids) : new Map<string, string>();
  for (const job of ended) {
    const id = batchOf.get(job.id);
    if (id === undefined) continue;
    const name = job.workflow_name ?? job.workflow_id ?? id;
    const { completed, failed, ...batch } = tracked.get(id) ?? {
      id,
      name,
      workflowId: job.workflow_id,
      member: job.submitted_by,
      completed: 0,
      failed: 0,
    };
    const state = toJobState(job.status);
    tracked.set(id, { ...batch, completed: completed + Number(state === "completed"), failed: failed + Number(state === "failed") });
  }
  const openIds = new Set(open);
  const endedBatches: EndedBatch[] = [];
  for (const batch of tracked.values()) {
    const { jobIds, size, newestAt } = await jobLabels.batch(connectionId, batch.id);
    // Jobs that were submitted later, or are beyond the limit, may wait.
    if (newestAt > listedAt || openIds.size >= MAX_ACTIVE) continue;
    const isSent = jobIds.length >= size || listedAt - newestAt >= ABANDONED_MS;
    if (!isSent || jobIds.some((id) => openIds.has(id))) continue;
    endedBatches.push({ ...batch, jobs: jobIds.length, newestJobId: jobIds.at(-1) ?? "" });
    tracked.delete(batch.id);
  }
  return { state: [...tracked.values()].slice(-MAX_BATCHES), ended: endedBatches };
}
