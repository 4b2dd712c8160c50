// Finds the jobs of a connection that ended since the last check. The same input gives the same result.

import "server-only";
import { z } from "zod";
import { type Failure } from "@/lib/contract/failure";
import { isTerminalStatus, toJobState } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { type JobListItem, type JobsResponse } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { ok, type Result } from "@/lib/shared/result";
import { type BackgroundAccess } from "../connections/access";
import { toPage } from "../job-index/list-reader";
import { requestRedacted } from "../responses/process-response";
import { type JobLabelStore } from "../store/jobs/submissions";

const PAGE_SIZE = 100;
const MAX_PAGES = 20;
const MAX_ACTIVE_JOBS = 1000;
/** Jobs per check that are read individually, because no list contains them. */
const MAX_JOB_READS = 50;
/** Services may list a job shortly after later ones. */
const OVERLAP_MS = 60_000;
const MAX_ENDED_JOBS = 2000;

export const jobsStateSchema = z.object({
  newestMs: z.number(),
  /** Ids of waiting and running jobs, oldest first. */
  open: z.array(z.string()),
  /** Ids of ended jobs that are within the overlap. */
  ended: z.array(z.string()),
});
export type JobsState = z.output<typeof jobsStateSchema>;
type EndedJobs = { state: JobsState; ended: JobListItem[]; newestId: string | undefined };

const getCreatedMs = (job: JobListItem): number | undefined => toMilliseconds(job.create_time);
const isOpen = ({ status }: JobListItem) => !isTerminalStatus(status);

/** Without an earlier state, no job counts as ended. */
export async function findEndedJobs(
  access: BackgroundAccess,
  before: JobsState | undefined,
  signal: AbortSignal,
): Promise<Result<EndedJobs, Failure>> {
  const newestResult = await readNewestJobs(access, before, signal);
  if (!newestResult.ok) return newestResult;
  const rows = new Map(newestResult.value.jobs.map((job) => [job.id, job]));
  const trackedIds = new Set(before?.open);
  const missingIds = [...trackedIds].filter((id) => !rows.has(id));
  const activeResult = await readActiveJobs(
    access,
    before && { missingIds, isLimited: trackedIds.size >= MAX_ACTIVE_JOBS, listedCount: newestResult.value.jobs.filter(isOpen).length },
    signal,
  );
  if (!activeResult.ok) return activeResult;
  const { listedIds, goneIds } = activeResult.value;
  const remainingResult = await readEndedJobs(access, goneIds, rows, signal);
  if (!remainingResult.ok) return remainingResult;

  const newestMs = Math.max(before?.newestMs ?? 0, ...[...rows.values()].map((job) => getCreatedMs(job) ?? 0));
  const pastEndedIds = new Set(before?.ended);
  const isRecent = (job: JobListItem, sinceMs: number) => (getCreatedMs(job) ?? sinceMs) >= sinceMs - OVERLAP_MS;
  const wasOpen = (job: JobListItem) => before && (trackedIds.has(job.id) || (isRecent(job, before.newestMs) && !pastEndedIds.has(job.id)));
  const jobsOldestFirst = [...rows.values()].reverse();
  const endedJobs = jobsOldestFirst.filter((job) => !isOpen(job) && wasOpen(job));
  const endedIds = new Set([...rows.values()].filter((job) => !isOpen(job) && isRecent(job, newestMs)).map(({ id }) => id));
  // Further pages contain more of these, but were not read.
  if (newestResult.value.isTruncated) for (const id of pastEndedIds) endedIds.add(id);
  const goneIdSet = new Set(goneIds);
  // Unread jobs come first, because the limit must not drop them.
  const openIds = new Set([...remainingResult.value, ...listedIds, ...missingIds.filter((id) => !goneIdSet.has(id))]);
  for (const job of jobsOldestFirst) if (isOpen(job)) openIds.add(job.id);
  for (const { id } of endedJobs) openIds.delete(id);
  const state = { newestMs, open: [...openIds].slice(0, MAX_ACTIVE_JOBS), ended: [...endedIds].slice(0, MAX_ENDED_JOBS) };
  return ok({ state, ended: endedJobs, newestId: newestResult.value.jobs[0]?.id });
}

/** Reads back to the jobs of the last check. `isTruncated`: it stopped at a page of known jobs, which may not be all. */
async function readNewestJobs(
  access: BackgroundAccess,
  before: JobsState | undefined,
  signal: AbortSignal,
): Promise<Result<{ jobs: JobListItem[]; isTruncated: boolean }, Failure>> {
  const knownIds = new Set([...(before?.open ?? []), ...(before?.ended ?? [])]);
  const rows: JobListItem[] = [];
  for (let page = 0, offset = 0; page < MAX_PAGES; page += 1) {
    const query = { sort_by: "create_time", sort_order: "desc", offset, limit: PAGE_SIZE };
    const jobsResult = await listJobs(access, query, signal);
    if (!jobsResult.ok) return jobsResult;
    const { jobs } = jobsResult.value;
    const { isLast, nextOffset, oldestMs } = toPage(jobsResult.value, offset);
    rows.push(...jobs);
    offset = nextOffset;
    if (isLast) break;
    // All rows of the page are unreadable.
    if (jobs.length === 0) continue;
    if (!before || oldestMs === undefined || oldestMs < before.newestMs - OVERLAP_MS) break;
    if (jobs.every(({ id }) => knownIds.has(id))) return ok({ jobs: rows, isTruncated: true });
  }
  return ok({ jobs: rows, isTruncated: false });
}

/**
 * Reads open jobs, oldest first, until the service's total shows that all others still exist. For a long queue that is one page.
 * `listedCount` is the number of open jobs in the newest page. `isLimited`: there may be more open jobs than are tracked.
 */
async function readActiveJobs(
  access: BackgroundAccess,
  before: { missingIds: readonly string[]; listedCount: number; isLimited: boolean } | undefined,
  signal: AbortSignal,
): Promise<Result<{ listedIds: string[]; goneIds: string[] }, Failure>> {
  const listedIds = new Set<string>();
  if (before?.missingIds.length === 0) return ok({ listedIds: [], goneIds: [] });
  const missingIds = before?.missingIds ?? [];
  let goneIds: string[] = [];
  for (let page = 0, offset = 0; page < MAX_PAGES && offset < MAX_ACTIVE_JOBS; page += 1) {
    const query = { status: ["in_progress", "pending"], sort_by: "create_time", sort_order: "asc", offset, limit: PAGE_SIZE };
    const jobsResult = await listJobs(access, query, signal);
    if (!jobsResult.ok) return jobsResult;
    const { jobs, pagination } = jobsResult.value;
    const { isLast, nextOffset } = toPage(jobsResult.value, offset);
    for (const { id } of jobs) listedIds.add(id);
    offset = nextOffset;
    const isComplete = isLast || offset >= MAX_ACTIVE_JOBS;
    const endIndex = isComplete ? missingIds.length : missingIds.findLastIndex((id) => listedIds.has(id));
    goneIds = missingIds.filter((id, index) => index < endIndex && !listedIds.has(id));
    // The total includes jobs that are not tracked.
    const hasAllOthers =
      !before?.isLimited && endIndex >= 0 && before && (pagination.total ?? 0) >= missingIds.length - goneIds.length + before.listedCount;
    if (isLast || hasAllOthers) break;
  }
  return ok({ listedIds: [...listedIds], goneIds });
}

/** Adds jobs that have left the lists to `rows`. Returns the ids of those that must still be read. */
async function readEndedJobs(
  access: BackgroundAccess,
  endedIds: readonly string[],
  rows: Map<string, JobListItem>,
  signal: AbortSignal,
): Promise<Result<string[], Failure>> {
  if (endedIds.length > 1) {
    // In a FIFO queue, these jobs ended last.
    const query = { status: ["completed", "failed", "cancelled"], sort_by: "create_time", sort_order: "desc", offset: 0, limit: PAGE_SIZE };
    const jobsResult = await listJobs(access, query, signal);
    if (!jobsResult.ok) return jobsResult;
    for (const job of jobsResult.value.jobs) if (endedIds.includes(job.id)) rows.set(job.id, job);
  }
  const unlistedIds = endedIds.filter((id) => !rows.has(id));
  for (const id of unlistedIds.slice(0, MAX_JOB_READS)) {
    const job = await requestRedacted(operations.getJob, access, { params: { job_id: id }, signal, waiter: "poll" });
    if (job.ok) rows.set(id, job.value.value);
    // A removed job has not ended.
    else if (job.failure.status !== 404) return job;
  }
  return ok(unlistedIds.slice(MAX_JOB_READS));
}

async function listJobs(
  access: BackgroundAccess,
  query: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Result<JobsResponse, Failure>> {
  const result = await requestRedacted(operations.listJobs, access, { query, signal, waiter: "poll" });
  return result.ok ? ok(result.value.value) : result;
}

// Finds batches of a connection that ended: jobs that were submitted together, of which none is waiting or running any more.

/** If a sender stops halfway, its batch ends this long after the last job. */
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
/** Batches with an ended job, the newest last. */
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
  /** Ids of jobs that waited or ran at `listedAt`, up to MAX_ACTIVE_JOBS. */
  open: readonly string[];
  listedAt: number;
};

export async function findEndedBatches({ jobLabels, connectionId, before, ended, open, listedAt }: BatchInput) {
  const batchesById = new Map(before.map((batch) => [batch.id, batch]));
  const ids = ended.map(({ id }) => id);
  const batchIds = ids.length > 0 ? await jobLabels.findBatchIds(connectionId, ids) : new Map<string, string>();
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
    const { jobIds, size, newestAt } = await jobLabels.getBatch(connectionId, batch.id);
    // Jobs that were submitted later, or exceed the limit, may still be waiting.
    if (newestAt > listedAt || openIds.size >= MAX_ACTIVE_JOBS) continue;
    const isSent = jobIds.length >= size || listedAt - newestAt >= ABANDONED_MS;
    if (!isSent || jobIds.some((id) => openIds.has(id))) continue;
    endedBatches.push({ ...batch, jobs: jobIds.length, newestJobId: jobIds.at(-1) ?? "" });
    batchesById.delete(batch.id);
  }
  return { state: [...batchesById.values()].slice(-MAX_BATCHES), ended: endedBatches };
}
