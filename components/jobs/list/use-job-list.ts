import { useSearchParams } from "next/navigation";
import { use, useCallback, useEffect, useLayoutEffect, useMemo, useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { usePausedRows } from "@/components/data-table/paused-rows";
import { createSelection } from "@/components/data-table/selection/selection";
import { useConnection } from "@/components/frame/connection/connection-context";
import { afterPaint } from "@/lib/browser/after-paint";
import { initialOf, type Poll, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { apiPath } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { useBusyJobs } from "../actions/busy-jobs";
import { type JobRow, type JobsView } from "../job-row";
import { listApiPath, listHref, type ListLinks, type ListName, readList } from "./list-address";

export type FirstAnswer = Promise<Result<Stamped<JobsView>, Failure>>;

type JobList<Answer> = {
  list: ListName;
  /** The address as the server read it, and the answer it got. */
  asRead: JobSearchQuery;
  first: FirstAnswer;
  links: ListLinks;
  /** Must be a stable function. */
  toView: (answer: Answer) => Promise<JobsView>;
};
type Shown = { query: JobSearchQuery; view: JobsView; atMs: number | undefined };

const noRows: JobRow[] = [];
const motionOf = (view: JobsView) => (view.rows.some(({ state }) => state === "in_progress" || state === "pending") ? "moving" : "still");

/**
 * A list of jobs: the address's query and its newest answer. Until a new query has its first answer, the last answer of the previous
 * query is shown; `query` is the one that `rows` belong to.
 */
export function useJobList<Answer>({ list, asRead, first, links, toView }: JobList<Answer>) {
  const read = use(first);
  const connection = useConnection()?.id;
  const question = useQuestion(list, asRead);
  const known = question === asRead ? initialOf(read) : {};
  const path = connection ? listApiPath(list, question, connection) : undefined;
  const poll = usePoll(path, { ...known, read: toView, motion: motionOf, isAskedAnew: true });
  const shown = useShown(question, poll);
  const { query = question, view } = shown ?? {};
  const { connection: linked, view: bare } = links;
  const [state] = useState(() => createListState(list, question, links));
  useLayoutEffect(() => state.follow(question, { connection: linked, view: bare }), [state, question, linked, bare]);
  useLayoutEffect(() => state.show(query), [state, query]);
  const href = listHref(list, query);
  const [selection] = useState(createSelection);
  // After a change of filters, the selected jobs may not be in the list.
  useEffect(() => () => void selection.clear(), [href, selection]);
  const { rows, newCount } = usePausedRows(href, view?.rows ?? noRows, { total: view?.total, isHeld: query.offset > 0 });
  // An empty list that can no longer be read shows no numbers.
  const total = poll.failure && rows.length === 0 ? undefined : view?.total;
  const busyIds = useBusyJobs();
  const isBusy = useCallback(({ id }: JobRow) => busyIds.has(id), [busyIds]);
  const atMs = poll.atMs ?? shown?.atMs;
  return { connection, question, query, view, poll, atMs, state, selection, rows, newCount, total, isBusy, isActing: busyIds.size > 0 };
}

export type ShownList = ReturnType<typeof useJobList>;

function useShown(query: JobSearchQuery, { value: view, atMs, failure }: Poll<JobsView>) {
  const [last, setLast] = useState<Shown>();
  if (view === undefined) return failure ? undefined : last;
  if (last?.view === view && last.query === query) return last;
  const shown = { query, view, atMs };
  setLast(shown);
  return shown;
}

/** The same object while the address asks for the same list, and the server's own object if it read the same list. */
function useQuestion(list: ListName, asRead: JobSearchQuery): JobSearchQuery {
  const search = useSearchParams()?.toString() ?? "";
  const href = useMemo(() => listHref(list, readList(list, new URLSearchParams(search)).query), [list, search]);
  return useMemo(
    () => (href === listHref(list, asRead) ? asRead : readList(list, new URL(href, "http://page").searchParams).query),
    [list, href, asRead],
  );
}

export type ListChange = Partial<JobSearchQuery>;

/**
 * The list that was asked for last, kept outside React's state: a click renders only the controls that show it. The address,
 * the request to the service and its rows follow after the frame that shows the click.
 */
export type ListState = ReturnType<typeof createListState>;

export function createListState(list: ListName, first: JobSearchQuery, links: ListLinks) {
  const plainHref = (query: JobSearchQuery) => listHref(list, query);
  let here = { query: first, links };
  let asked: JobSearchQuery | undefined;
  let shown = plainHref(first);
  let isPressed = false;
  let isPushing = false;
  let wasTyped = false;
  let isReplacing = false;
  const changes = createStore(() => 0);
  const notifyAll = () => changes.setState((count) => count + 1);
  const query = () => asked ?? here.query;
  const hrefOf = (change: ListChange) => listHref(list, { ...query(), offset: 0, ...change }, here.links);
  const push = () => {
    isPushing = false;
    if (asked === undefined) return;
    if (plainHref(asked) !== plainHref(here.query)) {
      // Bypasses the router, which would request and render the whole page for a new list of rows.
      const href = apiPath(listHref(list, asked, here.links));
      if (isReplacing) window.history.replaceState(null, "", href);
      else window.history.pushState(null, "", href);
      return;
    }
    // Clicked back and forth within a frame.
    asked = undefined;
    isPressed = false;
    notifyAll();
  };
  return {
    list,
    subscribe: changes.subscribe,
    query,
    /** Other rows are being loaded. */
    isMoving: () => plainHref(query()) !== shown,
    hrefOf,
    /** A new query begins on its first page. Words typed in several goes are one step of the browser's history. */
    go(change: ListChange, isTyped = false): void {
      const next = { ...query(), offset: 0, ...change };
      if (plainHref(next) === plainHref(query())) return;
      isReplacing = isTyped && wasTyped;
      wasTyped = isTyped;
      asked = next;
      isPressed = true;
      notifyAll();
      if (!isPushing) afterPaint(push);
      isPushing = true;
    },
    /** Adopts what the address says by now, however it was changed. */
    follow(addressed: JobSearchQuery, its: ListLinks): void {
      here = { query: asked && plainHref(asked) === plainHref(addressed) ? asked : addressed, links: its };
      if (!isPushing) asked = undefined;
      notifyAll();
    },
    /** Rows of this list, or the reason why there are none, are on the page. After a click the page scrolls to the first. */
    show(answered: JobSearchQuery): void {
      const href = plainHref(answered);
      if (href === shown) return;
      shown = href;
      if (isPressed && href === plainHref(query())) {
        isPressed = false;
        window.scrollTo({ top: 0 });
      }
      notifyAll();
    },
  };
}

/** One value of the newest requested list; renders only when that value changes. */
export function useAsked<T extends JobSearchQuery | JobSearchQuery[keyof JobSearchQuery]>(
  state: ListState,
  pick: (query: JobSearchQuery) => T,
): T {
  const read = () => pick(state.query());
  return useSyncExternalStore(state.subscribe, read, read);
}

export function useMoving(state: ListState): boolean {
  return useSyncExternalStore(state.subscribe, state.isMoving, state.isMoving);
}

const whole = (query: JobSearchQuery) => query;

/** The newest requested list, even if its rows are still loading. */
export function useAskedQuery(state: ListState): JobSearchQuery {
  return useAsked(state, whole);
}
