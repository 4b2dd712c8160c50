import { useSearchParams } from "next/navigation";
import { use, useCallback, useEffect, useMemo, useState } from "react";
import { usePausedRows } from "@/components/data-table/paused-rows";
import { createSelection } from "@/components/data-table/selection/selection";
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
 * A list of jobs: the address's query and its newest answer. Until a new query has its first answer, the last answer of the previous
 * query is shown; `query` is the one that `rows` belong to.
 */
export function useJobList({ list, initialQuery, first, links }: JobList) {
  const result = use(first);
  const connection = useConnection()?.id;
  const question = useQuestion(list, initialQuery);
  const initialState = question === initialQuery ? toInitial(result) : {};
  const path = connection ? listApiPath(list, question, connection) : undefined;
  const live = useLive(path, { ...initialState, read: toView, revalidateOnReturn: true });
  const displayed = useShown(question, live);
  const { query = question, view } = displayed ?? {};
  const { connection: connectionParam, view: bare } = links;
  const address = useMemo(() => jobsAddress(list, { connection: connectionParam, view: bare }), [list, connectionParam, bare]);
  const state = useListState(question, address, query);
  const href = listHref(list, query);
  const [selection] = useState(createSelection);
  // After a change of filters, the selected jobs may not be in the list.
  useEffect(() => () => void selection.clear(), [href, selection]);
  const { rows, newCount } = usePausedRows(href, view?.rows ?? noRows, { total: view?.total, isHeld: query.offset > 0 });
  // An empty list that can no longer be read shows no numbers.
  const total = live.failure && rows.length === 0 ? undefined : view?.total;
  const busyIds = useBusyJobs();
  const isBusy = useCallback(({ id }: JobRow) => busyIds.has(id), [busyIds]);
  const atMs = live.atMs ?? displayed?.atMs;
  return {
    list,
    connection,
    question,
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

function useShown(query: JobSearchQuery, { value: view, atMs, failure }: LiveValue<JobsView>) {
  const [last, setLast] = useState<DisplayedPage>();
  if (view === undefined) return failure ? undefined : last;
  if (last?.view === view && last.query === query) return last;
  const displayed = { query, view, atMs };
  setLast(displayed);
  return displayed;
}

/** The same object while the address asks for the same list, and the server's own object if it read the same list. */
function useQuestion(list: ListName, initialQuery: JobSearchQuery): JobSearchQuery {
  const search = useSearchParams()?.toString() ?? "";
  const href = useMemo(() => listHref(list, readList(list, new URLSearchParams(search)).query), [list, search]);
  return useMemo(
    () => (href === listHref(list, initialQuery) ? initialQuery : readList(list, new URL(href, "http://page").searchParams).query),
    [list, href, initialQuery],
  );
}

/** The address changes without the router, which would request and render the whole page for a new list of rows. */
export function jobsAddress(list: ListName, links: ListLinks): ListAddress<JobSearchQuery> {
  return {
    keyOf: (query) => listHref(list, query),
    hrefOf: (query) => listHref(list, query, links),
    push: (href, isReplacing) => window.history[isReplacing ? "replaceState" : "pushState"](null, "", apiPath(href)),
    // After a click the page scrolls to the first row.
    onShown: () => window.scrollTo({ top: 0 }),
  };
}
