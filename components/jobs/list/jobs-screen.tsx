"use client";

import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type ReactNode, useCallback, useDeferredValue, useEffect, useEffectEvent, useState } from "react";
import { type CountName, type ReadCounts, useCounts, useFollowCounts, useTellCounts } from "@/components/frame/counts-context";
import { IgnoredValues } from "@/components/frame/list/tool-bar";
import { type Opened, useOpened, useOpenedId } from "@/components/frame/list/use-opened";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { useAtFirstMove } from "@/components/ui/hooks/use-at-first-move";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { isSearch, readInputIds } from "@/lib/contract/jobs/job-list";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { choiceOfOne, type ColumnChoice, shownInputs, useColumnChoice, usualChoice, withInputs } from "../columns/column-choice";
import { type JobRow, type JobsView } from "../job-row";
import { WordsField } from "../search/job-search-filters";
import { ChosenTable } from "./chosen-table";
import { SelectedJobs } from "./chosen-table";
import { JobsFilters, SortSelect } from "./jobs-filters";
import { INPUTS_PARAM, type ListLinks, viewHref, viewQuery } from "./list-address";
import { ListFrame } from "./list-frame";
import { ListEmpty, ListPages, ListRows } from "./list-frame";
import { JobPanelFrame } from "./list-frame";
import { type FirstAnswer, type ListState, useJobList } from "./use-job-list";

const ColumnsDialog = dynamic(() => import("../columns/columns-dialog").then((module) => module.ColumnsDialog), { ssr: false });

const ViewsDialog = dynamic(() => import("@/components/frame/list/views-dialog").then((module) => module.ViewsDialog), { ssr: false });

type JobsToolsProps = {
  choice: ColumnChoice;
  /** The columns that a reset restores. */
  usual: ColumnChoice;
  onChoose: (choice: ColumnChoice) => void;
  state: ListState;
  rows: readonly JobRow[];
  connection: string | undefined;
  linked: string | undefined;
  canShare: boolean;
};

/** The view's own tools, on the right of the tool bar; each loads its code when it is opened. */
function JobsTools({ choice, usual, onChoose, state, rows, connection, linked, canShare }: JobsToolsProps) {
  const t = useTranslations("jobs");
  const [open, setOpen] = useState<"columns" | "views">();
  const close = () => setOpen(undefined);
  return (
    <div className="ml-auto flex shrink-0 items-center gap-2">
      <SortSelect state={state} />
      <Button aria-haspopup="dialog" onClick={() => setOpen("views")}>
        {t("views.open")} <span aria-hidden="true">▾</span>
      </Button>
      <Button aria-haspopup="dialog" onClick={() => setOpen("columns")}>
        {t("columns.open")} <span aria-hidden="true">▾</span>
      </Button>
      {open === "views" ? (
        <ViewsDialog
          screen="jobs"
          query={viewQuery(state.query(), shownInputs(choice))}
          hrefOf={(query) => viewHref(query, linked)}
          canShare={canShare}
          onClose={close}
        />
      ) : null}
      {open === "columns" ? (
        <ColumnsDialog
          choice={choice}
          usual={usual}
          jobs={rows.map(({ id }) => id)}
          connection={connection}
          onChoose={onChoose}
          onClose={close}
        />
      ) : null}
    </div>
  );
}

type JobsScreenProps = {
  /** The address as the server read it. */
  query: JobSearchQuery;
  /** The values of the address that could not be read. */
  ignored: readonly string[];
  /** `?connection=` of the address, if present. */
  connection?: string;
  /** If the member has a default view, the bare list needs `view=all` in its address. */
  view?: ListLinks["view"];
  canRun: boolean;
  /** Several members have submitted jobs. */
  isTeam: boolean;
  jobs: FirstAnswer;
};

// The server made the first rows; the code that makes rows loads with the first answer requested here.
const toView = (answer: JobsAnswer) => import("../job-row").then(({ toJobsView }) => toJobsView(answer));
const countOf = ({ rows }: JobsView, state: JobRow["state"]) => rows.filter((row) => row.state === state).length;

/** The navigation's count that equals the list's total. */
function countedBy(query: JobSearchQuery): CountName | undefined {
  if (query.workflow_id || query.output_type || isSearch(query)) return undefined;
  if (!query.status) return "jobs";
  const [state, ...others] = query.status;
  if (others.length > 0) return undefined;
  return state === "in_progress" ? "running" : state === "pending" ? "pending" : undefined;
}

/** If a list has all jobs on one page, it also counts running and waiting ones. */
function countsIn(counted: CountName | undefined, view: JobsView | undefined): ReadCounts {
  if (!view || counted === undefined) return {};
  const isWhole = counted === "jobs" && view.total === view.rows.length;
  const moving = isWhole ? { running: countOf(view, "in_progress"), pending: countOf(view, "pending") } : {};
  return { ...moving, [counted]: view.total };
}

export function JobsScreen({ query: asRead, ignored, connection: linked, view: bare, canRun, isTeam, jobs }: JobsScreenProps) {
  const t = useTranslations("jobs");
  const shown = useJobList({ list: "jobs", asRead, first: jobs, links: { connection: linked, view: bare }, toView });
  const { connection, question, query, view, poll, state, rows, selection, isBusy } = shown;
  const counted = countedBy(query);
  useTellCounts(countsIn(counted, view), shown.atMs);
  const counts = useCounts();
  // The navigation shows the same number: whichever was loaded last.
  const total = shown.total === undefined || !counted ? shown.total : (counts[counted] ?? shown.total);
  useFollowCounts(view && `${view.total} ${countOf(view, "in_progress")} ${countOf(view, "pending")} ${poll.failure?.code}`);
  const usual = isTeam ? usualChoice : choiceOfOne;
  const [choice, choose] = useColumnChoice(connection, usual);
  const viewInputs = useSearchParams()?.get(INPUTS_PARAM) ?? "";
  const showInputs = useEffectEvent((ids: string) => choose(withInputs(choice, readInputIds(ids))));
  // A saved view restores its inputs. After that they are ordinary columns.
  useEffect(() => {
    if (viewInputs !== "") showInputs(viewInputs);
  }, [viewInputs]);
  const pageOf = useCallback((id: string) => withQuery(`/jobs/${encodeURIComponent(id)}`, { connection: linked }), [linked]);
  const opened = useOpened("job", pageOf);
  const run = (
    <Link href="/run" className={buttonStyle({ tone: "primary" })}>
      {t("run")}
    </Link>
  );
  return (
    <>
      {question === asRead ? <IgnoredValues list={ignored} /> : null}
      <ListFrame
        list="jobs"
        count={total}
        poll={poll}
        atMs={shown.atMs}
        reach={view?.reach}
        isCut={view?.isCut}
        unreadable={view?.unreadable}
        search={<WordsField text={question.text} onGo={state.go} />}
        actions={canRun ? run : null}
        tools={
          <>
            <JobsFilters state={state} rows={rows} total={total} connection={connection} />
            <JobsTools
              choice={choice}
              usual={usual}
              onChoose={choose}
              state={state}
              rows={rows}
              connection={connection}
              linked={linked}
              canShare={canRun}
            />
          </>
        }
      >
        <JobsBeside opened={opened} rows={rows} connection={connection} linked={linked} canRun={canRun} state={state}>
          {view && rows.length > 0 ? (
            <ChosenTable
              caption={t("caption")}
              rows={rows}
              state={state}
              connection={connection}
              linked={linked}
              selection={selection}
              choice={choice}
              onChoose={choose}
              opened={opened}
              isBusy={isBusy}
            />
          ) : null}
        </JobsBeside>
        {view && rows.length === 0 && !poll.failure && !view.unreadable ? (
          <ListEmpty state={state} total={total} linked={linked} canRun={canRun} />
        ) : null}
        <SelectedJobs
          store={selection}
          query={query}
          rows={rows}
          total={total}
          connection={connection}
          canRun={canRun}
          inputs={shownInputs(choice)}
          onDone={() => void poll.refresh()}
        />
        <ListPages {...shown} total={total} />
      </ListFrame>
    </>
  );
}

const loadPanel = () => import("../job/job-panel");
const JobPanel = dynamic(() => loadPanel().then((module) => module.JobPanel), { ssr: false, loading: () => <JobPanelFrame /> });

type JobsBesideProps = {
  opened: Opened;
  rows: readonly JobRow[];
  connection: string | undefined;
  linked: string | undefined;
  canRun: boolean;
  state: ListState;
  children: ReactNode;
};

/** The list, with the open job beside it. The row is marked at once; the panel and the narrower list may follow a frame later. */
function JobsBeside({ opened, rows, connection, linked, canRun, state, children }: JobsBesideProps) {
  const id = useDeferredValue(useOpenedId(opened));
  useAtFirstMove(loadPanel);
  const at = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  const neighbour = (by: -1 | 1) => {
    const next = at < 0 ? undefined : rows[at + by]?.id;
    return next === undefined ? undefined : () => void opened.open(next);
  };
  return (
    <div className="flex items-start">
      <ListRows state={state} className={id === undefined ? "flex-1" : "flex-1 with-panel"}>
        {children}
      </ListRows>
      {id !== undefined ? (
        <JobPanel
          jobId={id}
          connection={connection}
          linked={linked}
          canRun={canRun}
          onClose={opened.close}
          onNext={neighbour(1)}
          onPrevious={neighbour(-1)}
        />
      ) : null}
    </div>
  );
}
