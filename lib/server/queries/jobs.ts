// Jobs and history of a connection, and node classes that its service lacks.

import "server-only";
import { type LackingClasses } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { objectOf } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { type JobDetail, type JobsAnswer, type JobsQuery, type JobStatus } from "@/lib/contract/schemas/job";
import { type HistoryAnswer } from "@/lib/contract/schemas/queue";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { findVisible, openQuietly, readThrough } from "../connections/access";
import { learnClassNames } from "../workflows/with-names";

export async function listJobs(viewer: Viewer, query: JobsQuery, connection?: string): Promise<Result<JobsAnswer, Failure>> {
  return readThrough(viewer, connection, operations.listJobs, { query });
}

/** Whether jobs were submitted to or removed from the connection through this console. If so, it is not new, even without jobs. */
export async function wasUsed(viewer: Viewer, connection?: string): Promise<boolean> {
  const found = await findVisible(viewer, connection);
  return found.ok && composition().store.audit.wasDone(["submitPrompt", "manageHistory"], found.value.id);
}

/** The details decide; the status adds what only it knows, and may be missing. For a local server it would only repeat the details. */
export async function getJob(
  viewer: Viewer,
  jobId: string,
  connection?: string,
): Promise<Result<{ detail: JobDetail; status?: JobStatus }, Failure>> {
  const params = { job_id: jobId };
  const found = await findVisible(viewer, connection);
  const isLocal = found.ok && found.value.dialect === "local";
  const [detail, status] = await Promise.all([
    readThrough(viewer, connection, operations.getJob, { params }),
    isLocal ? undefined : readThrough(viewer, connection, operations.getJobStatus, { params }),
  ]);
  if (!detail.ok) return detail;
  return ok({ detail: detail.value, ...(status?.ok && { status: status.value }) });
}

type HistoryPage = { max_items: number; offset: number };

/** Newest first, page by page, without a total: the interface has none. */
export async function listHistory(viewer: Viewer, query: HistoryPage, connection?: string): Promise<Result<HistoryAnswer, Failure>> {
  return readThrough(viewer, connection, operations.listHistory, { query });
}

export async function listLackingClasses(
  viewer: Viewer,
  names: readonly string[],
  connection?: string,
): Promise<Result<LackingClasses, Failure>> {
  // Connections that no one is using at the moment are asked too.
  const access = await openQuietly(viewer, connection);
  if (!access.ok) return access;
  // Not parsed by the schema: only the names are needed.
  const info = await access.value.upstream.exchange(operations.getObjectInfo, { waits: "poll" });
  if (!info.ok) return failed(toBrowser(info.failure, access.value));
  learnClassNames(access.value.connection.id, info.value.value);
  const classes = objectOf(info.value.value) ?? {};
  return ok({ lacking: names.filter((name) => !Object.hasOwn(classes, name)) });
}
