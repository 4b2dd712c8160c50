import { type QueueView } from "@/lib/contract/console";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { type JobState, toJobState } from "@/lib/contract/states";
import { toMilliseconds } from "@/lib/contract/times";

export type QueueRow = {
  id: string;
  word: string;
  state: JobState;
  /** 1 is next. Running jobs have none. */
  position?: number;
  createdMs?: number;
  startedMs?: number;
  workflow?: string;
  progress?: number;
};

/** `total` may be larger than what is listed. */
export type QueueList = { running: QueueRow[]; pending: QueueRow[]; total: number };

/** What the interface lists at once at most. */
export const MOST_LISTED = 1000;

/** From the list of jobs, which every service has: oldest first, which is the order in which they were submitted. */
export function fromJobs(answer: JobsAnswer): QueueList {
  return arrange(answer.jobs, answer.pagination.total);
}

/** From the server's reading, brought into the same order, so that the first poll moves nothing. */
export function fromQueueView(view: QueueView): QueueList {
  return arrange([...view.running, ...view.pending], undefined);
}

function arrange(jobs: readonly JobListItem[], total: number | undefined): QueueList {
  const rows = jobs.map(toQueueRow).sort((one, other) => (one.createdMs ?? 0) - (other.createdMs ?? 0));
  const running = rows.filter(({ state }) => state === "in_progress");
  const pending = rows.filter(({ state }) => state === "pending").map((row, index) => ({ ...row, position: index + 1 }));
  return { running, pending, total: Math.max(total ?? 0, running.length + pending.length) };
}

function toQueueRow(job: JobListItem): QueueRow {
  const state = toJobState(job.status);
  const name = typeof job.workflow_name === "string" && job.workflow_name !== "" ? job.workflow_name : job.workflow_id?.slice(0, 8);
  return {
    id: job.id,
    word: job.status,
    state,
    createdMs: toMilliseconds(job.create_time),
    startedMs: toMilliseconds(job.execution_start_time),
    ...(name && { workflow: name }),
    ...(state === "in_progress" && job.progress?.value !== undefined && { progress: job.progress.value }),
  };
}
