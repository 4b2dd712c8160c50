"use client";

import { useTranslations } from "next-intl";
import dynamic from "next/dynamic";
import { use, useEffect, useState, useCallback, useMemo } from "react";
import { NewRows } from "@/components/data-table/new-rows";
import { PageControls } from "@/components/data-table/page-controls";
import { Paging } from "@/components/data-table/paging";
import { UnreadableRows } from "@/components/data-table/unreadable-rows";
import { createSelection } from "@/components/data-table/selection-store";
import { useHeldRows } from "@/components/data-table/use-held-rows";
import { useConnection } from "@/components/frame/connection-context";
import { useFollowCounts } from "@/components/frame/counts-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { Freshness } from "@/components/frame/freshness";
import { IgnoredValues } from "@/components/frame/ignored-values";
import { WordsField } from "@/components/jobs/search/words-field";
import { PageHeader } from "@/components/frame/page-header";
import { ToolBar } from "@/components/frame/tool-bar";
import { buttonStyle } from "@/components/ui/button";
import { KnownUntil } from "@/components/ui/duration";
import { Link } from "@/components/ui/link";
import { type Stamped, initialOf, type Poll, usePoll } from "@/lib/browser/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { type Result } from "@/lib/shared/result";
import { type JobRow, type JobsView, toJobsView } from "../job-row";
import { jobsHref, type JobsLinks, jobsApiPath, readJobsQuery } from "./list-address";
import { JobsBeside } from "./jobs-beside";
import { JobsFilters } from "./jobs-filters";
import { JobsSelected } from "./jobs-selected";
import { JobsTable } from "./jobs-table";
import { JobsTools } from "./jobs-tools";
import { useColumnChoice } from "../columns/use-column-choice";
import { useJobsPlace } from "./use-list-state";
import { useOpened } from "@/components/frame/use-opened";
import { withQuery } from "@/lib/browser/urls";
import { useSearchParams } from "next/navigation";

type Asking = {
  /** As the server read the address, and what it found. */
  query: JobSearchQuery;
  first: Result<Stamped<JobsView>, Failure>;
  connectionId: string | undefined;
};
type Shown = { query: JobSearchQuery; view: JobsView; atMs: number | undefined };

const motionOf = (view: JobsView) => (view.rows.some(({ state }) => state === "in_progress" || state === "pending") ? "moving" : "still");

/** The question of the address, and the newest answer: until the first one to another question is here, the last one to the question before it. */
function useJobsQuestion({ query, first, connectionId }: Asking): { question: JobSearchQuery; poll: Poll<JobsView>; shown?: Shown } {
  const question = useQuestion(query);
  const path = connectionId ? jobsApiPath(question, connectionId) : undefined;
  const known = question === query ? initialOf(first) : {};
  const poll = usePoll(path, { ...known, read: toJobsView, motion: motionOf, isAskedAnew: true });
  const { value: view, atMs, failure } = poll;
  const [last, setLast] = useState<Shown>();
  if (view === undefined) return { question, poll, shown: failure ? undefined : last };
  if (last?.view === view && last.query === question) return { question, poll, shown: last };
  const shown = { query: question, view, atMs };
  setLast(shown);
  return { question, poll, shown };
}

/** The same object while the address asks for the same list, and the server's own where it is the one that it read. */
function useQuestion(query: JobSearchQuery): JobSearchQuery {
  const search = useSearchParams().toString();
  const href = useMemo(() => jobsHref(readJobsQuery(new URLSearchParams(search))), [search]);
  return useMemo(() => (href === jobsHref(query) ? query : readJobsQuery(new URL(href, "http://page").searchParams)), [href, query]);
}

// With a fallback of its own: without one the whole page would be hidden until it is there, and the field that is typed in lose the focus.
const JobsEmpty = dynamic(() => import("./jobs-empty").then((module) => module.JobsEmpty), { loading: () => null });
const SearchReach = dynamic(() => import("@/components/jobs/search/search-reach").then((module) => module.SearchReach), {
  loading: () => null,
});

type JobsScreenProps = {
  /** The address, as the server read it. */
  query: JobSearchQuery;
  /** What it could not read of it. */
  ignored: readonly string[];
  /** `?connection=` of the address, where it has one. */
  connection?: string;
  /** The bare list needs `view=all` in its address, since somebody has a default view. */
  view?: JobsLinks["view"];
  canRun: boolean;
  jobs: Promise<Result<Stamped<JobsView>, Failure>>;
};

const noRows: JobRow[] = [];
const countOf = ({ rows }: JobsView, state: JobRow["state"]) => rows.filter((row) => row.state === state).length;

export function JobsScreen({ query: asRead, ignored, connection, view: bare, canRun, jobs }: JobsScreenProps) {
  const t = useTranslations("jobs");
  const first = use(jobs);
  const connectionId = useConnection()?.id;
  const { question, poll, shown } = useJobsQuestion({ query: asRead, first, connectionId });
  const { query = question, view } = shown ?? {};
  const { failure } = poll;
  const place = useJobsPlace(question, query, { connection, view: bare });
  const list = jobsHref(query);
  const [selection] = useState(createSelection);
  // Another question: what was selected may not be in its answer.
  useEffect(() => selection.clear, [list, selection]);
  const isNewestFirst = query.offset === 0 && !query.status && query.sort_by === "create_time" && query.sort_order === "desc";
  const { rows, newCount } = useHeldRows(list, view?.rows ?? noRows, isNewestFirst);
  useFollowCounts(view && `${view.total} ${countOf(view, "in_progress")} ${countOf(view, "pending")} ${failure?.code}`);
  // What was empty and cannot be read any more has no figures.
  const total = failure && rows.length === 0 ? undefined : view?.total;
  const [choice, choose] = useColumnChoice(connectionId);
  const opened = useOpenJob(connection);
  return (
    <>
      {question === asRead ? <IgnoredValues list={ignored} /> : null}
      <PageHeader title={t("title")} count={total} badge={<WordsField text={question.text} onGo={place.go} />}>
        <Freshness
          atMs={view?.reach?.asOfMs ?? poll.atMs ?? shown?.atMs}
          everyMs={poll.everyMs}
          isFailing={failure !== undefined || view?.reach?.asOfMs !== undefined}
        />
        {canRun ? (
          <Link href="/run" className={buttonStyle({ tone: "primary" })}>
            {t("run")}
          </Link>
        ) : null}
      </PageHeader>
      <ToolBar label={t("filter.label")}>
        <JobsFilters place={place} rows={rows} total={total} connection={connectionId} />
        <JobsTools choice={choice} onChoose={choose} place={place} linked={connection} canShare={canRun} />
      </ToolBar>
      {failure ? <FailureMessage failure={failure} onRetry={() => void poll.refresh()} className="mx-4 mt-4 md:mx-5" /> : null}
      {view?.reach ? <SearchReach reach={view.reach} /> : null}
      <UnreadableRows count={view?.unreadable} />
      <NewRows count={newCount} text={t("newRows", { count: newCount })} />
      <JobsBeside opened={opened} rows={rows} connection={connectionId} linked={connection} canRun={canRun} place={place}>
        {view && rows.length > 0 ? (
          <KnownUntil value={failure && poll.atMs}>
            <JobsTable
              rows={rows}
              place={place}
              connection={connectionId}
              linked={connection}
              selection={selection}
              choice={choice}
              onChoose={choose}
              opened={opened}
            />
          </KnownUntil>
        ) : null}
      </JobsBeside>
      {view && rows.length === 0 && !failure && !view.unreadable ? <JobsEmpty place={place} total={total} canRun={canRun} /> : null}
      <JobsSelected
        store={selection}
        query={query}
        rows={rows}
        total={total}
        connection={connectionId}
        canRun={canRun}
        onDone={() => void poll.refresh()}
      />
      {view ? (
        <Paging
          offset={query.offset}
          limit={query.limit}
          count={rows.length}
          total={total}
          hasMore={view.hasMore}
          hrefOf={(offset) => place.hrefOf({ offset })}
          className="mt-auto md:sticky md:bottom-0 md:z-20"
        >
          <PageControls offset={query.offset} limit={query.limit} total={total} onGo={place.go} />
        </Paging>
      ) : null}
    </>
  );
}

/** The job that `?job=` names, open beside the list. */
function useOpenJob(linked: string | undefined) {
  const pageOf = useCallback((id: string) => withQuery(`/jobs/${encodeURIComponent(id)}`, { connection: linked }), [linked]);
  return useOpened("job", pageOf);
}
