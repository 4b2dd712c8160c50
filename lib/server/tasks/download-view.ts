// A stored download as the browser gets it. Must never: contain the sealed request.

import "server-only";
import { type DownloadState, downloadStates, type DownloadTask } from "@/lib/contract/assets/download-task";
import { type StoredDownload } from "../store/download-tasks";

export function toDownloadTask(row: StoredDownload): DownloadTask {
  const state: DownloadState = downloadStates.find((known) => known === row.state) ?? "working";
  return {
    id: row.id,
    source: row.source,
    state,
    word: row.word,
    startedBy: row.member_name ?? undefined,
    createdAtMs: Number(row.created_at),
    checkedAtMs: Number(row.checked_at),
    bytesDone: numberOrNone(row.bytes_done),
    bytesTotal: numberOrNone(row.bytes_total),
    share: numberOrNone(row.share),
    assetId: row.asset_id ?? undefined,
    fileName: row.file_name ?? undefined,
    reason: row.reason ?? undefined,
    canCancel: state === "working" && row.can_cancel > 0,
    canRetry: state === "failed" || state === "cancelled" || state === "gone",
  };
}

/** PostgreSQL returns a bigint as text. */
function numberOrNone(value: number | null): number | undefined {
  return value === null ? undefined : Number(value);
}
