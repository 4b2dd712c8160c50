// What a page of a service's list of jobs, newest first, tells the reader of the list.
// Guarantees: pure.

import "server-only";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { type LedgerReach } from "../store/jobs/job-ledger";

/** `end`: the offset of the next page. `isCut`: there are older jobs than the list has. */
export type ListPage = { oldestMs: number | undefined; newestMs: number | undefined; isLast: boolean; isCut: boolean; end: number };

export function pageOf(answer: JobsAnswer, offset: number): ListPage {
  const { jobs, pagination, unreadable = 0 } = answer;
  const times = timesOf(answer);
  const end = offset + jobs.length + unreadable;
  const isLast =
    jobs.length + unreadable === 0 ||
    (pagination.has_more === undefined ? pagination.total !== undefined && end >= pagination.total : !pagination.has_more);
  return { newestMs: times[0], oldestMs: times.at(-1), isLast, isCut: answer.is_cut === true, end };
}

export function timesOf({ jobs }: JobsAnswer): number[] {
  return jobs.flatMap((job) => toMilliseconds(job.create_time) ?? []);
}

/**
 * Since when jobs are known while a list is read again and has been read back to `readMs`: jobs that the list has dropped are still in the
 * ledger, unless there is a gap between the two. `fullMs`: the ledger has dropped older ones.
 */
export function knownSince({ cursorMs, newestMs }: LedgerReach, readMs: number | undefined, isLast: boolean, fullMs: number | undefined) {
  if (isLast && readMs !== undefined && newestMs !== undefined && readMs > newestMs) return readMs;
  const sinceMs = older(cursorMs, readMs);
  return sinceMs === undefined ? undefined : Math.max(sinceMs, fullMs ?? sinceMs);
}

export function older(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
