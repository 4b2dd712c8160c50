"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { useConnection } from "@/components/frame/connection-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { Freshness } from "@/components/frame/freshness";
import { PageHeader } from "@/components/frame/page-header";
import { useFollowCounts, useRefreshCounts } from "@/components/frame/counts-context";
import { ToolBar } from "@/components/frame/tool-bar";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type QueueAnswer } from "@/lib/contract/schemas/queue";
import { type Result } from "@/lib/shared/result";
import { ClearQueue } from "./clear-queue";
import { queueColumns } from "./queue-columns";
import { type QueueList, type QueueRow, toQueueList } from "./queue-rows";
import { type Receipt, receiptOf, receiptOfClear } from "./receipt";
import { ReceiptLine } from "./receipt-line";
import { SelectionBar } from "./selection-bar";
import { useCancel } from "./use-cancel";
import { useSelection } from "./use-selection";

type QueueScreenProps = {
  /** `?connection=` of the address, where it has one. */
  linked?: string;
  canCancel: boolean;
  queue: Promise<Result<Stamped<QueueList>, Failure>>;
};

type Said = Result<QueueAnswer, ApiFailure>;

const rowId = (row: QueueRow) => row.id;
const motionOf = (list: QueueList) => (list.running.length + list.pending.length > 0 ? "moving" : "still");
const nothing: QueueList = { running: [], pending: [], pendingTotal: 0, isBySubmission: false };

/** What was done, and to whom: every job that waits where `ids` is absent. */
type Done = { ids?: readonly string[]; receipt?: Receipt; failure?: ApiFailure };

export function QueueScreen({ linked, canCancel, queue }: QueueScreenProps) {
  const t = useTranslations("queue");
  const first = use(queue);
  const connection = useConnection()?.id;
  const path = connection ? withQuery("/api/console/queue", { connection }) : undefined;
  const poll = usePoll(path, { ...initialOf(first), read: toQueueList, motion: motionOf });
  const list = poll.value;
  const failure = poll.failure;
  const { running, pending, pendingTotal, isBySubmission } = list ?? nothing;
  const total = running.length + pendingTotal;
  const listed = pending.map(rowId);
  const selection = useSelection(listed);
  const { busyIds, cancel, clear } = useCancel(connection);
  const refreshCounts = useRefreshCounts();
  const [done, setDone] = useState<Done>();
  useFollowCounts(list && `${running.length} ${pendingTotal} ${failure?.code}`);

  async function answer({ ids, toReceipt, result }: { ids?: readonly string[]; toReceipt: (said: QueueAnswer) => Receipt; result: Said }) {
    selection.clear();
    const receipt = result.ok ? toReceipt(result.value) : undefined;
    const refreshed = Promise.all([poll.refresh(), refreshCounts()]);
    // Where the service names nothing, the list after it is all that is known.
    if (receipt?.kind === "untold") await refreshed;
    setDone({ ids, receipt, ...(!result.ok && { failure: result.failure }) });
    await refreshed;
  }
  async function cancelThese(ids: readonly string[]) {
    setDone(undefined);
    await answer({ ids, toReceipt: (said) => receiptOf(ids, said), result: await cancel(ids) });
  }
  async function clearAll(count: number) {
    setDone(undefined);
    await answer({ toReceipt: (said) => receiptOfClear(count, said), result: await clear(listed) });
  }

  const columns = queueColumns({
    t,
    linked,
    canCancel,
    pendingCount: pending.length,
    selected: selection.ids,
    busyIds,
    select: selection.select,
    selectAll: selection.selectAll,
    cancel: (ids) => void cancelThese(ids),
  });
  const waiting = done?.ids ? listed.filter((id) => done.ids?.includes(id)).length : pendingTotal;
  return (
    <>
      <PageHeader title={t("title")} count={list ? total : undefined}>
        <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        {canCancel && list ? <ClearQueue count={pendingTotal} isBusy={busyIds.size > 0} onClear={(count) => void clearAll(count)} /> : null}
      </PageHeader>
      <ToolBar label={t("summaryLabel")}>
        <span className="whitespace-nowrap text-ink-2">
          {list ? t("summary", { running: running.length, pending: pendingTotal }) : t("unknown")}
        </span>
        {canCancel ? null : <span className="text-ink-3">{t("readOnly")}</span>}
        {pendingTotal > pending.length ? (
          <span className="whitespace-nowrap text-wait">{t("cut", { listed: pending.length, total: pendingTotal })}</span>
        ) : null}
        {isBySubmission && pending.length > 1 ? <span className="whitespace-nowrap text-ink-3">{t("bySubmission")}</span> : null}
        {done?.receipt ? <ReceiptLine receipt={done.receipt} waiting={waiting} onDismiss={() => setDone(undefined)} /> : null}
      </ToolBar>
      {done?.failure ? <FailureMessage failure={done.failure} className="mx-4 mt-4 md:mx-5" /> : null}
      {failure ? <FailureMessage failure={failure} onRetry={() => void poll.refresh()} className="mx-4 mt-4 md:mx-5" /> : null}
      {list && total > 0 ? (
        <DataTable
          caption={t("caption")}
          columns={columns}
          rows={[...running, ...pending]}
          rowId={rowId}
          isSelected={(row) => selection.ids.has(row.id)}
          isBusy={(row) => busyIds.has(row.id)}
        />
      ) : null}
      {list && total === 0 ? <EmptyState title={t("empty.title")} text={t("empty.text")} /> : null}
      <SelectionBar count={selection.ids.size} onClear={selection.clear}>
        <Button size="small" busy={busyIds.size > 0} onClick={() => void cancelThese([...selection.ids])}>
          {t("cancelSelected", { count: selection.ids.size })}
        </Button>
      </SelectionBar>
    </>
  );
}
