import { useTranslations } from "next-intl";
import { type SelectionStore } from "@/components/data-table/selection/selection";
import { Button } from "@/components/ui/controls/button";
import { durationText, RunningDuration } from "@/components/ui/time/relative-time";
import { type JobWaits } from "@/lib/contract/runners/runners";
import { type CellWords } from "../columns/cells";
import { column, jobColumns, selectColumn } from "../columns/columns";
import { type JobRow } from "../job-row";
import { queueLooks } from "../list/list-skeleton";
import { roundingOf, type StartRange } from "./use-starts";

type Queue = {
  words: CellWords;
  connection: string | undefined;
  /** `?connection=` of the page's own address, which its links keep. */
  linked: string | undefined;
  selection: SelectionStore;
  /** The label of the header's checkbox, and whether there is nothing to select. */
  selectAll: { label: string; isEmpty: boolean };
  /** For members who may cancel: whether the job can be cancelled or stopped. */
  isOffered: ((row: JobRow) => boolean) | undefined;
  busyIds: ReadonlySet<string>;
  /** Jobs that will be cancelled unless it is undone. */
  pendingIds: ReadonlySet<string>;
  /** When a waiting job may start. */
  startOf: (id: string) => StartRange | undefined;
  cancel: (row: JobRow) => void;
  /** Undoes the cancel of this job alone. */
  undo: (id: string) => void;
};

export function queueColumns(queue: Queue) {
  const { words, connection, linked, selection, selectAll, isOffered, startOf } = queue;
  const { t } = words;
  const start = (row: JobRow) => {
    if (row.state !== "pending") return null;
    return row.waits ? <WaitsCell waits={row.waits} /> : <StartCell range={startOf(row.id)} />;
  };
  const jobs = jobColumns(words, { connection, linked, lineEnd: start, isWorkflowCut: true, looks: queueLooks });
  const columns = [
    column.display({
      id: "position",
      header: t("column.position"),
      meta: queueLooks.position,
      cell: ({ row }) => row.original.position ?? t("nothing"),
    }),
    jobs.status,
    jobs.job,
    jobs.workflow,
    jobs.what,
    column.display({ id: "start", header: t("column.start"), meta: queueLooks.start, cell: ({ row }) => start(row.original) }),
    jobs.submitted,
    column.display({
      id: "waited",
      header: t("column.waited"),
      meta: queueLooks.waited,
      cell: ({ row }) => waitedCell(row.original, words),
    }),
  ];
  if (!isOffered) return columns;
  return [
    selectColumn({ store: selection, t, all: selectAll.label, isEmpty: selectAll.isEmpty, has: isOffered }),
    ...columns,
    column.display({
      id: "act",
      header: t("column.act"),
      meta: queueLooks.act,
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
  const [word, named] = row.state === "pending" ? (["cancel", "cancelOne"] as const) : (["stop", "stopOne"] as const);
  const id = row.id.slice(0, 8);
  if (pendingIds.has(row.id)) {
    return (
      <Button size="small" aria-label={t("undoOne", { id })} onClick={() => undo(row.id)}>
        {common("undo")}
      </Button>
    );
  }
  return (
    <Button tone="danger" size="small" busy={busyIds.has(row.id)} aria-label={t(named, { id })} onClick={() => cancel(row)}>
      {t(word)}
    </Button>
  );
}

/** Counts until the job starts, then stays. */
function waitedCell({ state, createdMs, startedMs }: JobRow, { t, durations }: CellWords) {
  if (createdMs === undefined) return t("nothing");
  if (state === "pending") return <RunningDuration fromMs={createdMs} />;
  return startedMs === undefined ? t("nothing") : durationText(durations, startedMs - createdMs);
}

/** The job cannot start before a runner accepts jobs again or completes the jobs ahead of it. */
function WaitsCell({ waits: { state, runners, ahead = 0 } }: { waits: JobWaits }) {
  const t = useTranslations("queue.waits");
  const text = t(state, { runners: runners.join(", "), ahead });
  return (
    <span title={state === "queued" ? text : `${t("hint")}. ${text}`} className="block max-w-[240px] truncate text-wait">
      {text}
    </span>
  );
}

/** "in 2 min to 6 min": a range estimated from past runs, or that nothing is known. */
export function StartCell({ range }: { range: StartRange | undefined }) {
  const t = useTranslations("queue.start");
  const step = roundingOf(range?.fromMs ?? 0);
  const fromMs = Math.floor((range?.fromMs ?? 0) / step) * step;
  // "At once or later" would tell nothing.
  if (!range || (fromMs === 0 && range.toMs === undefined)) return <span title={t("unknownHint")}>{t("unknown")}</span>;
  const from = t(...spanOf(fromMs));
  if (range.toMs === undefined) return <span title={t("hint")}>{t("after", { from })}</span>;
  const stepTo = roundingOf(range.toMs);
  const to = t(...spanOf(Math.max(Math.ceil(range.toMs / stepTo) * stepTo, fromMs + step)));
  return <span title={t("hint")}>{fromMs === 0 ? t("within", { to }) : t("between", { from, to })}</span>;
}

function spanOf(ms: number): ["seconds" | "minutes" | "hours", { count: number }] {
  if (ms < 60_000) return ["seconds", { count: Math.round(ms / 1_000) }];
  if (ms < 7_200_000) return ["minutes", { count: Math.round(ms / 60_000) }];
  return ["hours", { count: Math.round(ms / 3_600_000) }];
}
