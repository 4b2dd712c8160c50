// Lists, refreshes, cancels and retries members' downloads.

import "server-only";
import { type z } from "zod";
import { type DownloadState, downloadStates, type DownloadTask, type DownloadTasks, maskAddresses } from "@/lib/contract/assets/file-refs";
import { writeThings } from "@/lib/contract/audit/audit-items";
import { type Failure, isMissingOperation, refusal } from "@/lib/contract/failure";
import { numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { operations } from "@/lib/contract/operations";
import { type taskSchema, taskStartedSchema } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { redactForBrowser } from "../answers/redact";
import { type Access, findConnection, openConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { toDownloadThing } from "../operations/audit-targets";
import { getConnectionParam, getIdParam, getSearchParams } from "../requests/read-request";
import { type DownloadUpdate, type StoredDownload } from "../store/download-tasks";
import { openRequest } from "./sealed-request";

function toDownloadTask(row: StoredDownload): DownloadTask {
  const state: DownloadState = downloadStates.find((state) => state === row.state) ?? "working";
  return {
    id: row.id,
    source: row.source,
    state,
    word: row.word,
    startedBy: row.memberName ?? undefined,
    createdAtMs: row.createdAt,
    checkedAtMs: row.checkedAt,
    bytesDone: row.bytesDone,
    bytesTotal: row.bytesTotal,
    share: row.share,
    assetId: row.assetId,
    fileName: row.fileName,
    reason: row.reason,
    canCancel: state === "working" && row.canCancel > 0,
    canRetry: state === "failed" || state === "cancelled" || state === "gone",
  };
}

const MAX_REASON_LENGTH = 500;
const words: Readonly<Record<string, DownloadState>> = {
  completed: "completed",
  success: "completed",
  failed: "failed",
  error: "failed",
  cancelled: "cancelled",
  canceled: "cancelled",
};

function toDownloadUpdate(task: z.output<typeof taskSchema>, now: number): DownloadUpdate {
  const result = objectOf(task.result);
  const reported = own(words, task.status.toLowerCase()) ?? "working";
  // A task may end well for its runner although the file failed.
  const state: DownloadState = reported === "completed" && result?.success === false ? "failed" : reported;
  const reason = textOf(task.error_message) ?? textOf(result?.error);
  const done = countOf(task.bytes_downloaded) ?? countOf(result?.bytes_downloaded);
  const total = countOf(task.bytes_total);
  const share = shareOf(task.progress) ?? (done !== undefined && total ? Math.min(1, done / total) : undefined);
  return {
    state,
    word: task.status.slice(0, 100),
    reason: state === "failed" && reason !== undefined ? maskAddresses(reason).slice(0, MAX_REASON_LENGTH) : null,
    ...(done !== undefined && { bytesDone: done }),
    ...(total !== undefined && { bytesTotal: total }),
    // Without a total, a progress of 0 says nothing.
    share: share === undefined || (share === 0 && total === undefined) ? null : share,
    assetId: textOf(result?.asset_id) ?? null,
    ...(textOf(result?.filename) !== undefined && { fileName: textOf(result?.filename)?.slice(0, 500) }),
    endedAt: state === "working" ? null : now,
  };
}

/** Services that report a task's bytes can also cancel it. */
function reportsBytes(task: z.output<typeof taskSchema>): boolean {
  return task.bytes_downloaded !== undefined;
}

function countOf(value: unknown): number | undefined {
  const count = numberOf(value);
  return count !== undefined && count >= 0 ? Math.floor(count) : undefined;
}

function shareOf(value: unknown): number | undefined {
  const share = numberOf(value);
  return share !== undefined && share >= 0 && share <= 1 ? share : undefined;
}

const ASKED_AT_ONCE = 10;
const EVERY_MS = 1_000;
const FAILED_EVERY_MS = 10_000;
const LOOKED_AFTER_MS = 2 * 60_000;

export async function listDownloads(context: AuthedContext): Promise<Result<DownloadTasks, Failure>> {
  const { composition, request } = context;
  const search = getSearchParams(request);
  const connection = await findConnection(context, getConnectionParam(request));
  if (!connection.ok) return connection;
  const { id } = connection.value;
  const { downloadTasks } = composition.store;
  const countOnly = search.get("count") === "true";
  if (countOnly) return ok({ tasks: [], underWay: await downloadTasks.countUnderWay(id) });
  const activeDownloads = (await downloadTasks.list(id)).filter((row) => mayMove(row, composition.now()));
  const failure = activeDownloads.length > 0 ? await refresh(context, id, activeDownloads.slice(0, ASKED_AT_ONCE * 2)) : undefined;
  const rows = await downloadTasks.list(id);
  return ok({
    tasks: rows.map(toDownloadTask),
    underWay: rows.filter((row) => row.endedAt === undefined).length,
    ...(failure && { failure: { code: failure.code, message: failure.message } }),
  });
}

function mayMove({ state, endedAt }: StoredDownload, now: number): boolean {
  return endedAt === undefined || (state === "failed" && now - endedAt < LOOKED_AFTER_MS);
}

/** The first failure, if any: it is the service's, and the same for all. */
async function refresh(context: AuthedContext, connectionId: string, rows: readonly StoredDownload[]): Promise<Failure | undefined> {
  const access = await openConnection(context, connectionId);
  if (!access.ok) return access.failure;
  const oldest = [...rows].sort((row, other) => row.checkedAt - other.checkedAt).slice(0, ASKED_AT_ONCE);
  const failures = await Promise.all(oldest.map((row) => refreshOne(context, access.value, row)));
  return failures.find((failure) => failure !== undefined);
}

async function refreshOne({ composition, request }: AuthedContext, access: Access, row: StoredDownload): Promise<Failure | undefined> {
  const { downloadTasks } = composition.store;
  const now = composition.now();
  if (!(await downloadTasks.claim(row.id, now, row.endedAt === undefined ? EVERY_MS : FAILED_EVERY_MS))) return undefined;
  const result = await access.upstream.call(operations.getTask, { params: { task_id: row.taskId }, signal: request.signal });
  if (!result.ok) {
    if (result.failure.status !== 404) return redactForBrowser(result.failure, access);
    if (row.endedAt === undefined) await downloadTasks.change(row.id, { state: "gone", endedAt: now });
    return undefined;
  }
  const task = redactForBrowser(result.value, access);
  const update = toDownloadUpdate(task, now);
  const canCancel = row.canCancel || reportsBytes(task) || composition.capabilities.get(access.connection.id, "tasks.list") ? 1 : 0;
  // A failed task that is checked again keeps the time of its first failure.
  const endedAt = update.state === "failed" && row.endedAt !== undefined ? row.endedAt : update.endedAt;
  await downloadTasks.change(row.id, { ...update, endedAt, canCancel: row.canCancel < 0 ? row.canCancel : canCancel });
  return undefined;
}

/** The service does not support cancelling, so trying again is not offered. */
const CANNOT = -1;

export async function cancelDownload(context: AuthedContext): Promise<Result<DownloadTask, Failure>> {
  const task = await find(context);
  if (!task.ok) return task;
  const { row, access } = task.value;
  const { downloadTasks } = context.composition.store;
  const result = await access.upstream.exchange(operations.cancelTask, { params: { task_id: row.taskId } });
  if (!result.ok) {
    if (isMissingOperation(result.failure)) await downloadTasks.change(row.id, { canCancel: CANNOT });
    return failed(redactForBrowser(result.failure, access));
  }
  await downloadTasks.change(row.id, { checkedAt: 0 });
  return fresh(context, access, row.id);
}

export async function retryDownload(context: AuthedContext): Promise<Result<DownloadTask, Failure>> {
  const task = await find(context);
  if (!task.ok) return task;
  const { row, access } = task.value;
  if (!toDownloadTask(row).canRetry) return failed(refusal("CONFLICT", "The download has not failed."));
  const body = openRequest(context.composition.ring, row);
  if (!body) return failed(refusal("CONFLICT", "The address of this download can no longer be read. Enter it again."));
  const result = await access.upstream.exchange(operations.downloadAsset, { json: body });
  if (!result.ok) return failed(redactForBrowser(result.failure, access));
  const { downloadTasks } = context.composition.store;
  const clean = { bytesDone: null, bytesTotal: null, share: null, reason: null, checkedAt: 0 };
  const started = result.value.status === 202 ? taskStartedSchema.safeParse(result.value.value).data : undefined;
  if (started) {
    const again = { taskId: started.task_id, state: "working", word: started.status.slice(0, 100), assetId: null, endedAt: null };
    await downloadTasks.change(row.id, { ...clean, ...again });
  } else {
    const assetId = textOf(objectOf(result.value.value)?.id) ?? null;
    await downloadTasks.change(row.id, {
      ...clean,
      state: "completed",
      word: "completed",
      assetId,
      endedAt: context.composition.now(),
    });
  }
  return fresh(context, access, row.id);
}

export async function forgetDownload(context: AuthedContext): Promise<Result<undefined, Failure>> {
  const result = await find(context);
  if (!result.ok) return result;
  const { row } = result.value;
  if (row.endedAt === undefined) return failed(refusal("CONFLICT", "The download is still in progress."));
  await context.composition.store.downloadTasks.remove(row.id);
  return ok(undefined);
}

async function find(context: AuthedContext): Promise<Result<{ row: StoredDownload; access: Access }, Failure>> {
  const row = await context.composition.store.downloadTasks.get(getIdParam(context));
  const none = failed(refusal("NOT_FOUND", "There is no such download."));
  if (!row) return none;
  const access = await openConnection(context, row.connectionId);
  if (!access.ok) return access.failure.code === "NOT_FOUND" ? none : access;
  const things = redactForBrowser([toDownloadThing(row.source, row.fileName)], access.value);
  context.annotateAudit({ connectionId: row.connectionId, target: row.source, outcome: writeThings(things, undefined) });
  return ok({ row, access: access.value });
}

async function fresh(context: AuthedContext, access: Access, id: string): Promise<Result<DownloadTask, Failure>> {
  const { downloadTasks } = context.composition.store;
  const before = await downloadTasks.get(id);
  if (before && before.endedAt === undefined) await refreshOne(context, access, before);
  const row = await downloadTasks.get(id);
  return row ? ok(toDownloadTask(row)) : failed(refusal("NOT_FOUND", "There is no such download."));
}
