import { type QueueView } from "@/lib/contract/console";
import { toJobView } from "@/lib/contract/job-view";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { type JobState } from "@/lib/contract/states";
import { workflowName } from "@/lib/contract/workflow-name";

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
  const { id, word, state, createdAtMs, startedAtMs, progress } = toJobView(job);
  return {
    id,
    word,
    state,
    ...(createdAtMs !== undefined && { createdMs: createdAtMs }),
    ...(startedAtMs !== undefined && { startedMs: startedAtMs }),
    ...(job.workflow_id && { workflow: workflowName(job) }),
    ...(progress?.value !== undefined && { progress: progress.value }),
  };
}
