"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import { columnsFor } from "@/components/data-table/features";
import { JobStatus } from "@/components/frame/job-status";
import { CopyButton } from "@/components/ui/copy-button";
import { Cut } from "@/components/ui/cut";
import { Duration, RunningDuration } from "@/components/ui/duration";
import { Picture } from "@/components/ui/picture";
import { ProgressBar } from "@/components/ui/progress-bar";
import { RelativeTime } from "@/components/ui/relative-time";
import { thumbnailUrl, withQuery } from "@/lib/browser/urls";
import { jobLooks } from "./job-looks";
import { type JobRow } from "./job-row";

const column = columnsFor<JobRow>();

type Where = {
  /** The connection whose pictures these are. */
  connection: string | undefined;
  /** `?connection=` of the page's own address, which its links keep. */
  linked: string | undefined;
};

export function jobColumns(t: ReturnType<typeof useTranslations<"jobs">>, { connection, linked }: Where) {
  return column.columns([
    column.display({
      id: "preview",
      header: t("column.preview"),
      meta: jobLooks.preview,
      cell: ({ row }) => (
        <Picture
          src={row.original.preview && thumbnailUrl({ connection, file: row.original.preview, edge: 128 })}
          alt=""
          width={52}
          height={36}
          className="h-9 w-[52px]"
        />
      ),
    }),
    column.accessor("word", { header: t("column.status"), meta: jobLooks.status, cell: ({ row }) => <State row={row.original} /> }),
    column.accessor("id", {
      header: t("column.job"),
      meta: jobLooks.job,
      cell: ({ getValue }) => <JobLink id={getValue()} connection={linked} copyLabel={t("copyId")} />,
    }),
    column.accessor("workflow", {
      header: t("column.workflow"),
      meta: jobLooks.workflow,
      cell: ({ getValue }) => <Cut text={getValue() ?? ""} className="relative max-w-[180px]" />,
    }),
    column.display({ id: "what", header: t("column.what"), meta: jobLooks.what, cell: ({ row }) => <What row={row.original} /> }),
    column.accessor("outputs", { header: t("column.outputs"), meta: jobLooks.outputs, cell: ({ getValue }) => getValue() || t("nothing") }),
    column.accessor("createdMs", {
      header: t("column.submitted"),
      meta: jobLooks.submitted,
      cell: ({ getValue }) => {
        const ms = getValue();
        return ms === undefined ? t("nothing") : <RelativeTime ms={ms} className="relative" />;
      },
    }),
    column.display({ id: "ran", header: t("column.ran"), meta: jobLooks.ran, cell: ({ row }) => <Ran row={row.original} /> }),
  ]);
}

/** The link covers its whole row; what else can be pressed there lies above it. */
function JobLink({ id, connection, copyLabel }: { id: string; connection: string | undefined; copyLabel: string }) {
  return (
    <span className="inline-flex items-center gap-0.5">
      <Link href={withQuery(`/jobs/${encodeURIComponent(id)}`, { connection })} prefetch={false} title={id} className="row-link">
        {id.slice(0, 8)}
      </Link>
      <CopyButton text={id} label={copyLabel} />
    </span>
  );
}

/** On narrow screens, where the column for it is not there, the progress stands below the state. */
function State({ row }: { row: JobRow }) {
  const t = useTranslations("jobs");
  return (
    <>
      <JobStatus word={row.word} state={row.state} />
      {row.progress === undefined ? null : <ProgressBar value={row.progress} label={t("progress")} className="mt-1 block lg:hidden" />}
    </>
  );
}

function What({ row }: { row: JobRow }) {
  const t = useTranslations("jobs");
  if (row.error) {
    return (
      <span title={row.error} className="relative block truncate text-bad">
        {row.error}
      </span>
    );
  }
  if (row.progress === undefined) return null;
  return (
    <span className="inline-flex items-center gap-1.5 text-ink-3">
      <ProgressBar value={row.progress} label={t("progress")} />
      {t("percent", { value: Math.round(row.progress * 100) })}
    </span>
  );
}

function Ran({ row }: { row: JobRow }) {
  const t = useTranslations("jobs");
  if (row.startedMs === undefined) return t("nothing");
  if (row.endedMs !== undefined) return <Duration fromMs={row.startedMs} toMs={row.endedMs} withTenths="short" />;
  return row.state === "in_progress" ? <RunningDuration fromMs={row.startedMs} /> : t("nothing");
}
