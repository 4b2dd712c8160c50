// What runs and what waits, from two sources: the jobs list always, GET /api/queue for the order of the waiting where it is there.
// Guarantees: rows are job list items in both cases; a service without the extension shows the same page.

import "server-only";
import { type QueueRow, type QueueView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { type QueueList } from "@/lib/contract/schemas/queue";
import { toJobState } from "@/lib/contract/states";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { toBrowser } from "../bff/to-browser";
import { openConnection } from "../connections/access";
import { composition } from "../composition";
import { withNames } from "../workflows/with-names";

const MOST_ROWS = 1000;

export async function getQueue(viewer: Viewer, connection?: string): Promise<Result<QueueView, Failure>> {
  const access = await openConnection(viewer, connection);
  if (!access.ok) return access;
  const { upstream } = access.value;
  const mayList = composition().capabilities.knows(access.value.connection.id, "queue.list") !== false;
  const query = { status: ["in_progress", "pending"], sort_by: "create_time", sort_order: "asc", offset: 0, limit: MOST_ROWS };
  const [jobs, queue] = await Promise.all([
    upstream.call(operations.listJobs, { query }),
    mayList ? upstream.call(operations.listQueue) : undefined,
  ]);
  if (!jobs.ok) return failed(toBrowser(jobs.failure, access.value));
  const named = await withNames(operations.listJobs, access.value.connection.id, jobs.value);
  return ok(toBrowser(toQueueView(named.jobs, queue?.ok ? queue.value : undefined), access.value));
}

export function toQueueView(jobs: readonly JobListItem[], queue: QueueList | undefined): QueueView {
  const running = jobs.filter((job) => toJobState(job.status) === "in_progress");
  const pending = jobs.filter((job) => toJobState(job.status) === "pending");
  if (!queue) return { running, pending, source: "jobs" };
  // The first number of a tuple orders the waiting; it is a priority at some services, so only the order counts.
  const order = [...queue.queue_pending].sort((one, other) => one[0] - other[0]).map((item) => item[1]);
  const place = new Map(order.map((id, index) => [id, index + 1]));
  const placed = pending.map((job): QueueRow => ({ ...job, position: place.get(job.id) }));
  placed.sort((one, other) => (one.position ?? MOST_ROWS + 1) - (other.position ?? MOST_ROWS + 1));
  return { running, pending: placed, source: "queue" };
}
