import { callPatiently, walkPages, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type JobSearchQuery } from "@/lib/contract/console";
import { jobStates, type KnownJobState } from "@/lib/contract/jobs/job-list";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { type KnownJob } from "../actions/end-jobs";
import { type JobAct } from "../actions/use-job-work";
import { type JobRow, toJobRow } from "../job-row";
import { listApiPath } from "./list-address";

/** An action to start immediately: on these jobs, or on all matching ones. */
export type Command = { act: "cancel" | "runAgain"; ids?: readonly string[] };

/** Chosen jobs by id, or everything that a query matches, on any page. */
export type ChosenJobs = { kind: "ids"; ids: readonly string[] } | { kind: "matching"; query: JobSearchQuery; total: number };

const moving: readonly KnownJobState[] = ["pending", "in_progress"];
const ended: readonly KnownJobState[] = ["completed", "failed", "cancelled"];
const fitting: Readonly<Record<JobAct, readonly KnownJobState[]>> = { cancel: moving, remove: ended, runAgain: jobStates };

export function jobsWith(ids: readonly string[], rows: readonly JobRow[]): KnownJob[] {
  const known = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => known.get(id) ?? { id });
}

/** The part of the query that the act applies to; undefined if it applies to none of its states. */
export function narrowedTo(act: JobAct, query: JobSearchQuery): JobSearchQuery | undefined {
  if (act === "runAgain") return query;
  const status = query.status ? query.status.filter((state) => fitting[act].includes(state)) : [...fitting[act]];
  return status.length === 0 ? undefined : { ...query, status };
}

const PAGE = 1000;
/** The most jobs in one action. */
export const MOST_AT_ONCE = 10_000;

export function walkJobs(query: JobSearchQuery, work: Work) {
  const pathAt = (offset: number) => listApiPath("jobs", { ...query, limit: PAGE, offset }, work.connection);
  const read = ({ jobs, pagination: { total, has_more: hasMore }, unreadable = 0 }: JobsAnswer) => {
    return { items: jobs.map(toJobRow), rows: jobs.length + unreadable, total, hasMore };
  };
  return walkPages<JobsAnswer, KnownJob>({ pathAt, read, most: MOST_AT_ONCE }, work);
}

/** How many jobs a query matches now; undefined where the service does not say. */
export async function countJobs(query: JobSearchQuery, work: Work): Promise<Result<number | undefined, ApiFailure>> {
  const path = listApiPath("jobs", { ...query, limit: 1, offset: 0 }, work.connection);
  const result = await callPatiently<JobsAnswer>(path, { cache: "no-store" }, work);
  return result.ok ? ok(result.value.pagination.total) : result;
}
