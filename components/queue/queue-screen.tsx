"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { useConnection } from "@/components/frame/connection-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { Freshness } from "@/components/frame/freshness";
import { PageHeader } from "@/components/frame/page-header";
import { useRefreshCounts } from "@/components/frame/use-counts";
import { ToolBar } from "@/components/frame/tool-bar";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { ClearQueue } from "./clear-queue";
import { queueColumns } from "./queue-columns";
import { fromJobs, MOST_LISTED, type QueueList, type QueueRow } from "./queue-rows";
import { type Receipt } from "./receipt";
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

const rowId = (row: QueueRow) => row.id;
const motionOf = (list: QueueList) => (list.running.length + list.pending.length > 0 ? "moving" : "still");
const nothing: QueueList = { running: [], pending: [], total: 0 };

export function QueueScreen({ linked, canCancel, queue }: QueueScreenProps) {
  const t = useTranslations("queue");
  const first = use(queue);
  const connection = useConnection()?.id;
  const path = connection
    ? withQuery("/api/jobs", { status: "in_progress,pending", sort_order: "asc", limit: MOST_LISTED, connection })
    : undefined;
  const poll = usePoll(path, { ...initialOf(first), read: fromJobs, motion: motionOf });
  const list = poll.value;
  const failure = poll.failure;
  const { running, pending, total } = list ?? nothing;
  const selection = useSelection(pending.map(rowId));
  const { busyIds, cancel } = useCancel(connection);
  const refreshCounts = useRefreshCounts();
  const [answer, setAnswer] = useState<{ receipt: Receipt; failure?: ApiFailure }>();

  async function run(ids: readonly string[]) {
    setAnswer(undefined);
    const result = await cancel(ids);
    selection.clear();
    setAnswer(result.ok ? { receipt: result.value } : { receipt: result.failure.done, failure: result.failure.failure });
    await Promise.all([poll.refresh(), refreshCounts()]);
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
    cancel: (ids) => void run(ids),
  });
  return (
    <>
      <PageHeader title={t("title")} count={list ? total : undefined}>
        <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        {canCancel ? <ClearQueue pending={pending.map(rowId)} isBusy={busyIds.size > 0} onClear={(ids) => void run(ids)} /> : null}
      </PageHeader>
      <ToolBar label={t("summaryLabel")}>
        <span className="text-ink-2">{t("summary", { running: running.length, pending: pending.length })}</span>
        {canCancel ? null : <span className="text-ink-3">{t("readOnly")}</span>}
        {list && total > MOST_LISTED ? <span className="text-wait">{t("cut", { count: MOST_LISTED })}</span> : null}
        {answer ? <ReceiptLine receipt={answer.receipt} onDismiss={() => setAnswer(undefined)} /> : null}
      </ToolBar>
      {answer?.failure ? <FailureMessage failure={answer.failure} className="mx-4 mt-4 md:mx-5" /> : null}
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
        <Button size="small" busy={busyIds.size > 0} onClick={() => void run([...selection.ids])}>
          {t("cancelSelected", { count: selection.ids.size })}
        </Button>
      </SelectionBar>
    </>
  );
}
