"use client";

import { useRouter } from "next/navigation";
import { useTranslations } from "next-intl";
import { use } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { Paging } from "@/components/data-table/paging";
import { SelectionBar } from "@/components/data-table/selection-bar";
import { UnreadableRows } from "@/components/data-table/unreadable-rows";
import { LowerEdge, WorkLine, WorkLines } from "@/components/data-table/work-line";
import { useSelection } from "@/components/data-table/use-selection";
import { type KnownJob } from "@/components/jobs/actions/end-jobs";
import { JobLines } from "@/components/jobs/actions/job-lines";
import { useJobWork } from "@/components/jobs/actions/use-job-work";
import { useConnection } from "@/components/frame/connection-context";
import { useRefreshCounts } from "@/components/frame/counts-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { Freshness } from "@/components/frame/freshness";
import { JobSearchFilters } from "@/components/jobs/search/job-search-filters";
import { noSearch } from "@/components/jobs/search/search-address";
import { SearchReach } from "@/components/jobs/search/search-reach";
import { WordsField } from "@/components/jobs/search/words-field";
import { PageHeader } from "@/components/frame/page-header";
import { RunLink } from "@/components/frame/run-link";
import { ToolBar } from "@/components/frame/tool-bar";
import { Button, buttonStyle } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/use-poll";
import { type JobSearch } from "@/lib/contract/console-job-search";
import { type Failure } from "@/lib/contract/failure";
import { isSearch } from "@/lib/contract/job-search";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { ClearHistory } from "./clear-history";
import { endedJobsPath, historyApiPath, historyHref, type HistoryQuery } from "./history-address";
import { historyColumns } from "./history-columns";
import { type HistoryRow, type HistoryView, toHistoryView } from "./history-row";
import { useClearing } from "./use-clearing";

type HistoryScreenProps = {
  query: HistoryQuery;
  /** `?connection=` of the address, where it has one. */
  linked?: string;
  canRemove: boolean;
  history: Promise<Result<Stamped<HistoryView>, Failure>>;
};

const rowId = (row: HistoryRow) => row.id;
const nothing: HistoryView = { rows: [], unreadable: 0 };
const still = () => "still" as const;
const background = () => "background" as const;
const totalOf = (answer: JobsAnswer) => answer.pagination.total;

export function HistoryScreen({ query, linked, canRemove, history }: HistoryScreenProps) {
  const t = useTranslations("history");
  const first = use(history);
  const connection = useConnection()?.id;
  const path = connection ? historyApiPath(query, connection) : undefined;
  const poll = usePoll(path, { ...initialOf(first), read: toHistoryView, motion: still });
  const ended = usePoll(connection ? endedJobsPath(connection) : undefined, { read: totalOf, motion: background });
  const refreshCounts = useRefreshCounts();
  const { rows, unreadable } = poll.value ?? nothing;
  const isFiltered = isSearch(query);
  const outMs = poll.value?.reach?.asOfMs;
  const router = useRouter();
  const go = (change: JobSearch, isTyped = false) => {
    const href = historyHref({ ...query, ...change, offset: 0 }, linked);
    // Words that are typed in several goes are one step of the way back.
    if (isTyped && query.text !== undefined) router.replace(href);
    else router.push(href);
  };
  const selection = useSelection(rows.map(rowId));
  const refresh = () => Promise.all([poll.refresh(), ended.refresh(), refreshCounts()]);
  const removing = useJobWork({ connection, onDone: () => void refresh() });
  const { heldIds, busyIds } = removing;
  const clearing = useClearing(connection, refresh);
  const columns = historyColumns({
    t,
    connection,
    linked,
    canRemove,
    count: rows.length,
    selection: selection.store,
  });
  const isEmpty = poll.value !== undefined && rows.length + unreadable === 0 && !poll.failure;
  return (
    <>
      <PageHeader
        title={t("title")}
        count={isFiltered ? poll.value?.total : ended.value}
        badge={<WordsField text={query.text} onGo={go} />}
      >
        <Freshness atMs={outMs ?? poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined || outMs !== undefined} />
        {/* It would clear what is filtered away, too. */}
        {canRemove && poll.value && !isFiltered ? (
          <ClearHistory count={ended.value} isBusy={clearing.isBusy} onClear={clearing.clear} />
        ) : null}
      </PageHeader>
      <ToolBar label={t("summaryLabel")}>
        <JobSearchFilters search={query} connection={connection} onGo={go} />
        <span className="text-ink-3">{canRemove ? t("stays") : t("readOnly")}</span>
      </ToolBar>
      {poll.failure ? <FailureMessage failure={poll.failure} onRetry={() => void poll.refresh()} className="mx-4 mt-4 md:mx-5" /> : null}
      <SearchReach reach={poll.value?.reach} />
      <UnreadableRows count={unreadable} />
      {rows.length > 0 ? (
        <DataTable
          caption={t("caption")}
          columns={columns}
          rows={rows}
          rowId={rowId}
          marks={selection.store}
          isBusy={(row) => heldIds.has(row.id) || busyIds.has(row.id)}
          isFixed
          className="two-lines"
        />
      ) : null}
      {isEmpty && query.offset > 0 ? (
        <EmptyState
          title={t("empty.beyond")}
          action={
            <Link href={historyHref({ ...query, offset: 0 }, linked)} className={buttonStyle()}>
              {t("empty.firstPage")}
            </Link>
          }
        />
      ) : null}
      {isEmpty && query.offset === 0 && isFiltered ? (
        <EmptyState
          title={t("empty.filtered")}
          action={
            <Link href={historyHref({ ...query, ...noSearch }, linked)} className={buttonStyle()}>
              {t("empty.showAll")}
            </Link>
          }
        />
      ) : null}
      {isEmpty && query.offset === 0 && !isFiltered ? (
        <EmptyState title={t("empty.title")} text={t("empty.text")} action={canRemove ? <RunLink linked={linked} /> : undefined} />
      ) : null}
      <LowerEdge>
        <JobLines acts={removing} connection={connection} onStopped={() => void refresh()} />
        {clearing.left !== undefined ? (
          <WorkLines label={t("selectedLabel")}>
            <WorkLine
              tone={clearing.left === 0 ? "ok" : "off"}
              text={clearing.left === 0 ? t("cleared") : t("clearLost", { count: clearing.left })}
              onDismiss={clearing.dismiss}
            />
          </WorkLines>
        ) : null}
        <SelectionBar count={selection.ids.length} onClear={selection.store.clear}>
          <Button
            size="small"
            onClick={() => {
              clearing.dismiss();
              removing.dismissEnded();
              removing.hold({ act: "remove", items: chosenRows(rows, selection.ids, heldIds) });
              selection.store.clear();
            }}
          >
            {t("remove", { count: selection.ids.length })}
          </Button>
        </SelectionBar>
      </LowerEdge>
      {poll.value && (rows.length > 0 || query.offset > 0) ? (
        <Paging
          offset={query.offset}
          limit={query.max_items}
          count={rows.length}
          total={poll.value.total}
          hasMore={isFiltered ? undefined : rows.length + unreadable >= query.max_items}
          hrefOf={(offset) => historyHref({ ...query, offset }, linked)}
          className="mt-auto md:sticky md:bottom-0 md:z-20"
        />
      ) : null}
    </>
  );
}

/** Not those whose removal is under way already. */
function chosenRows(rows: readonly HistoryRow[], ids: readonly string[], heldIds: ReadonlySet<string>): KnownJob[] {
  return rows
    .filter(({ id }) => ids.includes(id) && !heldIds.has(id))
    .map(({ id, word, state, workflow, createdMs }) => ({ id, word, state, workflow, createdMs }));
}
