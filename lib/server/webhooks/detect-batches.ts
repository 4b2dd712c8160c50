// Finds batches of a connection that ended: jobs that were submitted together, of which none is waiting or running any more.

import "server-only";
import { z } from "zod";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { type JobLabelStore } from "../store/jobs/submissions";
import { MAX_ACTIVE } from "./detect-jobs";

/** A batch whose sender stopped halfway ends this long after its last job. */
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
/** `newestJobId` is part of the event's id, because a batch that continues after its end ends again. */
type EndedBatch = BatchState & { jobs: number; newestJobId: string };

type BatchInput = {
  jobLabels: JobLabelStore;
  connectionId: string;
  before: readonly BatchState[];
  /** Jobs that ended since the last check. */
  ended: readonly JobListItem[];
  /** Ids of jobs that waited or ran at `listedAt`, up to MAX_ACTIVE. */
  open: readonly string[];
  listedAt: number;
};

export async function findEndedBatches({ jobLabels, connectionId, before, ended, open, listedAt }: BatchInput) {
  const batchesById = new Map(before.map((batch) => [batch.id, batch]));
  const ids = ended.map(({ id }) => id);
  const batchIds = ids.length > 0 ? await jobLabels.batchesOf(connectionId, ids) : new Map<string, string>();
  for (const job of ended) {
    const id = batchIds.get(job.id);
    if (id === undefined) continue;
    const name = job.workflow_name ?? job.workflow_id ?? id;
    const { completed, failed, ...batch } = batchesById.get(id) ?? {
      id,
      name,
      workflowId: job.workflow_id,
      member: job.submitted_by,
      completed: 0,
      failed: 0,
    };
    const state = toJobState(job.status);
    batchesById.set(id, { ...batch, completed: completed + Number(state === "completed"), failed: failed + Number(state === "failed") });
  }
  const openIds = new Set(open);
  const endedBatches: EndedBatch[] = [];
  for (const batch of batchesById.values()) {
    const { jobIds, size, newestAt } = await jobLabels.batch(connectionId, batch.id);
    // Jobs submitted later, or beyond the limit, may still be waiting.
    if (newestAt > listedAt || openIds.size >= MAX_ACTIVE) continue;
    const isSent = jobIds.length >= size || listedAt - newestAt >= ABANDONED_MS;
    if (!isSent || jobIds.some((id) => openIds.has(id))) continue;
    endedBatches.push({ ...batch, jobs: jobIds.length, newestJobId: jobIds.at(-1) ?? "" });
    batchesById.delete(batch.id);
  }
  return { state: [...batchesById.values()].slice(-MAX_BATCHES), ended: endedBatches };
}
