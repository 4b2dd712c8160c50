"use client";

import { type useTranslations } from "next-intl";
import { columnsFor } from "@/components/data-table/features";
import { SelectAllRows, SelectRow } from "@/components/data-table/select-cells";
import { type SelectionStore } from "@/components/data-table/selection-store";
import { JobStatus } from "@/components/frame/job-status";
import { CopyButton } from "@/components/ui/copy-button";
import { Cut } from "@/components/ui/cut";
import { Duration } from "@/components/ui/duration";
import { Link } from "@/components/ui/link";
import { Picture } from "@/components/ui/picture";
import { RelativeTime } from "@/components/ui/relative-time";
import { thumbnailUrl, withQuery } from "@/lib/browser/urls";
import { historyLooks } from "./history-looks";
import { type HistoryRow } from "./history-row";

const column = columnsFor<HistoryRow>();

type Choices = {
  t: ReturnType<typeof useTranslations<"history">>;
  /** The connection whose pictures these are. */
  connection: string | undefined;
  /** `?connection=` of the page's own address, which its links keep. */
  linked: string | undefined;
  canRemove: boolean;
  count: number;
  selection: SelectionStore;
};

export function historyColumns({ t, connection, linked, canRemove, count, selection }: Choices) {
  const columns = column.columns([
    column.display({
      id: "select",
      meta: historyLooks.select,
      header: () => <SelectAllRows label={t("selectAll", { count })} store={selection} isEmpty={count === 0} />,
      cell: ({ row: { original } }) => (
        <SelectRow id={original.id} label={t("select", { id: original.id.slice(0, 8) })} store={selection} />
      ),
    }),
    column.display({
      id: "preview",
      header: t("column.preview"),
      meta: historyLooks.preview,
      cell: ({ row: { original } }) => (
        <Picture
          src={original.preview && thumbnailUrl({ connection, file: original.preview, edge: 128 })}
          alt=""
          width={52}
          height={36}
          className="h-9 w-[52px]"
        />
      ),
    }),
    column.accessor("word", {
      header: t("column.status"),
      meta: historyLooks.status,
      cell: ({ row: { original } }) => (
        <>
          <JobStatus word={original.word} state={original.state} />
          {/* On narrow screens: what the columns have no room for. */}
          <span className="second-line">
            {original.workflow ? <span className="min-w-0 truncate">{original.workflow}</span> : null}
            <What row={original} />
            <span className="ml-auto shrink-0 sm:hidden">
              <Moment ms={original.createdMs} nothing={t("nothing")} />
            </span>
          </span>
        </>
      ),
    }),
    column.accessor("id", {
      header: t("column.job"),
      meta: historyLooks.job,
      cell: ({ getValue }) => (
        <span className="inline-flex items-center gap-0.5">
          <Link
            href={withQuery(`/jobs/${encodeURIComponent(getValue())}`, { connection: linked })}
            prefetch={false}
            title={getValue()}
            className="row-link"
          >
            {getValue().slice(0, 8)}
          </Link>
          <CopyButton text={getValue()} label={t("copyId")} />
        </span>
      ),
    }),
    column.accessor("workflow", {
      header: t("column.workflow"),
      meta: historyLooks.workflow,
      cell: ({ getValue }) => <Cut text={getValue() ?? ""} className="relative max-w-[180px]" />,
    }),
    column.accessor("error", {
      header: t("column.what"),
      meta: historyLooks.what,
      cell: ({ row: { original } }) => <What row={original} />,
    }),
    column.accessor("outputs", {
      header: t("column.outputs"),
      meta: historyLooks.outputs,
      cell: ({ getValue }) => getValue() || t("nothing"),
    }),
    column.accessor("createdMs", {
      header: t("column.submitted"),
      meta: historyLooks.submitted,
      cell: ({ getValue }) => <Moment ms={getValue()} nothing={t("nothing")} />,
    }),
    column.display({
      id: "ran",
      header: t("column.ran"),
      meta: historyLooks.ran,
      cell: ({ row: { original } }) =>
        original.startedMs === undefined || original.endedMs === undefined ? (
          t("nothing")
        ) : (
          <Duration fromMs={original.startedMs} toMs={original.endedMs} />
        ),
    }),
  ]);
  return canRemove ? columns : columns.filter(({ id }) => id !== "select");
}

/** Which copy of a run it was, and what went wrong. */
function What({ row: { label, error } }: { row: HistoryRow }) {
  const wrong = error ? <ErrorText text={error} /> : null;
  if (!label) return wrong;
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      <span title={label} className="min-w-0 truncate text-ink-2">
        {label}
      </span>
      {wrong}
    </span>
  );
}

function ErrorText({ text }: { text: string }) {
  return (
    <span title={text} className="block min-w-0 truncate text-bad">
      {text}
    </span>
  );
}

function Moment({ ms, nothing }: { ms: number | undefined; nothing: string }) {
  return ms === undefined ? nothing : <RelativeTime ms={ms} className="relative" />;
}
