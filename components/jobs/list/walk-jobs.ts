import { callPatiently, type Work } from "@/lib/browser/patient-call";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { walkPages } from "@/lib/browser/walk-pages";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { toJobRow } from "../job-row";
import { jobsApiPath } from "./list-address";
import { type KnownJob } from "@/components/jobs/actions/end-jobs";
import { toKnownJob } from "./bulk-selection";

const PAGE = 1000;
/** What one press may set in motion. */
export const MOST_AT_ONCE = 10_000;

export function walkJobs(query: JobSearchQuery, work: Work) {
  const pathAt = (offset: number) => jobsApiPath({ ...query, limit: PAGE, offset }, work.connection);
  const read = ({ jobs, pagination: { total, has_more: hasMore }, unreadable = 0 }: JobsAnswer) => {
    return { items: jobs.map((job) => toKnownJob(toJobRow(job))), rows: jobs.length + unreadable, total, hasMore };
  };
  return walkPages<JobsAnswer, KnownJob>({ pathAt, read, most: MOST_AT_ONCE }, work);
}

/** How many jobs a query matches now; undefined where the service does not say. */
export async function countJobs(query: JobSearchQuery, work: Work): Promise<Result<number | undefined, ApiFailure>> {
  const path = jobsApiPath({ ...query, limit: 1, offset: 0 }, work.connection);
  const result = await callPatiently<JobsAnswer>(path, { cache: "no-store" }, work);
  return result.ok ? ok(result.value.pagination.total) : result;
}
