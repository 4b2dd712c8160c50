import { searchValues } from "@/components/jobs/search/search-address";
import { withQuery } from "@/lib/browser/urls";
import { type JobSearch } from "@/lib/contract/console-job-search";
import { isSearch } from "@/lib/contract/job-search";
import { type KnownJobState } from "@/lib/contract/states";

export type HistoryQuery = { offset: number; max_items: number } & JobSearch;

export const USUAL_ITEMS = 100;
const ENDED = ["completed", "failed", "cancelled"] as const satisfies readonly KnownJobState[];

export function historyHref({ offset, max_items, ...search }: HistoryQuery, connection: string | undefined): `/${string}` {
  return withQuery("/history", {
    offset: offset === 0 ? undefined : offset,
    max_items: max_items === USUAL_ITEMS ? undefined : max_items,
    ...searchValues(search),
    connection,
  });
}

/** What no service searches by is found in the ledger, among the jobs that have ended. */
export function historyApiPath(query: HistoryQuery, connection: string): `/${string}` {
  if (isSearch(query)) return withQuery("/api/console/jobs/search", { ...endedJobs(query), connection });
  const { offset, max_items } = query;
  return withQuery("/api/history_v2", { offset, max_items, connection });
}

export function endedJobs({ offset, max_items: limit, ...search }: HistoryQuery) {
  return { ...search, status: ENDED, offset, limit };
}

/** Its total is that of the history, which has none of its own. */
export function endedJobsPath(connection: string | undefined): `/${string}` {
  return withQuery("/api/jobs", { status: ENDED, limit: 1, connection });
}
