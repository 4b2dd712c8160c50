// The address of a list of jobs: how it is read, by the page on the server and by the browser, and how it is written.
// Guarantees: two ways to the same list have one address.

import { withQuery } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/jobs/console-job-search";
import { isSearch, jobParams, searchParams } from "@/lib/contract/jobs/job-search";
import { addressValues, readAddress } from "@/lib/contract/params";
import { type KnownJobState } from "@/lib/contract/jobs/states";

export type ListName = "jobs" | "history";
/** The history is the list of the jobs that have ended. */
const ended: KnownJobState[] = ["completed", "failed", "cancelled"];
const usual = readAddress(jobParams, new URLSearchParams()).query;

/** Takes every filter away that only the ledger knows. */
export const noSearch = readAddress(searchParams, new URLSearchParams()).query;

const paramsOfJobs = { ...jobParams, ...searchParams };
const paramsOfHistory = { ...searchParams, offset: jobParams.offset, max_items: jobParams.limit };

/** `ignored`: what it could not read. */
export function readList(list: ListName, search: URLSearchParams): { query: JobSearchQuery; ignored: string[] } {
  if (list === "jobs") {
    const { query, ignored } = readAddress(paramsOfJobs, search);
    return { query: { ...query, status: query.status?.length ? query.status : undefined }, ignored };
  }
  const { query, ignored } = readAddress(paramsOfHistory, search);
  const { max_items, ...asked } = query;
  return { query: { ...usual, ...asked, status: ended, limit: max_items }, ignored };
}

/** What a page's links keep besides the question: the connection of the address, and that the bare list is meant. */
export type ListLinks = {
  connection?: string;
  /** A member with a default view reaches the bare list by `view=all`; any other address says itself what it shows. */
  view?: "all";
};

/** The page's own address for a question; defaults are left out. */
export function listHref(list: ListName, query: JobSearchQuery, { connection, view }: ListLinks = {}): `/${string}` {
  if (list === "history") {
    return withQuery("/history", { ...addressValues(paramsOfHistory, { ...query, max_items: query.limit }), connection });
  }
  const values = addressValues(paramsOfJobs, query);
  const isBare = Object.values(values).every((value) => value === undefined);
  return withQuery("/jobs", { ...values, view: isBare ? view : undefined, connection });
}

/** Where a saved view leads. */
export function viewHref(query: string, connection: string | undefined): string {
  return withQuery("/jobs", { ...Object.fromEntries(new URLSearchParams(query)), view: query === "" ? "all" : undefined, connection });
}

/** The API's path for a question: the key under which the browser keeps the answer. What no service searches by is found in the ledger. */
export function listApiPath(list: ListName, query: JobSearchQuery, connection: string | undefined): `/${string}` {
  if (isSearch(query)) return withQuery("/api/console/jobs/search", { ...query, connection });
  if (list === "jobs") return withQuery("/api/jobs", { ...query, connection });
  return withQuery("/api/history_v2", { offset: query.offset, max_items: query.limit, connection });
}

/** How long the history is; it has no total of its own. */
export function endedJobsPath(connection: string | undefined): `/${string}` {
  return withQuery("/api/jobs", { status: ended, limit: 1, connection });
}
