"use client";

import { useTranslations } from "next-intl";
import { JobStatus } from "@/components/frame/job-status";
import { Duration, RunningDuration } from "@/components/ui/duration";
import { ProgressBar } from "@/components/ui/progress-bar";
import { RelativeTime } from "@/components/ui/relative-time";
import { type JobRow } from "./job-row";
import { RowPart } from "./job-row-link";

type CellProps = { row: JobRow; linked: string | undefined };

/** On narrow screens a second line carries what the columns have no room for. */
export function StateCell({ row, linked }: CellProps) {
  return (
    <>
      <JobStatus word={row.word} state={row.state} />
      <span className="second-line">
        {row.workflow ? <span className="min-w-0 truncate">{row.workflow}</span> : null}
        <WhatCell row={row} linked={linked} />
        <span className="ml-auto shrink-0 sm:hidden">
          <SubmittedCell row={row} linked={linked} />
        </span>
      </span>
    </>
  );
}

export function WhatCell({ row, linked }: CellProps) {
  const t = useTranslations("jobs");
  const label = row.label ? (
    <span title={row.label} className="min-w-0 shrink truncate text-ink-2">
      {row.label}
    </span>
  ) : null;
  if (row.error) {
    return (
      <span className="flex min-w-0 items-center gap-2.5">
        {label}
        <RowPart id={row.id} linked={linked} title={row.error} className="relative block min-w-0 flex-1 truncate text-bad">
          {row.error}
        </RowPart>
      </span>
    );
  }
  if (row.progress === undefined) return label;
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      {label}
      <span className="inline-flex shrink-0 items-center gap-1.5 text-ink-3">
        <ProgressBar value={row.progress} label={t("progress")} />
        {t("percent", { value: Math.round(row.progress * 100) })}
      </span>
    </span>
  );
}

export function SubmittedCell({ row, linked }: CellProps) {
  const t = useTranslations("jobs");
  if (row.createdMs === undefined) return t("nothing");
  return (
    <RowPart id={row.id} linked={linked} className="relative">
      <RelativeTime ms={row.createdMs} />
    </RowPart>
  );
}

export function RanCell({ row }: { row: JobRow }) {
  const t = useTranslations("jobs");
  if (row.startedMs === undefined) return t("nothing");
  if (row.endedMs !== undefined) return <Duration fromMs={row.startedMs} toMs={row.endedMs} withTenths="short" />;
  return row.state === "in_progress" ? <RunningDuration fromMs={row.startedMs} /> : t("nothing");
}
