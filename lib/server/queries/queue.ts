// What runs and what waits, from two sources: the jobs list always, GET /api/queue for the order of the waiting where it is there.
// Guarantees: rows are job list items in both cases; a service without the extension shows the same page; the list with its whole
// graphs is asked for only where there is an order to learn.

import "server-only";
import { type QueueRow, type QueueView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { type QueueList, queueListSchema } from "@/lib/contract/schemas/queue";
import { toJobState } from "@/lib/contract/states";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { passOn } from "../answers/pass-on";
import { toBrowser } from "../answers/to-browser";
import { openForJobs } from "../connections/access";
import { canStop } from "../capabilities/has-capability";
import { composition } from "../composition";
import { unreadable } from "../upstream/failures";
import { TOO_LARGE } from "../upstream/read-body";

const MOST_ROWS = 1000;

export async function getQueue(viewer: Viewer, connection?: string, signal?: AbortSignal): Promise<Result<QueueView, Failure>> {
  const access = await openForJobs(viewer, connection);
  if (!access.ok) return access;
  const { upstream, connection: used } = access.value;
  const query = { status: ["in_progress", "pending"], sort_by: "create_time", sort_order: "asc", offset: 0, limit: MOST_ROWS };
  const jobs = await upstream.call(operations.listJobs, { query, signal, waits: signal ? "poll" : "page" });
  if (!jobs.ok) return failed(toBrowser(jobs.failure, access.value));
  const knowsQueue = () => composition().capabilities.knows(used.id, "queue.list");
  const pending = jobs.value.jobs.filter(isPending).length;
  const hasOrder = pending > 1 && knowsQueue() !== false;
  // Of its graphs nothing is read here.
  const queue = hasOrder ? await upstream.exchange(operations.listQueue, { signal }) : undefined;
  const order = queue?.ok ? queueListSchema.safeParse(queue.value.value) : undefined;
  // It was of this shape when it came: its rows were too many to be told apart.
  if (order?.success === false) return failed(toBrowser(unreadable(used.baseUrl, 200, TOO_LARGE), access.value));
  const mayStop = jobs.value.jobs.length > pending && (await canStop(access.value, signal));
  const named = await passOn(operations.listJobs, access.value, jobs.value);
  const view = toQueueView(named.jobs, order?.data);
  return ok({ ...view, canStop: mayStop, total: jobs.value.pagination.total, unreadable: jobs.value.unreadable });
}

export function toQueueView(jobs: readonly JobListItem[], queue: QueueList | undefined): Omit<QueueView, "canStop"> {
  // An unknown word came in answer to what runs and waits: the job is listed with what runs, with that word.
  const running = jobs.filter((job) => ["in_progress", "unknown"].includes(toJobState(job.status)));
  const pending = jobs.filter(isPending);
  if (!queue) return { running, pending, source: "jobs" };
  // The first number of a tuple orders the waiting; it is a priority at some services, so only the order counts.
  const order = [...queue.queue_pending].sort((one, other) => one[0] - other[0]).map((item) => item[1]);
  const place = new Map(order.map((id, index) => [id, index + 1]));
  const placed = pending.map((job): QueueRow => ({ ...job, position: place.get(job.id) }));
  placed.sort((one, other) => (one.position ?? MOST_ROWS + 1) - (other.position ?? MOST_ROWS + 1));
  return { running, pending: placed, source: "queue" };
}

function isPending(job: JobListItem): boolean {
  return toJobState(job.status) === "pending";
}
