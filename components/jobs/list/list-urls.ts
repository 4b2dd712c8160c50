// Parses and builds the URL of a job list, on the server and in the browser. The same list always has the same URL.

import { withQuery } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { hasSearchFilter, type InputId, jobParams, type KnownJobState, searchParams } from "@/lib/contract/jobs/job-list";
import { parseSearch, toSearchValues } from "@/lib/contract/params";

export type ListName = "jobs" | "history";
const endedStates = ["completed", "failed", "cancelled"] as const satisfies readonly KnownJobState[];
const DEFAULT_QUERY = parseSearch(jobParams, new URLSearchParams()).query;

const emptySearch = parseSearch(searchParams, new URLSearchParams()).query;
export const noFilters = { ...emptySearch, status: undefined, workflow_id: undefined, output_type: undefined };

export function isFilteredList(query: JobSearchQuery): boolean {
  return query.status !== undefined || Boolean(query.workflow_id ?? query.output_type) || hasSearchFilter(query);
}

const { offset, limit, workflow_id, output_type } = jobParams;
const jobListParams = { ...jobParams, ...searchParams };
const endedStatus = { kind: "words", values: endedStates } as const;
const historyListParams = { status: endedStatus, workflow_id, output_type, ...searchParams, offset, max_items: limit };

/** `ignored`: the values that could not be parsed. */
export function parseListQuery(list: ListName, search: URLSearchParams): { query: JobSearchQuery; ignored: string[] } {
  const { query, ignored } = list === "jobs" ? parseSearch(jobListParams, search) : parseHistoryQuery(search);
  return { query: { ...query, status: query.status?.length ? query.status : undefined }, ignored };
}

function parseHistoryQuery(search: URLSearchParams): { query: JobSearchQuery; ignored: string[] } {
  const { query, ignored } = parseSearch(historyListParams, search);
  const { max_items, ...filters } = query;
  return { query: { ...DEFAULT_QUERY, ...filters, limit: max_items }, ignored };
}

/** Returns the query to send. Without a status filter, the history requests all ended jobs. */
export function toRequestQuery(list: ListName, query: JobSearchQuery): JobSearchQuery {
  return list === "history" && query.status === undefined ? { ...query, status: [...endedStates] } : query;
}

/** Whether the query can use the service's history, which can't be filtered. */
export function isPlainHistory(list: ListName, query: JobSearchQuery): boolean {
  return list === "history" && !isFilteredList(query);
}

/** Parameters kept in links. */
export type ListLinks = {
  connection?: string;
  /** With a default view, `view=all` selects the unfiltered list. Any other URL names its own filters. */
  view?: "all";
};

export function getListHref(list: ListName, query: JobSearchQuery, { connection, view }: ListLinks = {}): `/${string}` {
  const values = toUrlValues(list, query);
  const isDefault = Object.values(values).every((value) => value === undefined);
  return withQuery(`/${list}`, { ...values, view: isDefault ? view : undefined, connection });
}

function toUrlValues(list: ListName, query: JobSearchQuery) {
  if (list === "jobs") return toSearchValues(jobListParams, query);
  const status = query.status && endedStates.filter((state) => query.status?.includes(state));
  return toSearchValues(historyListParams, { ...query, status, max_items: query.limit });
}

export const INPUTS_PARAM = "inputs";

/** The query string of a saved view: the list's URL without page and connection. */
export function getViewQuery(list: ListName, query: JobSearchQuery, inputs: readonly InputId[]): string {
  const values = { ...toUrlValues(list, { ...query, offset: 0 }), [INPUTS_PARAM]: inputs.join(",") || undefined };
  return withQuery(`/${list}`, values).split("?")[1] ?? "";
}

export function getViewHref(list: ListName, query: string, connection: string | undefined): `/${string}` {
  const values = Object.fromEntries(new URLSearchParams(query));
  return withQuery(`/${list}`, { ...values, view: query === "" ? "all" : undefined, connection });
}

/** The API path of a query, also the cache key. Filters that no service supports use the job index. */
export function getListApiPath(list: ListName, query: JobSearchQuery, connection: string | undefined): `/${string}` {
  if (isPlainHistory(list, query)) return withQuery("/api/history_v2", { offset: query.offset, max_items: query.limit, connection });
  return withQuery(hasSearchFilter(query) ? "/api/console/jobs/search" : "/api/jobs", { ...toRequestQuery(list, query), connection });
}

/** The API path that counts the history's entries, since the history has no total. */
export function getEndedJobsPath(connection: string | undefined): `/${string}` {
  return withQuery("/api/jobs", { status: endedStates, limit: 1, connection });
}
