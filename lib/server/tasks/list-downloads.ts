// The downloads of a connection: those that may still change are first read from the service, a bounded number at a time.
// Guarantees: however many browsers look, the service is asked for a task at most once a second; if it cannot be asked, the known state is
// shown with the failure; a failed task is checked for two more minutes, because services retry silently.

import "server-only";
import { type DownloadTasks } from "@/lib/contract/assets/download-task";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { type Asked } from "../bff/guard";
import { searchOf } from "../bff/read-request";
import { type Access, findConnection, openConnection } from "../connections/access";
import { type StoredDownload } from "../store/download-tasks";
import { toDownloadTask } from "./download-view";
import { newsOfTask, tellsBytes } from "./read-task";

const ASKED_AT_ONCE = 10;
const EVERY_MS = 1_000;
const FAILED_EVERY_MS = 10_000;
const LOOKED_AFTER_MS = 2 * 60_000;

export async function listDownloads(asked: Asked): Promise<Result<DownloadTasks, Failure>> {
  const { console, viewer, request } = asked;
  const search = searchOf(request);
  const connection = await findConnection(viewer, search.get(CONNECTION_PARAMETER) ?? undefined);
  if (!connection.ok) return connection;
  const { id } = connection.value;
  const { downloadTasks } = console.store;
  const countOnly = search.get("count") === "true";
  if (countOnly) return ok({ tasks: [], underWay: await downloadTasks.countUnderWay(id) });
  const moving = (await downloadTasks.list(id)).filter((row) => mayMove(row, console.now()));
  const failure = moving.length > 0 ? await refresh(asked, id, moving.slice(0, ASKED_AT_ONCE * 2)) : undefined;
  const rows = await downloadTasks.list(id);
  return ok({
    tasks: rows.map(toDownloadTask),
    underWay: rows.filter((row) => row.ended_at === null).length,
    ...(failure && { failure: { code: failure.code, message: failure.message } }),
  });
}

function mayMove({ state, ended_at: endedAt }: StoredDownload, now: number): boolean {
  return endedAt === null || (state === "failed" && now - Number(endedAt) < LOOKED_AFTER_MS);
}

/** The first failure, if any: it is the service's, and the same for all. */
async function refresh(asked: Asked, connectionId: string, rows: readonly StoredDownload[]): Promise<Failure | undefined> {
  const access = await openConnection(asked.viewer, connectionId);
  if (!access.ok) return access.failure;
  const oldest = [...rows].sort((one, other) => Number(one.checked_at) - Number(other.checked_at)).slice(0, ASKED_AT_ONCE);
  const failures = await Promise.all(oldest.map((row) => refreshOne(asked, access.value, row)));
  return failures.find((failure) => failure !== undefined);
}

export async function refreshOne({ console, request }: Asked, access: Access, row: StoredDownload): Promise<Failure | undefined> {
  const { downloadTasks } = console.store;
  const now = console.now();
  if (!(await downloadTasks.claim(row.id, now, row.ended_at === null ? EVERY_MS : FAILED_EVERY_MS))) return undefined;
  const result = await access.upstream.call(operations.getTask, { params: { task_id: row.task_id }, signal: request.signal });
  if (!result.ok) {
    if (result.failure.status !== 404) return toBrowser(result.failure, access);
    if (row.ended_at === null) await downloadTasks.change(row.id, { state: "gone", ended_at: now });
    return undefined;
  }
  const task = toBrowser(result.value, access);
  const news = newsOfTask(task, now);
  const canCancel = row.can_cancel || tellsBytes(task) || console.capabilities.knows(access.connection.id, "tasks.list") ? 1 : 0;
  // A failed task that is checked again keeps the time of its first failure.
  const endedAt = news.state === "failed" && row.ended_at !== null ? row.ended_at : news.ended_at;
  await downloadTasks.change(row.id, { ...news, ended_at: endedAt, can_cancel: row.can_cancel < 0 ? row.can_cancel : canCancel });
  return undefined;
}
