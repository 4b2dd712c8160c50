"use client";

import { useTranslations } from "next-intl";
import { columnsFor } from "@/components/data-table/features";
import { SelectAllRows, SelectRow } from "@/components/data-table/select-cells";
import { type SelectionStore } from "@/components/data-table/selection-store";
import { JobStatus } from "@/components/frame/job-status";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { Cut } from "@/components/ui/cut";
import { Duration, RunningDuration } from "@/components/ui/duration";
import { Link } from "@/components/ui/link";
import { ProgressBar } from "@/components/ui/progress-bar";
import { RelativeTime } from "@/components/ui/relative-time";
import { withQuery } from "@/lib/browser/urls";
import { queueLooks } from "./queue-looks";
import { type QueueRow } from "./queue-rows";
import { StartCell } from "./start-cell";
import { type StartRange } from "./start-range";

const column = columnsFor<QueueRow>();

type Choices = {
  t: ReturnType<typeof useTranslations<"queue">>;
  /** `?connection=` of the page's own address, which its links keep. */
  linked: string | undefined;
  canCancel: boolean;
  /** What runs can be stopped too. */
  canStop: boolean;
  pendingCount: number;
  selection: SelectionStore;
  busyIds: ReadonlySet<string>;
  /** Cancelled, unless it is taken back. */
  heldIds: ReadonlySet<string>;
  /** When those that wait may start. */
  startOf: (id: string) => StartRange | undefined;
  /** This job alone. */
  undo: (id: string) => void;
  cancel: (ids: readonly string[]) => void;
};

export function queueColumns({ t, linked, canCancel, canStop, pendingCount, selection, busyIds, heldIds, startOf, undo, cancel }: Choices) {
  const progressOf = ({ progress }: QueueRow) => (
    <Progress value={progress} label={t("column.progress")} words={(value) => t("percent", { value })} />
  );
  const isOffered = ({ state }: QueueRow) => state === "pending" || (canStop && state === "in_progress");
  const columns = column.columns([
    column.display({
      id: "select",
      meta: queueLooks.select,
      header: () => <SelectAllRows label={t("selectAll", { count: pendingCount })} store={selection} isEmpty={pendingCount === 0} />,
      cell: ({ row: { original } }) =>
        isOffered(original) ? <SelectRow id={original.id} label={t("select", { id: original.id.slice(0, 8) })} store={selection} /> : null,
    }),
    column.accessor("position", {
      header: t("column.position"),
      meta: queueLooks.position,
      cell: ({ getValue }) => getValue() ?? t("nothing"),
    }),
    column.accessor("word", {
      header: t("column.status"),
      meta: queueLooks.status,
      cell: ({ getValue, row: { original } }) => (
        <>
          <JobStatus word={getValue()} />
          {/* On narrow screens: what the columns have no room for. */}
          <span className="second-line">
            <span className="min-w-0 truncate">{nameOf(original)}</span>
            <span className="ml-auto shrink-0">
              {original.state === "pending" ? <StartCell range={startOf(original.id)} /> : progressOf(original)}
            </span>
          </span>
        </>
      ),
    }),
    column.accessor("id", {
      header: t("column.job"),
      meta: queueLooks.job,
      cell: ({ getValue }) => (
        <span className="inline-flex items-center gap-0.5">
          <Link
            href={withQuery(`/jobs/${encodeURIComponent(getValue())}`, { connection: linked })}
            prefetch={false}
            title={getValue()}
            className="font-mono text-sm hover:underline"
          >
            {getValue().slice(0, 8)}
          </Link>
          <CopyButton text={getValue()} label={t("copyId")} className="max-md:hidden" />
        </span>
      ),
    }),
    column.accessor("workflow", {
      header: t("column.workflow"),
      meta: queueLooks.workflow,
      cell: ({ row: { original } }) => <Cut text={nameOf(original)} />,
    }),
    column.accessor("progress", {
      header: t("column.progress"),
      meta: queueLooks.progress,
      cell: ({ row: { original } }) => progressOf(original),
    }),
    column.display({
      id: "start",
      header: t("column.start"),
      meta: queueLooks.start,
      cell: ({ row: { original } }) => (original.state === "pending" ? <StartCell range={startOf(original.id)} /> : null),
    }),
    column.accessor("createdMs", {
      header: t("column.submitted"),
      meta: queueLooks.submitted,
      cell: ({ getValue }) => <Since ms={getValue()} nothing={t("nothing")} />,
    }),
    column.display({
      id: "waited",
      header: t("column.waited"),
      meta: queueLooks.waited,
      cell: ({ row: { original } }) => <Waited row={original} nothing={t("nothing")} />,
    }),
    column.display({
      id: "act",
      header: t("column.act"),
      meta: queueLooks.act,
      cell: ({ row: { original } }) =>
        isOffered(original) ? (
          <CancelOrUndo
            row={original}
            isBusy={busyIds.has(original.id)}
            isHeld={heldIds.has(original.id)}
            onCancel={() => cancel([original.id])}
            onUndo={() => undo(original.id)}
          />
        ) : null,
    }),
  ]);
  return canCancel ? columns : columns.filter(({ id }) => id !== "select" && id !== "act");
}

function nameOf({ workflow = "", label }: QueueRow): string {
  return label ? `${workflow} · ${label}` : workflow;
}

type CancelOrUndoProps = { row: QueueRow; isBusy: boolean; isHeld: boolean; onCancel: () => void; onUndo: () => void };

function CancelOrUndo({ row: { id, state }, isBusy, isHeld, onCancel, onUndo }: CancelOrUndoProps) {
  const t = useTranslations("queue");
  const common = useTranslations("common");
  const [word, named] = state === "pending" ? (["cancel", "cancelOne"] as const) : (["stop", "stopOne"] as const);
  if (isHeld) {
    return (
      <Button size="small" aria-label={t("undoOne", { id: id.slice(0, 8) })} onClick={onUndo}>
        {common("undo")}
      </Button>
    );
  }
  return (
    <Button tone="danger" size="small" busy={isBusy} aria-label={t(named, { id: id.slice(0, 8) })} onClick={onCancel}>
      {t(word)}
    </Button>
  );
}

function Progress({ value, label, words }: { value: number | undefined; label: string; words: (percent: number) => string }) {
  if (value === undefined) return null;
  return (
    <span className="inline-flex items-center gap-1.5 text-ink-3">
      <ProgressBar value={value} label={label} />
      {words(Math.round(value * 100))}
    </span>
  );
}

/** It counts on until the job starts, and stands from then on. */
function Waited({ row: { state, createdMs, startedMs }, nothing }: { row: QueueRow; nothing: string }) {
  if (createdMs === undefined) return nothing;
  if (state === "pending") return <RunningDuration fromMs={createdMs} />;
  return startedMs === undefined ? nothing : <Duration fromMs={createdMs} toMs={startedMs} />;
}

function Since({ ms, nothing }: { ms: number | undefined; nothing: string }) {
  return ms === undefined ? nothing : <RelativeTime ms={ms} />;
}
