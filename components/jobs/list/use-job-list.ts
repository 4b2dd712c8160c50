import { useSearchParams } from "next/navigation";
import { use, useCallback, useEffect, useMemo, useState } from "react";
import { usePausedRows } from "@/components/data-table/paused-rows";
import { createSelection } from "@/components/data-table/selection";
import { useConnection } from "@/components/frame/connection/connection-context";
import { type ListAddress, type ListState, useListState } from "@/components/frame/list/list-state";
import { type LiveValue, type TimedValue, toInitial, useLive } from "@/lib/browser/live/use-live";
import { apiPath } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type HistoryAnswer, type JobsAnswer } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { useBusyJobs } from "../actions/busy-jobs";
import { type JobRow, type JobsView } from "../job-row";
import { listApiPath, listHref, type ListLinks, type ListName, readList } from "./list-address";

export type FirstAnswer = Promise<Result<TimedValue<JobsView>, Failure>>;

type JobList = {
  list: ListName;
  /** The URL as read by the server, and its response. */
  initialQuery: JobSearchQuery;
  first: FirstAnswer;
  links: ListLinks;
};
type DisplayedPage = { query: JobSearchQuery; view: JobsView; atMs: number | undefined };

export type JobListState = ListState<JobSearchQuery>;

const noRows: JobRow[] = [];

// The server rendered the first rows; the client code loads with the first response.
const toView = (response: JobsAnswer | HistoryAnswer) => import("../job-row").then(({ toJobsView }) => toJobsView(response));

/**
 * The job list of the URL's query. Until a new query has its first response, the rows of the previous query are shown; `query` is the one that
 * `rows` belong to.
 */
export function useJobList({ list, initialQuery, first, links }: JobList) {
  const result = use(first);
  const connection = useConnection()?.id;
  const urlQuery = useUrlQuery(list, initialQuery);
  const initialState = urlQuery === initialQuery ? toInitial(result) : {};
  const path = connection ? listApiPath(list, urlQuery, connection) : undefined;
  const live = useLive(path, { ...initialState, read: toView, revalidateOnReturn: true });
  const displayed = useDisplayedPage(urlQuery, live);
  const { query = urlQuery, view } = displayed ?? {};
  const { connection: connectionParam, view: viewParam } = links;
  const address = useMemo(() => jobsAddress(list, { connection: connectionParam, view: viewParam }), [list, connectionParam, viewParam]);
  const state = useListState(urlQuery, address, query);
  const href = listHref(list, query);
  const [selection] = useState(createSelection);
  // After filters change, the selected jobs may not be in the list.
  useEffect(() => () => void selection.clear(), [href, selection]);
  const { rows, newCount } = usePausedRows(href, view?.rows ?? noRows, { total: view?.total, isHeld: query.offset > 0 });
  // No total is shown if the list is empty and can't be read.
  const total = live.failure && rows.length === 0 ? undefined : view?.total;
  const busyIds = useBusyJobs();
  const isBusy = useCallback(({ id }: JobRow) => busyIds.has(id), [busyIds]);
  const atMs = live.atMs ?? displayed?.atMs;
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

export type ShownList = ReturnType<typeof useJobList>;

function useDisplayedPage(query: JobSearchQuery, { value: view, atMs, failure }: LiveValue<JobsView>) {
  const [last, setLast] = useState<DisplayedPage>();
  if (view === undefined) return failure ? undefined : last;
  if (last?.view === view && last.query === query) return last;
  const displayed = { query, view, atMs };
  setLast(displayed);
  return displayed;
}

/** The query of the URL: a stable object per list, and the server's own object if it read the same list. */
function useUrlQuery(list: ListName, initialQuery: JobSearchQuery): JobSearchQuery {
  const search = useSearchParams()?.toString() ?? "";
  const href = useMemo(() => listHref(list, readList(list, new URLSearchParams(search)).query), [list, search]);
  return useMemo(
    () => (href === listHref(list, initialQuery) ? initialQuery : readList(list, new URL(href, "http://page").searchParams).query),
    [list, href, initialQuery],
  );
}

/** Changes the URL without the router, which would render the whole page again. */
export function jobsAddress(list: ListName, links: ListLinks): ListAddress<JobSearchQuery> {
  return {
    keyOf: (query) => listHref(list, query),
    getHref: (query) => listHref(list, query, links),
    push: (href, isReplacing) => window.history[isReplacing ? "replaceState" : "pushState"](null, "", apiPath(href)),
    // After a click the page scrolls to the first row.
    onShown: () => window.scrollTo({ top: 0 }),
  };
}
