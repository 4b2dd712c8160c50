// Lists, refreshes, cancels and retries members' downloads.

import "server-only";
import { type z } from "zod";
import { type DownloadState, downloadStates, type DownloadTask, type DownloadTasks, maskAddresses } from "@/lib/contract/assets/file-refs";
import { formatTargets } from "@/lib/contract/audit/audit-items";
import { createFailure, type Failure, isMissingOperation } from "@/lib/contract/failure";
import { asNumber, asObject, asText, getOwn } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { type taskSchema, taskStartedSchema } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Access, findConnection, openConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { toDownloadTarget } from "../operations/audit-targets";
import { getConnectionParam, getIdParam, getSearchParams } from "../requests/read-request";
import { redactForBrowser } from "../responses/redact";
import { type DownloadUpdate, type StoredDownload } from "../store/download-tasks";
import { openRequest } from "./sealed-request";

function toDownloadTask(row: StoredDownload): DownloadTask {
  const state: DownloadState = downloadStates.find((value) => value === row.state) ?? "working";
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
const statesByStatus: Readonly<Record<string, DownloadState>> = {
  completed: "completed",
  success: "completed",
  failed: "failed",
  error: "failed",
  cancelled: "cancelled",
  canceled: "cancelled",
};

function toDownloadUpdate(task: z.output<typeof taskSchema>, now: number): DownloadUpdate {
  const result = asObject(task.result);
  const reportedState = getOwn(statesByStatus, task.status.toLowerCase()) ?? "working";
  // A task may succeed although the file failed.
  const state: DownloadState = reportedState === "completed" && result?.success === false ? "failed" : reportedState;
  const reason = asText(task.error_message) ?? asText(result?.error);
  const doneBytes = toCount(task.bytes_downloaded) ?? toCount(result?.bytes_downloaded);
  const totalBytes = toCount(task.bytes_total);
  const progress = toProgress(task.progress) ?? (doneBytes !== undefined && totalBytes ? Math.min(1, doneBytes / totalBytes) : undefined);
  return {
    state,
    word: task.status.slice(0, 100),
    reason: state === "failed" && reason !== undefined ? maskAddresses(reason).slice(0, MAX_REASON_LENGTH) : null,
    ...(doneBytes !== undefined && { bytesDone: doneBytes }),
    ...(totalBytes !== undefined && { bytesTotal: totalBytes }),
    // Without a total, a progress of 0 is meaningless.
    share: progress === undefined || (progress === 0 && totalBytes === undefined) ? null : progress,
    assetId: asText(result?.asset_id) ?? null,
    ...(asText(result?.filename) !== undefined && { fileName: asText(result?.filename)?.slice(0, 500) }),
    endedAt: state === "working" ? null : now,
  };
}

/** Services that report a task's bytes can also cancel it. */
function hasByteCounts(task: z.output<typeof taskSchema>): boolean {
  return task.bytes_downloaded !== undefined;
}

function toCount(value: unknown): number | undefined {
  const count = asNumber(value);
  return count !== undefined && count >= 0 ? Math.floor(count) : undefined;
}

function toProgress(value: unknown): number | undefined {
  const progress = asNumber(value);
  return progress !== undefined && progress >= 0 && progress <= 1 ? progress : undefined;
}

const REFRESH_BATCH_SIZE = 10;
const CHECK_INTERVAL_MS = 1_000;
const FAILED_CHECK_INTERVAL_MS = 10_000;
const FAILED_CHECK_PERIOD_MS = 2 * 60_000;

export async function listDownloads(context: AuthedContext): Promise<Result<DownloadTasks, Failure>> {
  const { composition, request } = context;
  const searchParams = getSearchParams(request);
  const connectionResult = await findConnection(context, getConnectionParam(request));
  if (!connectionResult.ok) return connectionResult;
  const { id } = connectionResult.value;
  const { downloadTasks } = composition.store;
  const isCountOnly = searchParams.get("count") === "true";
  if (isCountOnly) return ok({ tasks: [], underWay: await downloadTasks.countActive(id) });
  const activeDownloads = (await downloadTasks.list(id)).filter((row) => canStillChange(row, composition.now()));
  const failure = activeDownloads.length > 0 ? await refreshDownloads(context, id, activeDownloads) : undefined;
  const rows = await downloadTasks.list(id);
  return ok({
    tasks: rows.map(toDownloadTask),
    underWay: rows.filter((row) => row.endedAt === undefined).length,
    ...(failure && { failure: { code: failure.code, message: failure.message } }),
  });
}

function canStillChange({ state, endedAt }: StoredDownload, now: number): boolean {
  return endedAt === undefined || (state === "failed" && now - endedAt < FAILED_CHECK_PERIOD_MS);
}

/** Returns the first failure, if any. All downloads usually fail for the same reason. */
async function refreshDownloads(
  context: AuthedContext,
  connectionId: string,
  rows: readonly StoredDownload[],
): Promise<Failure | undefined> {
  const accessResult = await openConnection(context, connectionId);
  if (!accessResult.ok) return accessResult.failure;
  const oldestRows = [...rows].sort((a, b) => a.checkedAt - b.checkedAt).slice(0, REFRESH_BATCH_SIZE);
  const failures = await Promise.all(oldestRows.map((row) => refreshDownload(context, accessResult.value, row)));
  return failures.find((failure) => failure !== undefined);
}

async function refreshDownload({ composition, request }: AuthedContext, access: Access, row: StoredDownload): Promise<Failure | undefined> {
  const { downloadTasks } = composition.store;
  const now = composition.now();
  if (!(await downloadTasks.claim(row.id, now, row.endedAt === undefined ? CHECK_INTERVAL_MS : FAILED_CHECK_INTERVAL_MS))) return undefined;
  const result = await access.upstream.call(operations.getTask, { params: { task_id: row.taskId }, signal: request.signal });
  if (!result.ok) {
    if (result.failure.status !== 404) return redactForBrowser(result.failure, access);
    if (row.endedAt === undefined) await downloadTasks.change(row.id, { state: "gone", endedAt: now });
    return undefined;
  }
  const task = redactForBrowser(result.value, access);
  const update = toDownloadUpdate(task, now);
  const canCancel = row.canCancel || hasByteCounts(task) || composition.capabilities.get(access.connection.id, "tasks.list") ? 1 : 0;
  // A failed task that is checked again keeps the time of its first failure.
  const endedAt = update.state === "failed" && row.endedAt !== undefined ? row.endedAt : update.endedAt;
  await downloadTasks.change(row.id, { ...update, endedAt, canCancel: row.canCancel < 0 ? row.canCancel : canCancel });
  return undefined;
}

/** The service does not support cancelling, so it is not offered again. */
const CANNOT_CANCEL = -1;

export async function cancelDownload(context: AuthedContext): Promise<Result<DownloadTask, Failure>> {
  const downloadResult = await findDownload(context);
  if (!downloadResult.ok) return downloadResult;
  const { row, access } = downloadResult.value;
  const { downloadTasks } = context.composition.store;
  const result = await access.upstream.exchange(operations.cancelTask, { params: { task_id: row.taskId } });
  if (!result.ok) {
    if (isMissingOperation(result.failure)) await downloadTasks.change(row.id, { canCancel: CANNOT_CANCEL });
    return failed(redactForBrowser(result.failure, access));
  }
  await downloadTasks.change(row.id, { checkedAt: 0 });
  return reloadDownload(context, access, row.id);
}

export async function retryDownload(context: AuthedContext): Promise<Result<DownloadTask, Failure>> {
  const downloadResult = await findDownload(context);
  if (!downloadResult.ok) return downloadResult;
  const { row, access } = downloadResult.value;
  if (!toDownloadTask(row).canRetry) return failed(createFailure("CONFLICT", "The download has not failed."));
  const body = openRequest(context.composition.keyRing, row);
  if (!body) return failed(createFailure("CONFLICT", "The address of this download can no longer be read. Enter it again."));
  const result = await access.upstream.exchange(operations.downloadAsset, { json: body });
  if (!result.ok) return failed(redactForBrowser(result.failure, access));
  const { downloadTasks } = context.composition.store;
  const resetFields = { bytesDone: null, bytesTotal: null, share: null, reason: null, checkedAt: 0 };
  const startedTask = result.value.status === 202 ? taskStartedSchema.safeParse(result.value.value).data : undefined;
  if (startedTask) {
    const taskFields = {
      taskId: startedTask.task_id,
      state: "working",
      word: startedTask.status.slice(0, 100),
      assetId: null,
      endedAt: null,
    };
    await downloadTasks.change(row.id, { ...resetFields, ...taskFields });
  } else {
    const assetId = asText(asObject(result.value.value)?.id) ?? null;
    await downloadTasks.change(row.id, {
      ...resetFields,
      state: "completed",
      word: "completed",
      assetId,
      endedAt: context.composition.now(),
    });
  }
  return reloadDownload(context, access, row.id);
}

export async function removeDownload(context: AuthedContext): Promise<Result<undefined, Failure>> {
  const result = await findDownload(context);
  if (!result.ok) return result;
  const { row } = result.value;
  if (row.endedAt === undefined) return failed(createFailure("CONFLICT", "The download is still in progress."));
  await context.composition.store.downloadTasks.remove(row.id);
  return ok(undefined);
}

async function findDownload(context: AuthedContext): Promise<Result<{ row: StoredDownload; access: Access }, Failure>> {
  const row = await context.composition.store.downloadTasks.get(getIdParam(context));
  const notFoundResult = failed(createFailure("NOT_FOUND", "There is no such download."));
  if (!row) return notFoundResult;
  const accessResult = await openConnection(context, row.connectionId);
  if (!accessResult.ok) return accessResult.failure.code === "NOT_FOUND" ? notFoundResult : accessResult;
  const targets = redactForBrowser([toDownloadTarget(row.source, row.fileName)], accessResult.value);
  context.annotateAudit({ connectionId: row.connectionId, target: row.source, outcome: formatTargets(targets, undefined) });
  return ok({ row, access: accessResult.value });
}

async function reloadDownload(context: AuthedContext, access: Access, id: string): Promise<Result<DownloadTask, Failure>> {
  const { downloadTasks } = context.composition.store;
  const storedRow = await downloadTasks.get(id);
  if (storedRow && storedRow.endedAt === undefined) await refreshDownload(context, access, storedRow);
  const row = await downloadTasks.get(id);
  return row ? ok(toDownloadTask(row)) : failed(createFailure("NOT_FOUND", "There is no such download."));
}
