import { type JobsQuery } from "@/lib/contract/schemas/job";
import { jobStates } from "@/lib/contract/states";
import { withQuery } from "@/lib/browser/urls";

/** What the page's links keep besides the query: the connection of the address, and that the bare list is meant. */
export type JobsPlace = {
  connection?: string;
  /** Somebody with a default view reaches the bare list by `view=all`; any other address says itself what it shows. */
  view?: "all";
};

/** The page's own address for a query; defaults are left out, so that two ways to the same list have one address. */
export function jobsHref(query: JobsQuery, change: Partial<JobsQuery> & JobsPlace = {}): string {
  const next = { ...query, ...change };
  const search = {
    status: next.status && jobStates.filter((state) => next.status?.includes(state)),
    workflow_id: next.workflow_id,
    output_type: next.output_type,
    sort_by: next.sort_by === "create_time" ? undefined : next.sort_by,
    sort_order: next.sort_order === "desc" ? undefined : next.sort_order,
    limit: next.limit === 100 ? undefined : next.limit,
    offset: next.offset === 0 ? undefined : next.offset,
  };
  const isBare = Object.values(search).every((value) => value === undefined);
  return withQuery("/jobs", { ...search, view: isBare ? next.view : undefined, connection: next.connection });
}

/** Where a saved view leads. */
export function viewHref(query: string, connection: string | undefined): string {
  return withQuery("/jobs", { ...Object.fromEntries(new URLSearchParams(query)), view: query === "" ? "all" : undefined, connection });
}

/** The API's path for a query: the key under which the browser keeps the answer. */
export function jobsApiPath(query: JobsQuery, connection: string | undefined): `/${string}` {
  return withQuery("/api/jobs", { ...query, connection });
}
