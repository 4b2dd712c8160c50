// A task as clients poll it: the public fields, and how many of its bytes are safely here.

import { readRecord } from "../jobs/job-row";
import { type StoredTask } from "./task-rows";

export function toTask(task: StoredTask) {
  const { bytes_total: total, bytes_downloaded: downloaded } = task;
  const time = (at: number) => new Date(at).toISOString();
  return {
    id: task.id,
    idempotency_key: task.id,
    task_name: "task:download_file",
    payload: readRecord(task.payload),
    status: task.status,
    create_time: time(task.create_time),
    update_time: time(task.update_time),
    ...(task.started_at !== null && { started_at: time(task.started_at) }),
    ...(task.completed_at !== null && { completed_at: time(task.completed_at) }),
    ...(task.result !== null && { result: readRecord(task.result) }),
    ...(task.error_message !== null && { error_message: task.error_message }),
    bytes_total: total,
    bytes_downloaded: downloaded,
    progress: task.status === "completed" ? 1 : total ? Math.min(1, downloaded / total) : 0,
  };
}
