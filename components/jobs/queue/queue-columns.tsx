import { useTranslations } from "next-intl";
import { type SelectionStore } from "@/components/data-table/selection";
import { type ColumnStyle } from "@/components/data-table/table-columns";
import { Button } from "@/components/ui/controls/button";
import { durationText, RunningDuration } from "@/components/ui/time";
import { shortId } from "@/lib/browser/urls";
import { estimateTimeLeft, type ExpectedRun, type TimeRange, toSpan } from "@/lib/contract/jobs/expected-run";
import { type JobWaits } from "@/lib/contract/runners/runners";
import { type CellWords } from "../columns/cells";
import { column, jobColumns, jobColumnStyles, rowPicture, selectColumn } from "../columns/columns";
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

type Queue = {
  words: CellWords;
  connection: string | undefined;
  /** The page's `?connection=`, which its links keep. */
  connectionParam: string | undefined;
  selection: SelectionStore;
  /** The label of the header's checkbox, and whether nothing is selectable. */
  selectAll: { label: string; isEmpty: boolean };
  /** For members who may cancel: whether the job can be cancelled or stopped. */
  isOffered: ((row: JobRow) => boolean) | undefined;
  busyIds: ReadonlySet<string>;
  /** Jobs whose cancellation can still be undone. */
  pendingIds: ReadonlySet<string>;
  /** When a waiting job may start. */
  getStart: (id: string) => TimeRange | undefined;
  cancel: (row: JobRow) => void;
  undo: (id: string) => void;
};

export function queueColumns(queue: Queue) {
  const { words, connection, connectionParam, selection, selectAll, isOffered, getStart } = queue;
  const { t } = words;
  const start = (row: JobRow) => {
    if (row.state !== "pending") return null;
    return row.waiting ? <WaitReasonCell waiting={row.waiting} /> : <StartCell range={getStart(row.id)} />;
  };
  const jobs = jobColumns(words, {
    connection,
    connectionParam,
    lineEnd: start,
    isWorkflowTruncated: true,
    columnStyles: queueColumnStyles,
  });
  const columns = [
    column.display({
      id: "position",
      header: t("column.position"),
      meta: queueColumnStyles.position,
      cell: ({ row: { original } }) =>
        original.position ?? <span className="block w-[52px] max-lg:hidden">{rowPicture(original, connection)}</span>,
    }),
    jobs.status,
    jobs.job,
    jobs.workflow,
    jobs.what,
    jobs.outputs,
    column.display({ id: "start", header: t("column.start"), meta: queueColumnStyles.start, cell: ({ row }) => start(row.original) }),
    jobs.submitted,
    column.display({
      id: "waited",
      header: t("column.waited"),
      meta: queueColumnStyles.waited,
      cell: ({ row }) => waitedCell(row.original, words),
    }),
  ];
  if (!isOffered) return columns;
  return [
    selectColumn({ store: selection, t, selectAllLabel: selectAll.label, isEmpty: selectAll.isEmpty, hasCheckbox: isOffered }),
    ...columns,
    column.display({
      id: "act",
      header: t("column.act"),
      meta: queueColumnStyles.act,
      cell: ({ row }) => (isOffered(row.original) ? <CancelOrUndo row={row.original} {...queue} /> : null),
    }),
  ];
}

function CancelOrUndo({
  row,
  busyIds,
  pendingIds,
  cancel,
  undo,
}: Pick<Queue, "busyIds" | "pendingIds" | "cancel" | "undo"> & { row: JobRow }) {
  const t = useTranslations("queue");
  const common = useTranslations("common");
  const [word, labelKey] = row.state === "pending" ? (["cancel", "cancelOne"] as const) : (["stop", "stopOne"] as const);
  const id = shortId(row.id);
  if (pendingIds.has(row.id)) {
    return (
      <Button size="small" aria-label={t("undoOne", { id })} onClick={() => undo(row.id)}>
        {common("undo")}
      </Button>
    );
  }
  return (
    <Button tone="danger" size="small" busy={busyIds.has(row.id)} aria-label={t(labelKey, { id })} onClick={() => cancel(row)}>
      {t(word)}
    </Button>
  );
}

/** Counts until the job starts. */
function waitedCell({ state, createdMs, startedMs }: JobRow, { t, durations }: CellWords) {
  if (createdMs === undefined) return t("nothing");
  if (state === "pending") return <RunningDuration fromMs={createdMs} />;
  return startedMs === undefined ? t("nothing") : durationText(durations, startedMs - createdMs);
}

/** Shown for jobs that can't start before a runner accepts jobs again or completes the jobs ahead. */
function WaitReasonCell({ waiting: { state, runners, ahead = 0 } }: { waiting: JobWaits }) {
  const t = useTranslations("queue.waits");
  const text = t(state, { runners: runners.join(", "), ahead });
  return (
    <span title={state === "queued" ? text : `${t("hint")}. ${text}`} className="block max-w-[240px] truncate text-wait">
      {text}
    </span>
  );
}

/** "in 2–6 min"; empty if unknown. */
function StartCell({ range }: { range: TimeRange | undefined }) {
  const t = useTranslations("queue.start");
  return range ? <span title={t("hint")}>{t("range", toSpan(range))}</span> : null;
}

type ExpectedJob = { expected?: ExpectedRun };
type QueueTimes = { running: readonly (ExpectedJob & { startedMs?: number })[]; pending: readonly ExpectedJob[]; nowMs: number };

/** When each waiting job may start; undefined if unknown or nothing runs. Assumes the current concurrency. */
export function startRanges({ running, pending, nowMs }: QueueTimes): (TimeRange | undefined)[] {
  const remainingTimes = running.map(
    ({ expected, startedMs }) => expected && startedMs !== undefined && estimateTimeLeft(expected, nowMs - startedMs),
  );
  const earliestTimes = remainingTimes.map((range) => (range ? range.fromMs : 0));
  const endTimes = remainingTimes.map((range) => (range ? range.toMs : Infinity));
  return pending.map(({ expected }) => {
    const range = { fromMs: occupy(earliestTimes, expected?.low_ms ?? 0), toMs: occupy(endTimes, expected?.high_ms ?? Infinity) };
    return Number.isFinite(range.toMs) ? range : undefined;
  });
}

/** Occupies the first free slot for `forMs` and returns when it became free. */
function occupy(slots: number[], forMs: number): number {
  const index = slots.indexOf(Math.min(...slots));
  const freeMs = slots[index] ?? Infinity;
  slots[index] = freeMs + forMs;
  return freeMs;
}
