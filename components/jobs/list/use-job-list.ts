import { useSearchParams } from "next/navigation";
import { use, useCallback, useEffect, useMemo, useState } from "react";
import { usePausedRows } from "@/components/data-table/paused-rows";
import { createSelection } from "@/components/data-table/selection";
import { useConnection } from "@/components/frame/connection/connection-context";
import { type ListAddress, type ListState, useListState } from "@/components/frame/list/list-state";
import { type LiveValue, type TimedValue, toInitialOptions, useLive } from "@/lib/browser/live/use-live";
import { apiPath } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type HistoryResponse, type JobsResponse } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { useBusyJobs } from "../actions/busy-jobs";
import { type JobRow, type JobsView } from "../job-row";
import { getListApiPath, getListHref, type ListLinks, type ListName, parseListQuery } from "./list-urls";

export type InitialResponse = Promise<Result<TimedValue<JobsView>, Failure>>;

type JobListOptions = {
  list: ListName;
  /** The query that the server read from the URL. */
  initialQuery: JobSearchQuery;
  initialResponse: InitialResponse;
  links: ListLinks;
};
type DisplayedPage = { query: JobSearchQuery; view: JobsView; atMs: number | undefined };

export type JobListState = ListState<JobSearchQuery>;

const noRows: JobRow[] = [];

// The server rendered the first rows. The client code loads with the first response.
const loadJobsView = (response: JobsResponse | HistoryResponse) => import("../job-row").then(({ toJobsView }) => toJobsView(response));

/**
 * Returns the job list of the URL's query. Until a new query has its first response, `rows` and `query` are those of
 * the previous query.
 */
export function useJobList({ list, initialQuery, initialResponse, links }: JobListOptions) {
  const result = use(initialResponse);
  const connection = useConnection()?.id;
  const urlQuery = useUrlQuery(list, initialQuery);
  const initialState = urlQuery === initialQuery ? toInitialOptions(result) : {};
  const path = connection ? getListApiPath(list, urlQuery, connection) : undefined;
  const live = useLive(path, { ...initialState, read: loadJobsView, revalidateOnReturn: true });
  const displayedPage = useDisplayedPage(urlQuery, live);
  const { query = urlQuery, view } = displayedPage ?? {};
  const { connection: connectionParam, view: viewParam } = links;
  const listAddress = useMemo(
    () => createJobListAddress(list, { connection: connectionParam, view: viewParam }),
    [list, connectionParam, viewParam],
  );
  const state = useListState(urlQuery, listAddress, query);
  const href = getListHref(list, query);
  const [selection] = useState(createSelection);
  // After filters change, the selected jobs may not be in the list.
  useEffect(() => () => void selection.clear(), [href, selection]);
  const { rows, newCount } = usePausedRows(href, view?.rows ?? noRows, { total: view?.total, isAlwaysPaused: query.offset > 0 });
  // No total is shown if the list is empty and can't be read.
  const total = live.failure && rows.length === 0 ? undefined : view?.total;
  const busyIds = useBusyJobs();
  const isBusy = useCallback(({ id }: JobRow) => busyIds.has(id), [busyIds]);
  const atMs = live.atMs ?? displayedPage?.atMs;
  return {
    list,
    connection,
    urlQuery,
    query,
    view,
    live,
    atMs,
    state,
    selection,
    rows,
    newCount,
    total,
    isBusy,
    isActing: busyIds.size > 0,
  };
}

export type JobListData = ReturnType<typeof useJobList>;

function useDisplayedPage(query: JobSearchQuery, { value: view, atMs, failure }: LiveValue<JobsView>) {
  const [lastPage, setLastPage] = useState<DisplayedPage>();
  if (view === undefined) return failure ? undefined : lastPage;
  if (lastPage?.view === view && lastPage.query === query) return lastPage;
  const displayedPage = { query, view, atMs };
  setLastPage(displayedPage);
  return displayedPage;
}

/** Returns the URL's query as a stable object per list. Reuses the server's object for the same list. */
function useUrlQuery(list: ListName, initialQuery: JobSearchQuery): JobSearchQuery {
  const search = useSearchParams()?.toString() ?? "";
  const href = useMemo(() => getListHref(list, parseListQuery(list, new URLSearchParams(search)).query), [list, search]);
  return useMemo(
    () => (href === getListHref(list, initialQuery) ? initialQuery : parseListQuery(list, new URL(href, "http://page").searchParams).query),
    [list, href, initialQuery],
  );
}

/** Changes the URL without the router, which would render the whole page again. */
export function createJobListAddress(list: ListName, links: ListLinks): ListAddress<JobSearchQuery> {
  return {
    getKey: (query) => getListHref(list, query),
    getHref: (query) => getListHref(list, query, links),
    push: (href, shouldReplace) => window.history[shouldReplace ? "replaceState" : "pushState"](null, "", apiPath(href)),
    // After a click the page scrolls to the first row.
    onShown: () => window.scrollTo({ top: 0 }),
  };
}
