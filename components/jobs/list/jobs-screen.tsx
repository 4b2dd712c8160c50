"use client";

import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type ReactNode, useCallback, useDeferredValue, useEffect, useEffectEvent, useMemo, useState } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { type OpenPanel, useOpenPanel, useOpenPanelId } from "@/components/frame/list/list-state";
import { IgnoredValues, RunLink } from "@/components/frame/list/tool-bar";
import { Button } from "@/components/ui/controls/button";
import { useOnFirstInteraction } from "@/components/ui/hooks/page-events";
import { toJobHref } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { parseInputIds } from "@/lib/contract/jobs/job-list";
import { type ColumnChoice, DEFAULT_CHOICE, getVisibleInputs, singleMemberChoice, useColumnChoice, withInputs } from "../columns/columns";
import { type JobRow } from "../job-row";
import { JobListTable, SelectedJobs } from "./job-list-table";
import { JobsFilters, SearchTextField, SortSelect } from "./jobs-filters";
import { JobPanelFrame, ListEmpty, ListPages, ListRows, ListScreen } from "./list-screen";
import { getViewHref, getViewQuery, INPUTS_PARAM, type ListLinks, type ListName, toRequestQuery } from "./list-urls";
import { type InitialResponse, type JobListData, type JobListState, useJobList } from "./use-job-list";

const ColumnsDialog = dynamic(() => import("../columns/columns-dialog").then((module) => module.ColumnsDialog), { ssr: false });

const ViewsDialog = dynamic(() => import("@/components/frame/list/list-dialogs").then((module) => module.ViewsDialog), { ssr: false });

type JobsToolsProps = {
  list: ListName;
  choice: ColumnChoice;
  defaultChoice: ColumnChoice;
  onChoose: (choice: ColumnChoice) => void;
  state: JobListState;
  rows: readonly JobRow[];
  connection: string | undefined;
  canShare: boolean;
};

/** The view's tools at the right of the toolbar. Each dialog loads when it is opened. */
function JobsTools({ list, choice, defaultChoice, onChoose, state, rows, connection, canShare }: JobsToolsProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations();
  const [openDialog, setOpenDialog] = useState<"columns" | "views">();
  const close = () => setOpenDialog(undefined);
  return (
    <div className="ml-auto flex shrink-0 items-center gap-2">
      {list === "jobs" ? <SortSelect state={state} /> : null}
      <Button aria-haspopup="dialog" onClick={() => setOpenDialog("views")}>
        {t("savedViews.open")} <span aria-hidden="true">▾</span>
      </Button>
      <Button aria-haspopup="dialog" onClick={() => setOpenDialog("columns")}>
        {t("jobList.columns.open")} <span aria-hidden="true">▾</span>
      </Button>
      {openDialog === "views" ? (
        <ViewsDialog
          screen={list}
          query={getViewQuery(list, state.query(), getVisibleInputs(choice))}
          getHref={(query) => getViewHref(list, query, connectionParam)}
          canShare={canShare}
          onClose={close}
        />
      ) : null}
      {openDialog === "columns" ? (
        <ColumnsDialog
          choice={choice}
          defaultChoice={defaultChoice}
          jobs={rows.map(({ id }) => id)}
          connection={connection}
          onChoose={onChoose}
          onClose={close}
        />
      ) : null}
    </div>
  );
}

type JobListScreenProps = {
  displayed: JobListData;
  /** The query that the server read from the URL. */
  initialQuery: JobSearchQuery;
  /** The values in the URL that could not be parsed. */
  ignored: readonly string[];
  links: ListLinks;
  canRun: boolean;
  isTeam: boolean;
  /** The number of all jobs, shown in the header. */
  total?: number;
  actions: ReactNode;
  hint?: ReactNode;
  onStarted?: () => void;
  onDone: () => void;
};

/** The jobs or the history: filters, views, columns, rows with the open job in a panel, selection and pages. */
export function JobListScreen({
  displayed,
  initialQuery,
  ignored,
  links,
  canRun,
  isTeam,
  total,
  actions,
  hint,
  onStarted,
  onDone,
}: JobListScreenProps) {
  const { list, connection, urlQuery, query, view, live, state, rows, selection, isBusy } = displayed;
  const t = useTranslations(list);
  const connectionParam = links.connection;
  const defaultChoice = isTeam ? DEFAULT_CHOICE : singleMemberChoice;
  const [choice, setChoice] = useColumnChoice(connection, defaultChoice);
  const inputsParam = useSearchParams()?.get(INPUTS_PARAM) ?? "";
  const showInputs = useEffectEvent((ids: string) => setChoice(withInputs(choice, parseInputIds(ids))));
  // A saved view restores its inputs as ordinary columns.
  useEffect(() => {
    if (inputsParam !== "") showInputs(inputsParam);
  }, [inputsParam]);
  const getJobHref = useCallback((id: string) => toJobHref(id, connectionParam), [connectionParam]);
  const openPanel = useOpenPanel("job", getJobHref);
  const requestedQuery = useMemo(() => toRequestQuery(list, query), [list, query]);
  const sharedProps = { rows, connection };
  return (
    <>
      {urlQuery === initialQuery ? <IgnoredValues list={ignored} /> : null}
      <ListScreen
        list={list}
        count={total}
        live={live}
        atMs={displayed.atMs}
        reach={view?.reach}
        hasOlderJobs={view?.hasOlderJobs}
        unreadable={view?.unreadable}
        search={<SearchTextField text={urlQuery.text} go={state.navigate} />}
        actions={actions}
        tools={
          <>
            <JobsFilters list={list} state={state} rows={rows} total={displayed.total} connection={connection} />
            {hint}
            <JobsTools
              {...sharedProps}
              list={list}
              choice={choice}
              defaultChoice={defaultChoice}
              onChoose={setChoice}
              state={state}
              canShare={canRun}
            />
          </>
        }
      >
        <JobsWithPanel {...sharedProps} openPanel={openPanel} canRun={canRun} state={state}>
          {view && rows.length > 0 ? (
            <JobListTable
              {...sharedProps}
              caption={t("caption")}
              state={state}
              selection={selection}
              choice={choice}
              onChoiceChange={setChoice}
              canSort={list === "jobs"}
              openPanel={openPanel}
              isBusy={isBusy}
            />
          ) : null}
        </JobsWithPanel>
        {view && rows.length === 0 && !live.failure && !view.unreadable ? (
          <ListEmpty list={list} state={state} total={displayed.total} canRun={canRun} />
        ) : null}
        <SelectedJobs
          store={selection}
          query={requestedQuery}
          rows={rows}
          total={total}
          connection={connection}
          canRun={canRun}
          inputs={getVisibleInputs(choice)}
          onStarted={onStarted}
          onDone={onDone}
        />
        {/* Some services have fewer jobs than history entries, so the total is omitted. */}
        <ListPages
          {...displayed}
          total={list === "history" && total !== undefined && total < query.offset + rows.length ? undefined : total}
        />
      </ListScreen>
    </>
  );
}

export type JobListProps = {
  query: JobSearchQuery;
  ignored: readonly string[];
  /** `?connection=` of the URL, if present. */
  connection?: string;
  /** Set if the member has a default view, since the plain list then needs `view=all` in its URL. */
  view?: ListLinks["view"];
  canRun: boolean;
  isTeam: boolean;
  initialResponse: InitialResponse;
};

export function JobsScreen({ query: initialQuery, ignored, connection, view, canRun, isTeam, initialResponse }: JobListProps) {
  const links = { connection, view };
  const jobList = useJobList({ list: "jobs", initialQuery, initialResponse, links });
  return (
    <JobListScreen
      {...{ displayed: jobList, initialQuery, ignored, links, canRun, isTeam, total: jobList.total }}
      actions={canRun ? <RunLink tone="primary" /> : null}
      onDone={() => void jobList.live.refresh()}
    />
  );
}

const loadPanel = () => import("../job/job-panel");
const JobPanel = dynamic(() => loadPanel().then((module) => module.JobPanel), { ssr: false, loading: () => <JobPanelFrame /> });

type JobsWithPanelProps = {
  openPanel: OpenPanel;
  rows: readonly JobRow[];
  connection: string | undefined;
  canRun: boolean;
  state: JobListState;
  children: ReactNode;
};

/** The list with the open job in a panel. The row is marked immediately, and the panel may follow a frame later. */
function JobsWithPanel({ openPanel, rows, connection, canRun, state, children }: JobsWithPanelProps) {
  const id = useDeferredValue(useOpenPanelId(openPanel));
  useOnFirstInteraction(loadPanel);
  const index = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  const createAdjacentOpener = (offset: -1 | 1) => {
    const adjacentId = index < 0 ? undefined : rows[index + offset]?.id;
    return adjacentId === undefined ? undefined : () => void openPanel.open(adjacentId);
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
          canRun={canRun}
          onClose={openPanel.close}
          onNext={createAdjacentOpener(1)}
          onPrevious={createAdjacentOpener(-1)}
        />
      ) : null}
    </div>
  );
}
