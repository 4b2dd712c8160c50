"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { SelectionBar } from "@/components/data-table/selection-bar";
import { LowerEdge } from "@/components/data-table/work-line";
import { JobLines } from "@/components/jobs/actions/job-lines";
import { useJobWork } from "@/components/jobs/actions/use-job-work";
import { UnreadableRows } from "@/components/data-table/unreadable-rows";
import { useSelection } from "@/components/data-table/use-selection";
import { useConnection } from "@/components/frame/connection-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { Freshness } from "@/components/frame/freshness";
import { PageHeader } from "@/components/frame/page-header";
import { useFollowCounts, useRefreshCounts, useTellCounts } from "@/components/frame/counts-context";
import { RunLink } from "@/components/frame/run-link";
import { ToolBar } from "@/components/frame/tool-bar";
import { Button } from "@/components/ui/button";
import { KnownUntil } from "@/components/ui/duration";
import { EmptyState } from "@/components/ui/empty-state";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { withQuery } from "@/lib/browser/urls";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { ClearQueue } from "./clear-queue";
import { queueColumns } from "./queue-columns";
import { type QueueList, type QueueRow, toQueueList } from "./queue-rows";
import { type Receipt, receiptSentence, receiptOfClear } from "./clear-receipt";
import { useStarts } from "./use-starts";
import { clearAll } from "@/lib/browser/clear-all";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type QueueAnswer } from "@/lib/contract/schemas/queue";

type QueueScreenProps = {
  /** `?connection=` of the address, where it has one. */
  linked?: string;
  canCancel: boolean;
  queue: Promise<Result<Stamped<QueueList>, Failure>>;
};

const rowId = (row: QueueRow) => row.id;
const lightText = ({ id, word, workflow = "" }: QueueRow) => [word, id.slice(0, 8), workflow].join("   ");
const motionOf = (list: QueueList) => (list.running.length + list.pending.length > 0 ? "moving" : "still");
const nothing: QueueList = { running: [], pending: [], pendingTotal: 0, isBySubmission: false, canStop: false };

export function QueueScreen({ linked, canCancel, queue }: QueueScreenProps) {
  const t = useTranslations("queue");
  const first = use(queue);
  const connection = useConnection()?.id;
  const path = connection ? withQuery("/api/console/queue", { connection }) : undefined;
  const poll = usePoll(path, { ...initialOf(first), read: toQueueList, motion: motionOf });
  const list = poll.value;
  const failure = poll.failure;
  const { running, pending, pendingTotal, isBySubmission, canStop } = list ?? nothing;
  const total = running.length + pendingTotal;
  // What was empty and cannot be read any more has no figures.
  const isCounted = list !== undefined && !(failure && total === 0);
  const others = running.filter(({ state }) => state === "unknown").length;
  const refreshCounts = useRefreshCounts();
  const refresh = () => Promise.all([poll.refresh(), refreshCounts()]);
  const cancelling = useJobWork({ connection, onDone: () => void refresh() });
  const { busyIds, heldIds } = cancelling;
  const clearing = useClearing(connection, refresh);
  const offered = [...(canStop ? running : []), ...pending];
  const selection = useSelection(offered.map(rowId), pending.map(rowId));
  useTellCounts(list && running.length - others, list && pendingTotal, poll.atMs);
  useFollowCounts(list && `${running.length} ${pendingTotal} ${failure?.code}`);

  function cancelThese(ids: readonly string[]) {
    const meant = offered.filter(({ id }) => ids.includes(id) && !heldIds.has(id) && !busyIds.has(id));
    selection.store.clear();
    clearing.dismiss();
    cancelling.dismissEnded();
    cancelling.hold({ act: "cancel", items: meant.map(({ createdMs, workflow, ...job }) => ({ ...job, createdMs, workflow })) });
  }

  const startOf = useStarts(connection, list ?? nothing, poll.atMs);
  const columns = queueColumns({
    t,
    linked,
    canCancel,
    canStop,
    pendingCount: pending.length,
    selection: selection.store,
    busyIds,
    heldIds,
    startOf,
    undo: cancelling.undoOne,
    cancel: cancelThese,
  });
  return (
    <>
      <PageHeader title={t("title")} count={isCounted ? total : undefined}>
        <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        {canCancel && list ? (
          <ClearQueue count={pendingTotal} isBusy={clearing.isBusy || busyIds.size > 0} onClear={clearing.clear} />
        ) : null}
      </PageHeader>
      <ToolBar label={t("summaryLabel")}>
        <span className="whitespace-nowrap text-ink-2">
          {isCounted ? t("summary", { running: running.length - others, pending: pendingTotal }) : t("unknown")}
          {others > 0 ? `, ${t("otherState", { count: others })}` : null}
        </span>
        {canCancel ? null : <span className="text-ink-3">{t("readOnly")}</span>}
        {pendingTotal > pending.length ? (
          <span className="text-wait md:whitespace-nowrap">{t("cut", { listed: pending.length, total: pendingTotal })}</span>
        ) : null}
        {isBySubmission && pending.length > 1 ? <span className="text-ink-3 md:whitespace-nowrap">{t("bySubmission")}</span> : null}
        {clearing.receipt ? <ClearReceipt receipt={clearing.receipt} waiting={pendingTotal} onDismiss={clearing.dismiss} /> : null}
      </ToolBar>
      {failure ? <FailureMessage failure={failure} onRetry={() => void poll.refresh()} className="mx-4 mt-4 md:mx-5" /> : null}
      <UnreadableRows count={list?.unreadable} />
      {list && total > 0 ? (
        <KnownUntil value={failure && poll.atMs}>
          <DataTable
            caption={t("caption")}
            columns={columns}
            rows={[...running, ...pending]}
            rowId={rowId}
            lightText={lightText}
            className="two-lines"
            marks={selection.store}
            isBusy={(row) => busyIds.has(row.id) || heldIds.has(row.id)}
          />
        </KnownUntil>
      ) : null}
      {list && total === 0 && !failure && !list.unreadable ? (
        <EmptyState title={t("empty.title")} text={t("empty.text")} action={canCancel ? <RunLink linked={linked} /> : undefined} />
      ) : null}
      <LowerEdge>
        <JobLines acts={cancelling} connection={connection} onStopped={() => void refresh()} />
        <SelectionBar count={selection.ids.length} onClear={selection.store.clear}>
          <Button size="small" onClick={() => cancelThese(selection.ids)}>
            {t("cancelSelected", { count: selection.ids.length })}
          </Button>
        </SelectionBar>
      </LowerEdge>
    </>
  );
}

function ClearReceipt({ receipt, waiting, onDismiss }: { receipt: Receipt; waiting: number; onDismiss: () => void }) {
  const t = useTranslations("queue.receipt");
  const { key, values } = receiptSentence(receipt, waiting);
  const isDone = receipt.kind === "told" && receipt.cancelled > 0;
  return <ReceiptLine tone={isDone ? "ok" : "off"} text={t(key, values)} onDismiss={onDismiss} />;
}

/** All that wait, also those beyond the list; behind a question, which says itself why there is no answer. */
function useClearing(connection: string | undefined, refresh: () => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false);
  const [receipt, setReceipt] = useState<Receipt>();
  async function clear(count: number): Promise<ApiFailure | undefined> {
    setBusy(true);
    const waiting = withQuery("/api/jobs", { status: "pending", limit: 1, connection });
    const result = await clearAll<QueueAnswer>(withQuery("/api/queue", { connection }), waiting);
    setBusy(false);
    if (!result.ok) return result.failure;
    const cleared = result.value;
    const told: Receipt = cleared.kind === "told" ? receiptOfClear(count, cleared.answer) : { kind: "lost", asked: count };
    const refreshed = refresh();
    // Where the service names nothing, the list after it is all that is known.
    if (told.kind !== "told") await refreshed;
    setReceipt(told);
    await refreshed;
    return undefined;
  }
  return { isBusy, receipt, clear, dismiss: () => setReceipt(undefined) };
}
