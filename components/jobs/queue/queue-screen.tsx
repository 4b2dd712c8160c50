"use client";

import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { useSelection } from "@/components/data-table/selection";
import { useConnection, useConnectionParam } from "@/components/frame/connection/connection-context";
import { useRefreshCounts } from "@/components/frame/counts-context";
import { RunLink } from "@/components/frame/list/tool-bar";
import { useDenialText } from "@/components/frame/member-context";
import { EmptyState } from "@/components/ui/empty-state";
import { useOnFirstInteraction } from "@/components/ui/hooks/page-events";
import { ResultLine } from "@/components/ui/result-line";
import { loadEmptyComponent } from "@/components/ui/skeleton";
import { useRenderedMs, useRenderedValue } from "@/components/ui/time";
import { type ClearAllResult } from "@/lib/browser/bulk/bulk-calls";
import { type TimedValue, toInitialOptions, useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type QueueResponse } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { ClearAll, useClearAll } from "../actions/clear-all";
import { useCellTexts } from "../columns/cells";
import { JobTable } from "../columns/columns";
import { type JobRow, type QueueList, toQueueList } from "../job-row";
import { useJobKeys } from "../list/job-list-table";
import { ListScreen } from "../list/list-screen";
import { type Command, useBulkJobActions } from "../list/use-bulk-job-actions";
import { createQueueColumns, estimateStartTimes } from "./queue-columns";

const loadActions = () => import("../list/selection-actions");
// If this fails to load, each row still has its own Cancel and Undo.
const SelectionActions = dynamic(() => loadActions().then((module) => module.SelectionActions, loadEmptyComponent), { ssr: false });

type QueueScreenProps = {
  canCancel: boolean;
  queue: Promise<Result<TimedValue<QueueList>, Failure>>;
};

/** Rounding step of estimated start times. */
const START_STEP_MS = 5_000;
const getId = (row: JobRow) => row.id;
const emptyQueue: QueueList = { running: [], pending: [], pendingTotal: 0, isSortedBySubmission: false, canStop: false };

export function QueueScreen({ canCancel, queue }: QueueScreenProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("queue");
  const getDenialText = useDenialText();
  useOnFirstInteraction(loadActions);
  const texts = useCellTexts();
  const initialResult = use(queue);
  const connection = useConnection()?.id;
  const path = connection ? withQuery("/api/console/queue", { connection }) : undefined;
  const live = useLive(path, { ...toInitialOptions(initialResult), read: toQueueList });
  const { value: list, failure } = live;
  const { running, pending, pendingTotal, isSortedBySubmission, canStop } = list ?? emptyQueue;
  const total = running.length + pendingTotal;
  // No total is shown if the queue is empty and can't be read.
  const hasCount = list !== undefined && !(failure && total === 0);
  const unknownCount = running.filter(({ state }) => state === "unknown").length;
  const refreshCounts = useRefreshCounts();
  const refresh = () => Promise.all([live.refresh(), refreshCounts()]);

  const clockMs = useRenderedValue(useRenderedMs(), (ms) => Math.round(ms / START_STEP_MS) * START_STEP_MS);
  const startRanges = estimateStartTimes({ running, pending, nowMs: (failure && live.atMs) ?? clockMs });
  const startRangesById = new Map(pending.map(({ id }, index) => [id, startRanges[index]]));
  const rows = [...running, ...pending];
  const canCancelJob = ({ state }: JobRow) => state === "pending" || (canStop && state === "in_progress");
  const { store: selection, ids } = useSelection(rows.filter(canCancelJob).map(getId), pending.map(getId));
  const pendingPath = withQuery("/api/jobs", { status: "pending", limit: 1, connection });
  const clearAll = useClearAll<QueueResponse>(withQuery("/api/queue", { connection }), pendingPath, refresh);
  const handleStarted = () => {
    selection.clear();
    clearAll.dismiss();
  };
  const bulk = useBulkJobActions({ connection, onDone: () => void refresh(), onStarted: handleStarted });
  const { busyIds, pendingIds } = bulk;
  const [command, setCommand] = useState<Command>();
  useJobKeys(selection, (newCommand) => canCancel && setCommand(newCommand));
  const columns = createQueueColumns({
    texts,
    connection,
    connectionParam,
    selection,
    selectAll: { label: t("selectAll", { count: pending.length }), isEmpty: pending.length === 0 },
    canCancel: canCancel ? canCancelJob : undefined,
    busyIds,
    pendingIds,
    getStartRange: (id) => startRangesById.get(id),
    cancel: (row) => bulk.start("cancel", [row]),
    undo: bulk.undoOne,
  });
  return (
    <ListScreen
      list="queue"
      count={hasCount ? total : undefined}
      live={live}
      unreadable={list?.unreadable}
      actions={
        canCancel && list ? (
          <ClearAll
            messageNamespace="queue.clear"
            openParam="clear"
            count={pendingTotal}
            isBusy={clearAll.isBusy || busyIds.size > 0 || pendingIds.size > 0}
            onClear={clearAll.clear}
          />
        ) : null
      }
      tools={
        <>
          <span className="whitespace-nowrap text-ink-2">
            {hasCount ? t("summary", { running: running.length - unknownCount, pending: pendingTotal }) : t("unknown")}
            {unknownCount > 0 ? `, ${t("otherState", { count: unknownCount })}` : null}
          </span>
          {canCancel ? null : <span className="text-ink-3">{getDenialText(t("viewerHint"))}</span>}
          {pendingTotal > pending.length ? (
            <span className="text-wait md:whitespace-nowrap">{t("cut", { listed: pending.length, total: pendingTotal })}</span>
          ) : null}
          {isSortedBySubmission && pending.length > 1 ? <span className="text-ink-3 md:whitespace-nowrap">{t("bySubmission")}</span> : null}
          {clearAll.cleared ? (
            <ClearResult
              requestedCount={clearAll.cleared.shownCount ?? 0}
              outcome={clearAll.cleared.outcome}
              waitingCount={pendingTotal}
              onDismiss={clearAll.dismiss}
            />
          ) : null}
        </>
      }
    >
      {list && total > 0 ? (
        <JobTable
          caption={t("caption")}
          columns={columns}
          rows={rows}
          marks={selection}
          isBusy={({ id }) => busyIds.has(id) || pendingIds.has(id)}
        />
      ) : null}
      {list && total === 0 && !failure && !list.unreadable ? (
        <EmptyState title={t("empty.title")} text={t("empty.text")} action={canCancel ? <RunLink /> : undefined} />
      ) : null}
      <SelectionActions
        selection={{ kind: "ids", ids }}
        rows={rows}
        connection={connection}
        bulk={bulk}
        onDone={() => void refresh()}
        onClear={selection.clear}
        canRun={canCancel}
        command={command}
      />
    </ListScreen>
  );
}

type ClearResultProps = {
  requestedCount: number;
  outcome: ClearAllResult<QueueResponse>;
  waitingCount: number;
  onDismiss: () => void;
};

/** The outcome of clearing the queue. Some services name the cancelled jobs, and others only return the remaining ones. */
export function ClearResult({ requestedCount, outcome, waitingCount, onDismiss }: ClearResultProps) {
  const t = useTranslations("queue.result");
  const cancelledCount = outcome.kind === "confirmed" ? (outcome.response.deleted ?? []).length : 0;
  const tooLateCount = Math.max(0, requestedCount - cancelledCount);
  const unknownKey = outcome.kind === "confirmed" ? "unnamed" : "lost";
  const resultKey =
    cancelledCount === 0 ? (`${unknownKey}${waitingCount === 0 ? "Gone" : "Waiting"}` as const) : tooLateCount === 0 ? "all" : "some";
  return (
    <ResultLine
      isResult
      tone={cancelledCount > 0 ? "ok" : "off"}
      text={t(resultKey, { requested: requestedCount, waiting: waitingCount, cancelled: cancelledCount, tooLate: tooLateCount })}
      onDismiss={onDismiss}
    />
  );
}
