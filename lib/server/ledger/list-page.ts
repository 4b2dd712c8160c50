// What a page of a service's list of jobs, newest first, tells whoever reads the list backwards.
// Guarantees: pure.

import "server-only";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";

/** `end`: where the next one begins. `isCut`: there are older jobs than the list has. */
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
