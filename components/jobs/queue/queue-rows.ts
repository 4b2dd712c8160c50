import { type QueueRow as ListedJob, type QueueView } from "@/lib/contract/console";
import { toJobView } from "@/lib/contract/job-view";
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
  workflowId?: string;
  /** Which of the copies of one run it is. */
  label?: string;
  progress?: number;
};

export type QueueList = {
  running: QueueRow[];
  pending: QueueRow[];
  /** May be more than is listed. */
  pendingTotal: number;
  /** The service told no order of its own, so that of submission is shown. */
  isBySubmission: boolean;
  /** What runs can be stopped. */
  canStop: boolean;
  /** Jobs that the service sent in a shape that nobody knows. */
  unreadable?: number;
};

/** The waiting in the order of the view, which is the service's own where it tells one. */
export function toQueueList({ running, pending, source, canStop, total, unreadable }: QueueView): QueueList {
  const waiting = pending.map((job) => ({ ...toQueueRow(job), ...(job.position !== undefined && { position: job.position }) }));
  return {
    running: running.map(toQueueRow).sort(bySubmission),
    pending: source === "queue" ? waiting : waiting.sort(bySubmission).map((row, index) => ({ ...row, position: index + 1 })),
    pendingTotal: Math.max(pending.length, (total ?? 0) - running.length),
    isBySubmission: source === "jobs",
    canStop,
    ...(unreadable && { unreadable }),
  };
}

function bySubmission(one: QueueRow, other: QueueRow): number {
  return (one.createdMs ?? 0) - (other.createdMs ?? 0);
}

function toQueueRow(job: ListedJob): QueueRow {
  const { id, word, state, createdAtMs, startedAtMs, progress } = toJobView(job);
  return {
    id,
    word,
    state,
    ...(createdAtMs !== undefined && { createdMs: createdAtMs }),
    ...(startedAtMs !== undefined && { startedMs: startedAtMs }),
    ...(job.workflow_id && { workflow: workflowName(job), workflowId: job.workflow_id }),
    ...(job.job_label && { label: job.job_label }),
    ...(progress?.value !== undefined && { progress: progress.value }),
  };
}
