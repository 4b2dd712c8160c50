import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { jobStates } from "@/lib/contract/states";
import { readSearch, searchValues } from "@/components/jobs/search/search-address";
import { withQuery } from "@/lib/browser/urls";
import { isSearch } from "@/lib/contract/job-search";

export const outputTypes = ["image", "video", "audio"] as const;

/** What the page's links keep besides the query: the connection of the address, and that the bare list is meant. */
export type JobsLinks = {
  connection?: string;
  /** Somebody with a default view reaches the bare list by `view=all`; any other address says itself what it shows. */
  view?: "all";
};

/** The page's own address for a query; defaults are left out, so that two ways to the same list have one address. */
export function jobsHref(query: JobSearchQuery, change: Partial<JobSearchQuery> & JobsLinks = {}): `/${string}` {
  const next = { ...query, ...change };
  const search = {
    status: next.status && jobStates.filter((state) => next.status?.includes(state)),
    workflow_id: next.workflow_id,
    output_type: next.output_type,
    ...searchValues(next),
    sort_by: next.sort_by === "create_time" ? undefined : next.sort_by,
    sort_order: next.sort_order === "desc" ? undefined : next.sort_order,
    limit: next.limit === 100 ? undefined : next.limit,
    offset: next.offset === 0 ? undefined : next.offset,
  };
  const isBare = Object.values(search).every((value) => value === undefined);
  return withQuery("/jobs", { ...search, view: isBare ? next.view : undefined, connection: next.connection });
}

/** The query that an address asks for, read as the page on the server reads it: what is no value of its own falls back by itself. */
export function readJobsQuery(search: URLSearchParams): JobSearchQuery {
  const textOf = (name: string) => search.getAll(name).join(",");
  const oneOf = <T extends string>(name: string, values: readonly T[]) => values.find((value) => value === textOf(name));
  const number = (name: string, usual: number, least: number, most: number) => {
    const text = textOf(name);
    const value = Number(text) + 0;
    return /^-?\d{1,16}$/.test(text) && value >= least && value <= most ? value : usual;
  };
  const workflow = textOf("workflow_id");
  return {
    status: readStates(textOf("status")),
    workflow_id: workflow !== "" && workflow.length <= 200 ? workflow : undefined,
    output_type: oneOf("output_type", outputTypes),
    ...readSearch(search),
    sort_by: oneOf("sort_by", ["create_time", "execution_time"]) ?? "create_time",
    sort_order: oneOf("sort_order", ["asc", "desc"]) ?? "desc",
    offset: number("offset", 0, 0, Number.MAX_SAFE_INTEGER),
    limit: number("limit", 100, 1, 1000),
  };
}

function readStates(text: string): JobSearchQuery["status"] {
  const words = text.split(",").flatMap((word) => word.trim().toLowerCase() || []);
  const known = jobStates.filter((state) => words.includes(state));
  const isGood = words.length > 0 && words.length <= 100 && words.every((word) => known.some((state) => state === word));
  return isGood ? known : undefined;
}

/** Where a saved view leads. */
export function viewHref(query: string, connection: string | undefined): string {
  return withQuery("/jobs", { ...Object.fromEntries(new URLSearchParams(query)), view: query === "" ? "all" : undefined, connection });
}

/** The API's path for a query: the key under which the browser keeps the answer. What no service searches by is found in the ledger. */
export function jobsApiPath(query: JobSearchQuery, connection: string | undefined): `/${string}` {
  return withQuery(isSearch(query) ? "/api/console/jobs/search" : "/api/jobs", { ...query, connection });
}
