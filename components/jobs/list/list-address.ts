// The address of a list of jobs: reads it, on the server and in the browser, and writes it.
// Guarantees: the same list always has the same address.

import { withQuery } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type InputId, isSearch, jobParams, type KnownJobState, searchParams } from "@/lib/contract/jobs/job-list";
import { addressValues, readAddress } from "@/lib/contract/params";

export type ListName = "jobs" | "history";
/** The history is the list of ended jobs. */
const ended: KnownJobState[] = ["completed", "failed", "cancelled"];
const usual = readAddress(jobParams, new URLSearchParams()).query;

/** Removes every filter that only the ledger supports. */
export const noSearch = readAddress(searchParams, new URLSearchParams()).query;

/** Removes every filter of a list of jobs. */
export const noFilters = { ...noSearch, status: undefined, workflow_id: undefined, output_type: undefined };

export function isFilteredList(query: JobSearchQuery): boolean {
  return query.status !== undefined || Boolean(query.workflow_id ?? query.output_type) || isSearch(query);
}

const paramsOfJobs = { ...jobParams, ...searchParams };
const paramsOfHistory = { ...searchParams, offset: jobParams.offset, max_items: jobParams.limit };

/** `ignored`: the values that could not be read. */
export function readList(list: ListName, search: URLSearchParams): { query: JobSearchQuery; ignored: string[] } {
  if (list === "jobs") {
    const { query, ignored } = readAddress(paramsOfJobs, search);
    return { query: { ...query, status: query.status?.length ? query.status : undefined }, ignored };
  }
  const { query, ignored } = readAddress(paramsOfHistory, search);
  const { max_items, ...asked } = query;
  return { query: { ...usual, ...asked, status: ended, limit: max_items }, ignored };
}

/** What a page's links keep besides the query: the address's connection, and whether the bare list is meant. */
export type ListLinks = {
  connection?: string;
  /** A member with a default view reaches the bare list by `view=all`; any other address names its own filters. */
  view?: "all";
};

/** The page's own address for a query; defaults are left out. */
export function listHref(list: ListName, query: JobSearchQuery, { connection, view }: ListLinks = {}): `/${string}` {
  if (list === "history") {
    return withQuery("/history", { ...addressValues(paramsOfHistory, { ...query, max_items: query.limit }), connection });
  }
  const values = addressValues(paramsOfJobs, query);
  const isBare = Object.values(values).every((value) => value === undefined);
  return withQuery("/jobs", { ...values, view: isBare ? view : undefined, connection });
}

/** In a saved view's URL: the inputs that are columns. */
export const INPUTS_PARAM = "inputs";

/** The state that a saved view of the list keeps. */
export function viewQuery(query: JobSearchQuery, inputs: readonly InputId[]): string {
  const values = { ...addressValues(paramsOfJobs, { ...query, offset: 0 }), [INPUTS_PARAM]: inputs.join(",") || undefined };
  return withQuery("/jobs", values).split("?")[1] ?? "";
}

/** The address of a saved view. */
export function viewHref(query: string, connection: string | undefined): string {
  return withQuery("/jobs", { ...Object.fromEntries(new URLSearchParams(query)), view: query === "" ? "all" : undefined, connection });
}

/** The API path of a query, also the browser's cache key. Filters that no service supports are answered from the ledger. */
export function listApiPath(list: ListName, query: JobSearchQuery, connection: string | undefined): `/${string}` {
  if (isSearch(query)) return withQuery("/api/console/jobs/search", { ...query, connection });
  if (list === "jobs") return withQuery("/api/jobs", { ...query, connection });
  return withQuery("/api/history_v2", { offset: query.offset, max_items: query.limit, connection });
}

/** For the length of the history, which reports no total of its own. */
export function endedJobsPath(connection: string | undefined): `/${string}` {
  return withQuery("/api/jobs", { status: ended, limit: 1, connection });
}
