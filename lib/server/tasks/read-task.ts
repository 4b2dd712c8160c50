// A service's report of a task, as changes to the console's own record.
// Guarantees: an unknown state counts as work in progress and is stored unchanged; impossible numbers are left out; a reason is one bounded
// text without the queries of addresses.

import "server-only";
import { type z } from "zod";
import { type DownloadState, maskAddresses } from "@/lib/contract/assets/download-task";
import { numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { type taskSchema } from "@/lib/contract/schemas/asset";
import { type DownloadNews } from "../store/download-tasks";

const LONGEST_REASON = 500;
const words: Readonly<Record<string, DownloadState>> = {
  completed: "completed",
  success: "completed",
  failed: "failed",
  error: "failed",
  cancelled: "cancelled",
  canceled: "cancelled",
};

export function newsOfTask(task: z.output<typeof taskSchema>, now: number): DownloadNews {
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
    reason: state === "failed" && reason !== undefined ? maskAddresses(reason).slice(0, LONGEST_REASON) : null,
    ...(done !== undefined && { bytes_done: done }),
    ...(total !== undefined && { bytes_total: total }),
    // Without a total, a progress of 0 says nothing.
    share: share === undefined || (share === 0 && total === undefined) ? null : share,
    asset_id: textOf(result?.asset_id) ?? null,
    ...(textOf(result?.filename) !== undefined && { file_name: textOf(result?.filename)?.slice(0, 500) }),
    ended_at: state === "working" ? null : now,
  };
}

/** Services that report a task's bytes can also cancel it. */
export function tellsBytes(task: z.output<typeof taskSchema>): boolean {
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
