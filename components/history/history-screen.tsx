"use client";

import { useTranslations } from "next-intl";
import { use } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { Paging } from "@/components/data-table/paging";
import { SelectionBar } from "@/components/data-table/selection-bar";
import { UnreadableRows } from "@/components/data-table/unreadable-rows";
import { WorkLine } from "@/components/data-table/work-line";
import { useSelection } from "@/components/data-table/use-selection";
import { useConnection } from "@/components/frame/connection-context";
import { useRefreshCounts } from "@/components/frame/counts-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { failureText } from "@/components/frame/failure-text";
import { Freshness } from "@/components/frame/freshness";
import { PageHeader } from "@/components/frame/page-header";
import { RunLink } from "@/components/frame/run-link";
import { ToolBar } from "@/components/frame/tool-bar";
import { Button, buttonStyle } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { ClearHistory } from "./clear-history";
import { endedJobsPath, historyApiPath, historyHref, type HistoryQuery } from "./history-address";
import { historyColumns } from "./history-columns";
import { type HistoryRow, type HistoryView, toHistoryView } from "./history-row";
import { type Removal, useRemoval } from "./use-removal";

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
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const first = use(history);
  const connection = useConnection()?.id;
  const path = connection ? historyApiPath(query, connection) : undefined;
  const poll = usePoll(path, { ...initialOf(first), read: toHistoryView, motion: still });
  const ended = usePoll(connection ? endedJobsPath(connection) : undefined, { read: totalOf, motion: background });
  const refreshCounts = useRefreshCounts();
  const { rows, unreadable } = poll.value ?? nothing;
  const selection = useSelection(rows.map(rowId));
  const { isBusy, done, failed, heldIds, undo, dismiss, remove, clear } = useRemoval({
    connection,
    refresh: () => Promise.all([poll.refresh(), ended.refresh(), refreshCounts()]),
    words: {
      removed: (removed) => t("receipt.all", { removed }),
      failed: (count, failure) => [t("failed", { count }), failureText(errors, failure)].join(": "),
    },
  });
  const columns = historyColumns({
    t,
    connection,
    linked,
    canRemove,
    count: rows.length,
    selected: selection.ids,
    select: selection.select,
    selectAll: (isOn) => selection.selectAll(isOn ? rows.map(rowId) : []),
  });
  const isEmpty = poll.value !== undefined && rows.length === 0 && !poll.failure;
  return (
    <>
      <PageHeader title={t("title")} count={ended.value}>
        <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        {canRemove && poll.value ? <ClearHistory count={ended.value} isBusy={isBusy} onClear={clear} /> : null}
      </PageHeader>
      <ToolBar label={t("summaryLabel")}>
        <span className="text-ink-3">{canRemove ? t("stays") : t("readOnly")}</span>
      </ToolBar>
      {failed ? (
        <FailureMessage
          failure={failed.failure}
          about={t("failed", { count: failed.ids.length })}
          onRetry={failed.again}
          actions={
            <Button tone="quiet" onClick={failed.dismiss}>
              {common("dismiss")}
            </Button>
          }
          className="mx-4 mt-4 md:mx-5"
        />
      ) : null}
      {poll.failure ? <FailureMessage failure={poll.failure} onRetry={() => void poll.refresh()} className="mx-4 mt-4 md:mx-5" /> : null}
      <UnreadableRows count={unreadable} />
      {rows.length > 0 ? (
        <DataTable
          caption={t("caption")}
          columns={columns}
          rows={rows}
          rowId={rowId}
          isSelected={(row) => selection.ids.has(row.id)}
          isBusy={(row) => heldIds.has(row.id)}
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
      {isEmpty && query.offset === 0 ? (
        <EmptyState title={t("empty.title")} text={t("empty.text")} action={canRemove ? <RunLink linked={linked} /> : undefined} />
      ) : null}
      {heldIds.size > 0 ? (
        <WorkLine label={t("selectedLabel")} tone="wait" text={t("held", { count: heldIds.size })}>
          <Button size="small" onClick={undo}>
            {common("undo")}
          </Button>
        </WorkLine>
      ) : null}
      {heldIds.size === 0 && selection.ids.size === 0 && done ? <Receipt done={done} rows={rows} onDismiss={dismiss} /> : null}
      <SelectionBar count={heldIds.size > 0 ? 0 : selection.ids.size} onClear={selection.clear}>
        <Button
          size="small"
          busy={isBusy}
          onClick={() => {
            remove([...selection.ids]);
            selection.clear();
          }}
        >
          {t("remove", { count: selection.ids.size })}
        </Button>
      </SelectionBar>
      {poll.value && (rows.length > 0 || query.offset > 0) ? (
        <Paging
          offset={query.offset}
          limit={query.max_items}
          count={rows.length}
          hasMore={rows.length + unreadable >= query.max_items}
          hrefOf={(offset) => historyHref({ ...query, offset }, linked)}
          className="mt-auto md:sticky md:bottom-0 md:z-20"
        />
      ) : null}
    </>
  );
}

function Receipt({ done, rows, onDismiss }: { done: Removal; rows: readonly HistoryRow[]; onDismiss: () => void }) {
  const t = useTranslations("history.receipt");
  const label = useTranslations("history")("selectedLabel");
  if (done.kind === "cleared") return <WorkLine label={label} tone="ok" text={t("cleared")} onDismiss={onDismiss} />;
  const left = rows.filter(({ id }) => done.ids.includes(id)).length;
  const removed = done.ids.length - left;
  const text = t(left === 0 ? "all" : "some", { removed, left });
  return <WorkLine label={label} tone={removed > 0 ? "ok" : "off"} text={text} onDismiss={onDismiss} />;
}
