import { useTranslations } from "next-intl";
import { type SelectionStore } from "@/components/data-table/selection";
import { type ColumnStyle } from "@/components/data-table/table-columns";
import { Button } from "@/components/ui/controls/button";
import { formatDuration, RunningDuration } from "@/components/ui/time";
import { toShortId } from "@/lib/browser/urls";
import { estimateTimeLeft, type ExpectedRun, type TimeRange, toSpan } from "@/lib/contract/jobs/expected-run";
import { type JobWaitReason } from "@/lib/contract/runners/runners";
import { type CellTexts } from "../columns/cells";
import { columnHelper, createJobColumns, createSelectColumn, jobColumnStyles, renderRowPreview } from "../columns/columns";
import { type JobRow } from "../job-row";

/** The columns of the queue are as wide as their content. */
const queueColumnStyles = {
  select: jobColumnStyles.select,
  position: { width: "w-[52px] lg:w-[72px]", align: "end" },
  status: { width: "w-[130px]" },
  job: { width: "w-[110px]" },
  workflow: { width: "w-[18%]", visibility: "max-w-0 max-lg:hidden" },
  what: { width: "w-[170px]", visibility: "max-w-[220px] max-lg:hidden", hiddenHeader: true },
  outputs: { width: "w-[78px]", visibility: "max-xl:hidden", align: "end" },
  start: { width: "w-[170px]", visibility: "max-lg:hidden" },
  submitted: { width: "w-[120px]", visibility: "max-sm:hidden lg:max-xl:hidden", align: "end" },
  waited: { width: "w-[92px]", align: "end" },
  act: { width: "w-[84px]", align: "end", hiddenHeader: true },
} as const satisfies Record<string, ColumnStyle>;

type QueueColumnsOptions = {
  texts: CellTexts;
  connection: string | undefined;
  /** The page's `?connection=`, which its links keep. */
  connectionParam: string | undefined;
  selection: SelectionStore;
  /** The label of the header's checkbox, and whether nothing is selectable. */
  selectAll: { label: string; isEmpty: boolean };
  /** Returns whether the job can be cancelled or stopped. Undefined if the member can't cancel jobs. */
  canCancel: ((row: JobRow) => boolean) | undefined;
  busyIds: ReadonlySet<string>;
  /** Jobs whose cancellation can still be undone. */
  pendingIds: ReadonlySet<string>;
  /** Returns when a waiting job may start. */
  getStartRange: (id: string) => TimeRange | undefined;
  cancel: (row: JobRow) => void;
  undo: (id: string) => void;
};

export function createQueueColumns(options: QueueColumnsOptions) {
  const { texts, connection, connectionParam, selection, selectAll, canCancel, getStartRange } = options;
  const { t } = texts;
  const renderStart = (row: JobRow) => {
    if (row.state !== "pending") return null;
    return row.waiting ? <WaitReasonCell waiting={row.waiting} /> : <StartCell range={getStartRange(row.id)} />;
  };
  const columnsById = createJobColumns(texts, {
    connection,
    connectionParam,
    renderLineEnd: renderStart,
    isWorkflowTruncated: true,
    columnStyles: queueColumnStyles,
  });
  const columns = [
    columnHelper.display({
      id: "position",
      header: t("column.position"),
      meta: queueColumnStyles.position,
      cell: ({ row: { original } }) =>
        original.position ?? <span className="block w-[52px] max-lg:hidden">{renderRowPreview(original, connection)}</span>,
    }),
    columnsById.status,
    columnsById.job,
    columnsById.workflow,
    columnsById.what,
    columnsById.outputs,
    columnHelper.display({
      id: "start",
      header: t("column.start"),
      meta: queueColumnStyles.start,
      cell: ({ row }) => renderStart(row.original),
    }),
    columnsById.submitted,
    columnHelper.display({
      id: "waited",
      header: t("column.waited"),
      meta: queueColumnStyles.waited,
      cell: ({ row }) => renderWaitedCell(row.original, texts),
    }),
  ];
  if (!canCancel) return columns;
  return [
    createSelectColumn({ store: selection, t, selectAllLabel: selectAll.label, isEmpty: selectAll.isEmpty, hasCheckbox: canCancel }),
    ...columns,
    columnHelper.display({
      id: "act",
      header: t("column.act"),
      meta: queueColumnStyles.act,
      cell: ({ row }) => (canCancel(row.original) ? <CancelOrUndo row={row.original} {...options} /> : null),
    }),
  ];
}

function CancelOrUndo({
  row,
  busyIds,
  pendingIds,
  cancel,
  undo,
}: Pick<QueueColumnsOptions, "busyIds" | "pendingIds" | "cancel" | "undo"> & { row: JobRow }) {
  const t = useTranslations("queue");
  const common = useTranslations("common");
  const [actionKey, labelKey] = row.state === "pending" ? (["cancel", "cancelOne"] as const) : (["stop", "stopOne"] as const);
  const id = toShortId(row.id);
  if (pendingIds.has(row.id)) {
    return (
      <Button size="small" aria-label={t("undoOne", { id })} onClick={() => undo(row.id)}>
        {common("undo")}
      </Button>
    );
  }
  return (
    <Button tone="danger" size="small" busy={busyIds.has(row.id)} aria-label={t(labelKey, { id })} onClick={() => cancel(row)}>
      {t(actionKey)}
    </Button>
  );
}

/** Counts up until the job starts. */
function renderWaitedCell({ state, createdMs, startedMs }: JobRow, { t, durations }: CellTexts) {
  if (createdMs === undefined) return t("nothing");
  if (state === "pending") return <RunningDuration fromMs={createdMs} />;
  return startedMs === undefined ? t("nothing") : formatDuration(durations, startedMs - createdMs);
}

/** Shown for jobs that can't start before a runner accepts jobs again or completes the jobs ahead. */
function WaitReasonCell({ waiting: { state, runners, ahead = 0 } }: { waiting: JobWaitReason }) {
  const t = useTranslations("queue.waits");
  const text = t(runners.length > 1 ? "several" : state, { runners: runners.join(", "), ahead });
  return (
    <span title={state === "queued" ? text : `${t("hint")}. ${text}`} className="block max-w-[240px] truncate text-wait">
      {text}
    </span>
  );
}

/** Shows "in 2–6 min", or nothing if unknown. */
function StartCell({ range }: { range: TimeRange | undefined }) {
  const t = useTranslations("queue.start");
  return range ? <span title={t("hint")}>{t("range", toSpan(range))}</span> : null;
}

type ExpectedJob = { expected?: ExpectedRun };
type StartTimesOptions = { running: readonly (ExpectedJob & { startedMs?: number })[]; pending: readonly ExpectedJob[]; nowMs: number };

/** Estimates when each waiting job may start. Undefined if unknown or if nothing is running. Assumes the current concurrency. */
export function estimateStartTimes({ running, pending, nowMs }: StartTimesOptions): (TimeRange | undefined)[] {
  const remainingTimes = running.map(
    ({ expected, startedMs }) => expected && startedMs !== undefined && estimateTimeLeft(expected, nowMs - startedMs),
  );
  const earliestTimes = remainingTimes.map((range) => (range ? range.fromMs : 0));
  const endTimes = remainingTimes.map((range) => (range ? range.toMs : Infinity));
  return pending.map(({ expected }) => {
    const range = { fromMs: occupySlot(earliestTimes, expected?.low_ms ?? 0), toMs: occupySlot(endTimes, expected?.high_ms ?? Infinity) };
    return Number.isFinite(range.toMs) ? range : undefined;
  });
}

/** Occupies the first free slot for `durationMs` and returns when it became free. */
function occupySlot(slots: number[], durationMs: number): number {
  const index = slots.indexOf(slots.reduce((first, slot) => Math.min(first, slot), Infinity));
  const freeMs = slots[index] ?? Infinity;
  slots[index] = freeMs + durationMs;
  return freeMs;
}
