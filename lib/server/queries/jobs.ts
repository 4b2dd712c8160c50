// Jobs, queue and history of a connection, and its missing node classes.

import "server-only";
import { hasFeature } from "@/lib/contract/connections";
import { type JobCounts, type LackingClasses, type QueueRow, type QueueView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type KnownJobState, toJobState } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import {
  type HistoryResponse,
  type JobDetail,
  type JobListItem,
  type JobsQuery,
  type JobsResponse,
  type JobStatus,
} from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { type Context } from "../auth/viewer";
import { canStopJobs } from "../capabilities/has-capability";
import { type Access, findVisibleConnection, openForJobs, openInBackground, readFromService } from "../connections/access";
import { recordQueueTotals } from "../responses/live-progress";
import { readCatalogue } from "../responses/node-classes";
import { requestRedacted } from "../responses/process-response";

export async function listJobs(context: Context, query: JobsQuery, connectionId?: string): Promise<Result<JobsResponse, Failure>> {
  return readFromService(context, connectionId, operations.listJobs, { query });
}

/** Most queues are shorter, so one request is enough to count their jobs by state. */
const MAX_COUNTED_ROWS = 50;

export async function countJobs(
  context: Context,
  connectionId: string | undefined,
  signal: AbortSignal,
): Promise<Result<JobCounts, Failure>> {
  const access = await openForJobs(context, connectionId);
  if (!access.ok) return access;
  const count = (status?: KnownJobState) =>
    requestRedacted(operations.listJobs, access.value, {
      query: { ...(status && { status: [status] }), offset: 0, limit: 1 },
      signal,
      waiter: "poll",
    });
  const [allResult, openResult] = await Promise.all([count(), listOpenJobs(access.value, MAX_COUNTED_ROWS, signal)]);
  if (!allResult.ok) return allResult;
  if (!openResult.ok) return openResult;
  const jobs = allResult.value.value.pagination.total;
  const { jobs: rows, pagination } = openResult.value.value;
  const openTotal = pagination.total;
  const { running, pending } = toQueueView(rows, undefined);
  if (openTotal !== undefined && rows.length >= openTotal) return ok({ jobs, running: running.length, pending: pending.length });
  const runningResult = await count("in_progress");
  if (!runningResult.ok) return runningResult;
  const runningTotal = runningResult.value.value.pagination.total;
  const hasTotals = openTotal !== undefined && runningTotal !== undefined;
  return ok({ jobs, running: runningTotal, pending: hasTotals ? Math.max(0, openTotal - runningTotal) : undefined });
}

/** True if jobs were submitted to or removed from the connection through this console, so it is not new even without jobs. */
export async function hasSubmittedJobs(context: Context, connectionId?: string): Promise<boolean> {
  const visibleResult = await findVisibleConnection(context, connectionId);
  return visibleResult.ok && context.composition.store.audit.hasEntry(["submitPrompt", "manageHistory"], visibleResult.value.id);
}

/** Details take precedence over the status, which only adds missing fields. The status may be unavailable. */
export async function getJob(
  context: Context,
  jobId: string,
  connectionId?: string,
): Promise<Result<{ detail: JobDetail; status?: JobStatus }, Failure>> {
  const params = { job_id: jobId };
  const visibleResult = await findVisibleConnection(context, connectionId);
  const shouldReadStatus = !visibleResult.ok || hasFeature(visibleResult.value, "jobStatus");
  const [detail, status] = await Promise.all([
    readFromService(context, connectionId, operations.getJob, { params }),
    shouldReadStatus ? readFromService(context, connectionId, operations.getJobStatus, { params }) : undefined,
  ]);
  if (!detail.ok) return detail;
  return ok({ detail: detail.value, ...(status?.ok && { status: status.value }) });
}

type HistoryPage = { max_items: number; offset: number };

/** Newest first, page by page. The API has no total. */
export async function listHistory(context: Context, query: HistoryPage, connectionId?: string): Promise<Result<HistoryResponse, Failure>> {
  return readFromService(context, connectionId, operations.listHistory, { query });
}

export async function listMissingClasses(
  context: Context,
  names: readonly string[],
  connectionId?: string,
): Promise<Result<LackingClasses, Failure>> {
  // Opened in the background, so that it also works for unused connections.
  const access = await openInBackground(context, connectionId);
  if (!access.ok) return access;
  const catalogue = await readCatalogue(access.value, { waiter: "poll" });
  if (!catalogue.ok) return catalogue;
  const classes = new Set(catalogue.value.classes.map(([name]) => name));
  return ok({ lacking: names.filter((name) => !classes.has(name)) });
}

const MAX_QUEUE_ROWS = 1000;

/** Positions by job id. Undefined if the service's queue doesn't contain the job. */
type QueuePositions = ReadonlyMap<string, number | undefined>;

export async function getQueue(context: Context, connectionId?: string, signal?: AbortSignal): Promise<Result<QueueView, Failure>> {
  const access = await openForJobs(context, connectionId);
  if (!access.ok) return access;
  const result = await listOpenJobs(access.value, MAX_QUEUE_ROWS, signal);
  if (!result.ok) return result;
  const { jobs, pagination, unreadable } = result.value.value;
  const waitingIds = jobs.filter(isPending).map(({ id }) => id);
  const positions = await findPositions(access.value, waitingIds, signal);
  const canStopRunning = jobs.length > waitingIds.length && (await canStopJobs(access.value, signal));
  const view = toQueueView(jobs, positions);
  return ok({ ...view, canStop: canStopRunning, total: pagination.total, unreadable });
}

function listOpenJobs(access: Access, limit: number, signal: AbortSignal | undefined) {
  const query = { status: ["in_progress", "pending"], sort_by: "create_time", sort_order: "asc", offset: 0, limit };
  return requestRedacted(operations.listJobs, access, { query, signal, waiter: signal ? "poll" : "page" });
}

/** Undefined if no positions are known. Cached between polls, because waiting jobs keep their order. */
async function findPositions(
  access: Access,
  waitingIds: readonly string[],
  signal: AbortSignal | undefined,
): Promise<QueuePositions | undefined> {
  const { queuePositions } = access.composition;
  const { id, baseUrl } = access.connection;
  const key = `${id} ${baseUrl}`;
  const cachedPositions = queuePositions.get(key);
  if (waitingIds.length < 2) return undefined;
  const currentPositions = cachedPositions && waitingIds.every((jobId) => cachedPositions.has(jobId)) ? cachedPositions : undefined;
  const newPositions = currentPositions ?? (await readPositions(access, signal));
  if (!newPositions) return undefined;
  // Drops jobs that have left the queue. If they return, their positions are read again.
  const positions = new Map(waitingIds.map((jobId) => [jobId, newPositions.get(jobId)]));
  queuePositions.set(key, positions);
  return positions;
}

async function readPositions(access: Access, signal: AbortSignal | undefined): Promise<QueuePositions | undefined> {
  const queue = await access.upstream.call(operations.listQueue, { signal });
  if (!queue.ok) return undefined;
  // The first number of a tuple orders the waiting jobs. For some services it is a priority, so only the order counts.
  const pendingEntries = [...queue.value.queue_pending].sort((item, other) => item[0] - other[0]);
  recordQueueTotals(access, [...queue.value.queue_running, ...pendingEntries]);
  return new Map(pendingEntries.map(([, jobId], index) => [jobId, index]));
}

export function toQueueView(jobs: readonly JobListItem[], positions: QueuePositions | undefined): Omit<QueueView, "canStop"> {
  // Only running and waiting jobs were requested, so jobs with an unknown state are listed with the running ones.
  const running = jobs.filter((job) => ["in_progress", "unknown"].includes(toJobState(job.status)));
  const pending = jobs.filter(isPending);
  if (!positions) return { running, pending, source: "jobs" };
  const getPosition = ({ id }: JobListItem) => positions.get(id) ?? Infinity;
  const rows = pending.toSorted((item, other) =>
    getPosition(item) < getPosition(other) ? -1 : getPosition(item) > getPosition(other) ? 1 : 0,
  );
  const positionedRows = rows.map((job, index): QueueRow => ({ ...job, position: getPosition(job) === Infinity ? undefined : index + 1 }));
  return { running, pending: positionedRows, source: "queue" };
}

function isPending(job: JobListItem): boolean {
  return toJobState(job.status) === "pending";
}
