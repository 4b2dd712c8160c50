// Jobs, queue and history of a connection, and its missing node classes.

import "server-only";
import { type LackingClasses, type QueueRow, type QueueView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { objectOf } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { type JobDetail, type JobListItem, type JobsAnswer, type JobsQuery, type JobStatus } from "@/lib/contract/schemas/job";
import { type HistoryAnswer, queueListSchema } from "@/lib/contract/schemas/queue";
import { failed, ok, type Result } from "@/lib/shared/result";
import { noteTotalsInQueue } from "../answers/landed";
import { passOn } from "../answers/pass-on";
import { toBrowser } from "../answers/to-browser";
import { type Context } from "../auth/viewer";
import { canStop } from "../capabilities/has-capability";
import { type Access, findVisible, openForJobs, openQuietly, readThrough } from "../connections/access";
import { unreadable } from "../upstream/failures";
import { TOO_LARGE } from "../upstream/read-body";
import { learnClassNames } from "../workflows/with-names";

export async function listJobs(context: Context, query: JobsQuery, connection?: string): Promise<Result<JobsAnswer, Failure>> {
  return readThrough(context, connection, operations.listJobs, { query });
}

/** Whether jobs were submitted to or removed from the connection through this console. If so, it is not new, even without jobs. */
export async function wasUsed(context: Context, connection?: string): Promise<boolean> {
  const found = await findVisible(context, connection);
  return found.ok && context.composition.store.audit.wasDone(["submitPrompt", "manageHistory"], found.value.id);
}

/** The details decide; the status adds what only it knows, and may be missing. For a local server it would only repeat the details. */
export async function getJob(
  context: Context,
  jobId: string,
  connection?: string,
): Promise<Result<{ detail: JobDetail; status?: JobStatus }, Failure>> {
  const params = { job_id: jobId };
  const found = await findVisible(context, connection);
  const isLocal = found.ok && found.value.dialect === "local";
  const [detail, status] = await Promise.all([
    readThrough(context, connection, operations.getJob, { params }),
    isLocal ? undefined : readThrough(context, connection, operations.getJobStatus, { params }),
  ]);
  if (!detail.ok) return detail;
  return ok({ detail: detail.value, ...(status?.ok && { status: status.value }) });
}

type HistoryPage = { max_items: number; offset: number };

/** Newest first, page by page, without a total: the interface has none. */
export async function listHistory(context: Context, query: HistoryPage, connection?: string): Promise<Result<HistoryAnswer, Failure>> {
  return readThrough(context, connection, operations.listHistory, { query });
}

export async function listLackingClasses(
  context: Context,
  names: readonly string[],
  connection?: string,
): Promise<Result<LackingClasses, Failure>> {
  // Connections that no one is using at the moment are asked too.
  const access = await openQuietly(context, connection);
  if (!access.ok) return access;
  // Not parsed by the schema: only the names are needed.
  const info = await access.value.upstream.exchange(operations.getObjectInfo, { waits: "poll" });
  if (!info.ok) return failed(toBrowser(info.failure, access.value));
  learnClassNames(access.value.connection.id, info.value.value);
  const classes = objectOf(info.value.value) ?? {};
  return ok({ lacking: names.filter((name) => !Object.hasOwn(classes, name)) });
}

const MAX_ROWS = 1000;

/** By waiting job; undefined if the service's queue did not name it. */
type QueuePlaces = ReadonlyMap<string, number | undefined>;

export async function getQueue(context: Context, connection?: string, signal?: AbortSignal): Promise<Result<QueueView, Failure>> {
  const access = await openForJobs(context, connection);
  if (!access.ok) return access;
  const { upstream } = access.value;
  const query = { status: ["in_progress", "pending"], sort_by: "create_time", sort_order: "asc", offset: 0, limit: MAX_ROWS };
  const jobs = await upstream.call(operations.listJobs, { query, signal, waits: signal ? "poll" : "page" });
  if (!jobs.ok) return failed(toBrowser(jobs.failure, access.value));
  const waiting = jobs.value.jobs.filter(isPending).map(({ id }) => id);
  const places = await findPlaces(access.value, waiting, signal);
  if (!places.ok) return places;
  const mayStop = jobs.value.jobs.length > waiting.length && (await canStop(access.value, signal));
  const named = await passOn(operations.listJobs, access.value, jobs.value);
  const view = toQueueView(named.jobs, places.value);
  return ok({ ...view, canStop: mayStop, total: jobs.value.pagination.total, unreadable: jobs.value.unreadable });
}

/** Undefined if nothing tells the places. Kept from poll to poll: the order of waiting jobs does not change while they wait. */
async function findPlaces(
  access: Access,
  waiting: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Result<QueuePlaces | undefined, Failure>> {
  const { capabilities, queuePlaces } = access.composition;
  const { id, baseUrl } = access.connection;
  const key = `${id} ${baseUrl}`;
  const cachedPlaces = queuePlaces.get(key);
  if (waiting.length < 2 || capabilities.knows(id, "queue.list") === false) return ok(undefined);
  const currentPlaces = cachedPlaces && waiting.every((job) => cachedPlaces.has(job)) ? cachedPlaces : undefined;
  const found = currentPlaces ? ok(currentPlaces) : await readPlaces(access, signal);
  if (!found.ok || !found.value) return found;
  // Drops jobs that have left the queue; their places are read again if they return.
  const places = new Map(waiting.map((job) => [job, found.value?.get(job)]));
  queuePlaces.set(key, places);
  return ok(places);
}

async function readPlaces(access: Access, signal: AbortSignal | undefined): Promise<Result<QueuePlaces | undefined, Failure>> {
  // The graphs are not parsed.
  const answer = await access.upstream.exchange(operations.listQueue, { signal });
  if (!answer.ok) return ok(undefined);
  const queue = queueListSchema.safeParse(answer.value.value);
  // The service's answer had this shape; if this value does not, it had too many rows to be read one by one.
  if (!queue.success) return failed(toBrowser(unreadable(access.connection.baseUrl, 200, TOO_LARGE), access));
  // The first number of a tuple orders the waiting jobs; at some services it is a priority, so only the order counts.
  const order = [...queue.data.queue_pending].sort((one, other) => one[0] - other[0]);
  noteTotalsInQueue(access, [...queue.data.queue_running, ...order]);
  return ok(new Map(order.map(([, job], index) => [job, index])));
}

export function toQueueView(jobs: readonly JobListItem[], places: QueuePlaces | undefined): Omit<QueueView, "canStop"> {
  // Only running and waiting jobs were requested: a job with an unknown state is listed with the running ones, with the service's word.
  const running = jobs.filter((job) => ["in_progress", "unknown"].includes(toJobState(job.status)));
  const pending = jobs.filter(isPending);
  if (!places) return { running, pending, source: "jobs" };
  const placeOf = ({ id }: JobListItem) => places.get(id) ?? Infinity;
  const rows = pending.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : placeOf(one) > placeOf(other) ? 1 : 0));
  const placed = rows.map((job, index): QueueRow => ({ ...job, position: placeOf(job) === Infinity ? undefined : index + 1 }));
  return { running, pending: placed, source: "queue" };
}

function isPending(job: JobListItem): boolean {
  return toJobState(job.status) === "pending";
}
