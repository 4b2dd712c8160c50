import { useSearchParams } from "next/navigation";
import { use, useCallback, useEffect, useMemo, useState } from "react";
import { usePausedRows } from "@/components/data-table/paused-rows";
import { createSelection } from "@/components/data-table/selection";
import { useConnection } from "@/components/frame/connection/connection-context";
import { type ListAddress, type ListState, useListState } from "@/components/frame/list/list-state";
import { callWithRetry, readAllPages, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type LiveValue, type TimedValue, toInitial, useLive } from "@/lib/browser/live/use-live";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { apiPath } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { jobStates } from "@/lib/contract/jobs/job-list";
import { type HistoryAnswer, type JobsAnswer } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { canApply, type TargetJob, useBusyJobs, watchBusy } from "../actions/end-jobs";
import { type JobAction, useJobWork } from "../actions/use-job-work";
import { type JobRow, type JobsView, toJobRow } from "../job-row";
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

/** `count` is undefined if the service doesn't report it; `query` is set while the jobs' ids are unknown. */
export type PendingJobAction = { action: JobAction; count: number | undefined; jobs?: readonly TargetJob[]; query?: JobSearchQuery };

type BulkOptions = {
  connection: string | undefined;
  onDone: () => void;
  onStarted: () => void;
  onRestored?: (jobs: readonly TargetJob[]) => void;
};

/** Cancelling and removing listed jobs can be undone for five seconds. Actions on a query require confirmation. */
export function useBulk({ connection, onDone, onStarted, onRestored }: BulkOptions) {
  const [pendingAction, setPendingAction] = useState<PendingJobAction>();
  const [hasNoMatches, setNoMatches] = useState(false);
  const work = useJobWork<JobSearchQuery>({ connection, onDone, onRestored, walk: walkJobs });
  async function prepareAction(jobAction: JobAction, query: JobSearchQuery): Promise<void> {
    const narrowedQuery = narrowQuery(jobAction, query);
    if (!narrowedQuery) return setNoMatches(true);
    const context = work.begin();
    const count = await countJobs(narrowedQuery, context);
    if (context.signal.aborted) return;
    if (!count.ok) work.fail(count.failure);
    else if (count.value === 0) setNoMatches(true);
    else setPendingAction({ action: jobAction, count: count.value, query: narrowedQuery });
  }
  /** Skips jobs that another component is ending before or during the read of the list, since they are reported there. */
  async function runAll(jobAction: JobAction, query: JobSearchQuery): Promise<void> {
    const busyElsewhere = watchBusy();
    await work.runAll(jobAction, query, ({ id }) => jobAction === "runAgain" || !busyElsewhere.ids.has(id));
    busyElsewhere.end();
  }
  function begin(): void {
    setNoMatches(false);
    work.dismissEnded();
  }

  return {
    ...work,
    pendingAct: pendingAction,
    hasNoMatches,
    ask: (jobAction: JobAction, query: JobSearchQuery) => {
      begin();
      return prepareAction(jobAction, query);
    },
    /** For listed jobs. Rerunning creates jobs, so more than one is confirmed. */
    start: (jobAction: JobAction, jobs: readonly TargetJob[]) => {
      begin();
      if (jobAction === "runAgain" && jobs.length > 1) return setPendingAction({ action: jobAction, count: jobs.length, jobs });
      if (jobAction === "runAgain") void work.run({ action: jobAction, items: jobs });
      else work.schedule({ action: jobAction, items: jobs });
      onStarted();
    },
    confirm: () => {
      setPendingAction(undefined);
      if (pendingAction?.jobs) void work.run({ action: pendingAction.action, items: pendingAction.jobs });
      else if (pendingAction?.query) void runAll(pendingAction.action, pendingAction.query);
      onStarted();
    },
    leave: () => setPendingAction(undefined),
    reportNoMatches: () => setNoMatches(true),
    dismissNoMatches: () => setNoMatches(false),
  };
}

export type Bulk = ReturnType<typeof useBulk>;

/** An action to start immediately: on these jobs, or on all matching ones. */
export type Command = { action: "cancel" | "runAgain"; ids?: readonly string[] };

/** Chosen jobs by id, or everything that a query matches, on any page. */
export type ChosenJobs = { kind: "ids"; ids: readonly string[] } | { kind: "matching"; query: JobSearchQuery; total: number };

export function toTargetJobs(ids: readonly string[], rows: readonly JobRow[]): TargetJob[] {
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => rowsById.get(id) ?? { id });
}

/** Narrows the query to jobs that the action applies to; undefined if there are none. */
export function narrowQuery(jobAction: JobAction, query: JobSearchQuery): JobSearchQuery | undefined {
  if (jobAction === "runAgain") return query;
  const status = (query.status ?? jobStates).filter((state) => canApply(jobAction, { id: "", word: state, state }));
  return status.length === 0 ? undefined : { ...query, status };
}

const PAGE_SIZE = 1000;
export const MAX_PER_ACTION = 10_000;

function walkJobs(query: JobSearchQuery, work: Work) {
  const getPath = (offset: number) => listApiPath("jobs", { ...query, limit: PAGE_SIZE, offset }, work.connection);
  const parsePage = ({ jobs, pagination: { total, has_more: hasMore }, unreadable = 0 }: JobsAnswer) => {
    return { items: jobs.map(toJobRow), rows: jobs.length + unreadable, total, hasMore };
  };
  return readAllPages<JobsAnswer, TargetJob>({ pathAt: getPath, read: parsePage, maxItems: MAX_PER_ACTION }, work);
}

/** How many jobs a query matches now; undefined if the service reports no total. */
async function countJobs(query: JobSearchQuery, work: Work): Promise<Result<number | undefined, ApiFailure>> {
  const path = listApiPath("jobs", { ...query, limit: 1, offset: 0 }, work.connection);
  const result = await callWithRetry<JobsAnswer>(path, { cache: "no-store" }, work);
  return result.ok ? ok(result.value.pagination.total) : result;
}
