// What can be done with a listed download: end it, request it again, remove it from the list.
// Guarantees: only downloads of connections that the member may use; the result is what the service answered.

import "server-only";
import { type DownloadTask } from "@/lib/contract/assets/download-task";
import { writeThings } from "@/lib/contract/audit/audit-items";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { taskStartedSchema } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { downloaded } from "../bff/acted-on";
import { idOf } from "../bff/console-route";
import { type Asked, refusal } from "../bff/guard";
import { type Access, openConnection } from "../connections/access";
import { type StoredDownload } from "../store/download-tasks";
import { toDownloadTask } from "./download-view";
import { refreshOne } from "./list-downloads";
import { openRequest } from "./sealed-request";

/** The service does not support cancelling, so trying again is not offered. */
const CANNOT = -1;

export async function cancelDownload(asked: Asked): Promise<Result<DownloadTask, Failure>> {
  const found = await find(asked);
  if (!found.ok) return found;
  const { row, access } = found.value;
  const { downloadTasks } = asked.console.store;
  const result = await access.upstream.exchange(operations.cancelTask, { params: { task_id: row.task_id } });
  if (!result.ok) {
    if (lacksOperation(result.failure)) await downloadTasks.change(row.id, { can_cancel: CANNOT });
    return failed(toBrowser(result.failure, access));
  }
  await downloadTasks.change(row.id, { checked_at: 0 });
  return fresh(asked, access, row.id);
}

export async function retryDownload(asked: Asked): Promise<Result<DownloadTask, Failure>> {
  const found = await find(asked);
  if (!found.ok) return found;
  const { row, access } = found.value;
  if (!toDownloadTask(row).canRetry) return failed(refusal("CONFLICT", "The download has not failed."));
  const body = openRequest(asked.console.ring, row);
  if (!body) return failed(refusal("CONFLICT", "The address of this download can no longer be read. Enter it again."));
  const result = await access.upstream.exchange(operations.downloadAsset, { json: body });
  if (!result.ok) return failed(toBrowser(result.failure, access));
  const { downloadTasks } = asked.console.store;
  const clean = { bytes_done: null, bytes_total: null, share: null, reason: null, checked_at: 0 };
  const started = result.value.status === 202 ? taskStartedSchema.safeParse(result.value.value).data : undefined;
  if (started) {
    const again = { task_id: started.task_id, state: "working", word: started.status.slice(0, 100), asset_id: null, ended_at: null };
    await downloadTasks.change(row.id, { ...clean, ...again });
  } else {
    const assetId = textOf(objectOf(result.value.value)?.id) ?? null;
    await downloadTasks.change(row.id, {
      ...clean,
      state: "completed",
      word: "completed",
      asset_id: assetId,
      ended_at: asked.console.now(),
    });
  }
  return fresh(asked, access, row.id);
}

export async function forgetDownload(asked: Asked): Promise<Result<undefined, Failure>> {
  const found = await find(asked);
  if (!found.ok) return found;
  const { row } = found.value;
  if (row.ended_at === null) return failed(refusal("CONFLICT", "The download is still in progress."));
  await asked.console.store.downloadTasks.remove(row.id);
  return ok(undefined);
}

async function find(asked: Asked): Promise<Result<{ row: StoredDownload; access: Access }, Failure>> {
  const row = await asked.console.store.downloadTasks.get(idOf(asked));
  const none = failed(refusal("NOT_FOUND", "There is no such download."));
  if (!row) return none;
  const access = await openConnection(asked.viewer, row.connection_id);
  if (!access.ok) return access.failure.code === "NOT_FOUND" ? none : access;
  const things = toBrowser([downloaded(row.source, row.file_name)], access.value);
  asked.note({ connectionId: row.connection_id, target: row.source, outcome: writeThings(things, undefined) });
  return ok({ row, access: access.value });
}

async function fresh(asked: Asked, access: Access, id: string): Promise<Result<DownloadTask, Failure>> {
  const { downloadTasks } = asked.console.store;
  const before = await downloadTasks.get(id);
  if (before && before.ended_at === null) await refreshOne(asked, access, before);
  const row = await downloadTasks.get(id);
  return row ? ok(toDownloadTask(row)) : failed(refusal("NOT_FOUND", "There is no such download."));
}
