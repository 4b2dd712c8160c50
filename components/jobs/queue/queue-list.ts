import { type QueueView } from "@/lib/contract/console";
import { type JobRow, toJobRow } from "../job-row";

export type QueueList = {
  running: JobRow[];
  pending: JobRow[];
  /** May be more than are listed. */
  pendingTotal: number;
  /** The service reports no order of its own, so the order of submission is shown. */
  isBySubmission: boolean;
  /** Running jobs can be stopped. */
  canStop: boolean;
  /** The number of jobs of unknown shape. */
  unreadable?: number;
};

/** Waiting jobs are in the service's order, where it reports one. */
export function toQueueList({ running, pending, source, canStop, total, unreadable }: QueueView): QueueList {
  const waiting = pending.map((job) => ({
    ...toJobRow(job),
    ...(job.position !== undefined && { position: job.position }),
  }));
  return {
    running: running.map(toJobRow).sort(bySubmission),
    pending: source === "queue" ? waiting : waiting.sort(bySubmission).map((row, index) => ({ ...row, position: index + 1 })),
    pendingTotal: Math.max(pending.length, (total ?? 0) - running.length),
    isBySubmission: source === "jobs",
    canStop,
    ...(unreadable && { unreadable }),
  };
}

function bySubmission(one: JobRow, other: JobRow): number {
  return (one.createdMs ?? 0) - (other.createdMs ?? 0);
}
