"use client";

import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { useSelection } from "@/components/data-table/selection/selection";
import { useConnection } from "@/components/frame/connection/connection-context";
import { useFollowCounts, useRefreshCounts, useTellCounts } from "@/components/frame/counts-context";
import { useWhyNot } from "@/components/frame/member-context";
import { RunLink } from "@/components/frame/samples/run-link";
import { EmptyState } from "@/components/ui/empty-state";
import { useAtFirstMove } from "@/components/ui/hooks/use-at-first-move";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { type Cleared } from "@/lib/browser/bulk/bulk-calls";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type QueueAnswer } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { ClearAll, useClearAll } from "../actions/clear-all";
import { useCellWords } from "../columns/cells";
import { JobTable } from "../columns/columns";
import { type JobRow, type QueueList, toQueueList } from "../job-row";
import { useJobKeys } from "../list/chosen-table";
import { ListFrame } from "../list/list-frame";
import { type Command, useBulk } from "../list/use-bulk";
import { queueColumns } from "./queue-columns";
import { useStarts } from "./use-starts";

const loadActions = () => import("../list/selection-actions");
// If the bar's code fails to load, the queue still works: each row has its own Cancel and Undo.
const noActions = () => () => null;
const SelectionActions = dynamic(() => loadActions().then((module) => module.SelectionActions, noActions), { ssr: false });

type QueueScreenProps = {
  /** `?connection=` of the address, if present. */
  linked?: string;
  canCancel: boolean;
  queue: Promise<Result<Stamped<QueueList>, Failure>>;
};

const idOf = (row: JobRow) => row.id;
const motionOf = (list: QueueList) => (list.running.length + list.pending.length > 0 ? "moving" : "still");
const nothing: QueueList = { running: [], pending: [], pendingTotal: 0, isBySubmission: false, canStop: false };

export function QueueScreen({ linked, canCancel, queue }: QueueScreenProps) {
  const t = useTranslations("queue");
  const whyNot = useWhyNot();
  useAtFirstMove(loadActions);
  const words = useCellWords();
  const first = use(queue);
  const connection = useConnection()?.id;
  const path = connection ? withQuery("/api/console/queue", { connection }) : undefined;
  const poll = usePoll(path, { ...initialOf(first), read: toQueueList, motion: motionOf });
  const { value: list, failure } = poll;
  const { running, pending, pendingTotal, isBySubmission, canStop } = list ?? nothing;
  const total = running.length + pendingTotal;
  // An empty queue that can no longer be read shows no numbers.
  const isCounted = list !== undefined && !(failure && total === 0);
  const others = running.filter(({ state }) => state === "unknown").length;
  useTellCounts(list ? { running: running.length - others, pending: pendingTotal } : {}, poll.atMs);
  useFollowCounts(list && `${running.length} ${pendingTotal} ${failure?.code}`);
  const refreshCounts = useRefreshCounts();
  const refresh = () => Promise.all([poll.refresh(), refreshCounts()]);

  const rows = [...running, ...pending];
  const isOffered = ({ state }: JobRow) => state === "pending" || (canStop && state === "in_progress");
  const { store: selection, ids } = useSelection(rows.filter(isOffered).map(idOf), pending.map(idOf));
  const stillWaiting = withQuery("/api/jobs", { status: "pending", limit: 1, connection });
  const clearing = useClearAll<QueueAnswer>(withQuery("/api/queue", { connection }), stillWaiting, refresh);
  const begin = () => {
    selection.clear();
    clearing.dismiss();
  };
  const bulk = useBulk({ connection, onDone: () => void refresh(), onBegun: begin });
  const { busyIds, pendingIds } = bulk;
  const [command, setCommand] = useState<Command>();
  useJobKeys(selection, (next) => canCancel && setCommand(next));
  const columns = queueColumns({
    words,
    connection,
    linked,
    selection,
    selectAll: { label: t("selectAll", { count: pending.length }), isEmpty: pending.length === 0 },
    isOffered: canCancel ? isOffered : undefined,
    busyIds,
    pendingIds,
    startOf: useStarts(connection, list ?? nothing, poll.atMs),
    cancel: (row) => bulk.start("cancel", [row]),
    undo: bulk.undoOne,
  });
  return (
    <ListFrame
      list="queue"
      count={isCounted ? total : undefined}
      poll={poll}
      unreadable={list?.unreadable}
      actions={
        canCancel && list ? (
          <ClearAll
            words="queue.clear"
            parameter="clear"
            count={pendingTotal}
            isBusy={clearing.isBusy || busyIds.size > 0 || pendingIds.size > 0}
            onClear={clearing.clear}
          />
        ) : null
      }
      tools={
        <>
          <span className="whitespace-nowrap text-ink-2">
            {isCounted ? t("summary", { running: running.length - others, pending: pendingTotal }) : t("unknown")}
            {others > 0 ? `, ${t("otherState", { count: others })}` : null}
          </span>
          {canCancel ? null : <span className="text-ink-3">{whyNot(t("viewerHint"))}</span>}
          {pendingTotal > pending.length ? (
            <span className="text-wait md:whitespace-nowrap">{t("cut", { listed: pending.length, total: pendingTotal })}</span>
          ) : null}
          {isBySubmission && pending.length > 1 ? <span className="text-ink-3 md:whitespace-nowrap">{t("bySubmission")}</span> : null}
          {clearing.cleared ? (
            <ClearReceipt
              asked={clearing.cleared.asked ?? 0}
              outcome={clearing.cleared.outcome}
              waiting={pendingTotal}
              onDismiss={clearing.dismiss}
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
          linked={linked}
          marks={selection}
          isBusy={({ id }) => busyIds.has(id) || pendingIds.has(id)}
        />
      ) : null}
      {list && total === 0 && !failure && !list.unreadable ? (
        <EmptyState title={t("empty.title")} text={t("empty.text")} action={canCancel ? <RunLink linked={linked} /> : undefined} />
      ) : null}
      <SelectionActions
        chosen={{ kind: "ids", ids }}
        rows={rows}
        connection={connection}
        bulk={bulk}
        onDone={() => void refresh()}
        onClear={selection.clear}
        canRun={canCancel}
        command={command}
      />
    </ListFrame>
  );
}

type ClearReceiptProps = {
  /** How many waited when the person confirmed. */
  asked: number;
  outcome: Cleared<QueueAnswer>;
  /** How many still wait. */
  waiting: number;
  onDismiss: () => void;
};

/** The outcome of clearing the queue. Some services name what they cancelled; otherwise only what still waits is known. */
export function ClearReceipt({ asked, outcome, waiting, onDismiss }: ClearReceiptProps) {
  const t = useTranslations("queue.receipt");
  const cancelled = outcome.kind === "answered" ? (outcome.answer.deleted ?? []).length : 0;
  const tooLate = Math.max(0, asked - cancelled);
  const unknown = outcome.kind === "answered" ? "unnamed" : "lost";
  const key = cancelled === 0 ? (`${unknown}${waiting === 0 ? "Gone" : "Waiting"}` as const) : tooLate === 0 ? "all" : "some";
  return (
    <ReceiptLine isAnswer tone={cancelled > 0 ? "ok" : "off"} text={t(key, { asked, waiting, cancelled, tooLate })} onDismiss={onDismiss} />
  );
}
