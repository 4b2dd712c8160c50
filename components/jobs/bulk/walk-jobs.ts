import { callPatiently, type Work } from "@/lib/browser/patient-call";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type JobsAnswer, type JobsQuery } from "@/lib/contract/schemas/job";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toJobRow } from "../job-row";
import { jobsApiPath } from "../jobs-address";
import { type BulkJob, toBulkJob } from "./bulk-selection";

const PAGE = 1000;
/** What one press may set in motion. */
export const MOST_AT_ONCE = 10_000;

/** All jobs of a query, read before anything is done to them: an act changes which ones match. `isCut`: there are more. */
export async function walkJobs(query: JobsQuery, work: Work): Promise<Result<{ jobs: BulkJob[]; isCut: boolean }, ApiFailure>> {
  const found = new Map<string, BulkJob>();
  for (let offset = 0; !work.signal.aborted;) {
    const path = jobsApiPath({ ...query, limit: PAGE, offset }, work.connection);
    const result = await callPatiently<JobsAnswer>(path, { cache: "no-store" }, work);
    if (!result.ok) return failed(result.failure);
    const { jobs, pagination, unreadable = 0 } = result.value;
    const before = found.size;
    for (const job of jobs) found.set(job.id, toBulkJob(toJobRow(job)));
    work.onDone(found.size - before);
    offset += jobs.length + unreadable;
    const isOver = pagination.has_more === undefined ? offset >= (pagination.total ?? Number.POSITIVE_INFINITY) : !pagination.has_more;
    if (isOver || found.size === before) break;
    if (found.size >= MOST_AT_ONCE) return ok({ jobs: [...found.values()].slice(0, MOST_AT_ONCE), isCut: true });
  }
  return ok({ jobs: [...found.values()].slice(0, MOST_AT_ONCE), isCut: found.size > MOST_AT_ONCE });
}

/** How many jobs a query matches now; undefined where the service does not say. */
export async function countJobs(query: JobsQuery, work: Work): Promise<Result<number | undefined, ApiFailure>> {
  const path = jobsApiPath({ ...query, limit: 1, offset: 0 }, work.connection);
  const result = await callPatiently<JobsAnswer>(path, { cache: "no-store" }, work);
  return result.ok ? ok(result.value.pagination.total) : result;
}
