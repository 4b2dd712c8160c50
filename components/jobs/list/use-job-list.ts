import { useSearchParams } from "next/navigation";
import { use, useCallback, useEffect, useLayoutEffect, useMemo, useState } from "react";
import { createSelection } from "@/components/data-table/selection/selection-store";
import { usePausedRows } from "@/components/data-table/use-paused-rows";
import { useConnection } from "@/components/frame/connection/connection-context";
import { initialOf, type Poll, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { useBusyJobs } from "../actions/busy-jobs";
import { type JobRow, type JobsView } from "../job-row";
import { listApiPath, listHref, type ListLinks, type ListName, readList } from "./list-address";
import { createListState } from "./list-state";

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
