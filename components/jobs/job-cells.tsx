"use client";

import { type useTranslations } from "next-intl";
import { type ReactNode, useSyncExternalStore } from "react";
import { statusBadge } from "@/components/frame/job-status";
import { durationText, RunningDuration } from "@/components/ui/duration";
import { ProgressBar } from "@/components/ui/progress-bar";
import { RelativeTime } from "@/components/ui/relative-time";
import { type JobRow } from "./job-row";
import { rowPart } from "./job-row-link";

/** Found once for the whole table: in each cell they would be a good part of what a row costs. */
export type CellWords = {
  t: ReturnType<typeof useTranslations<"jobs">>;
  states: ReturnType<typeof useTranslations<"frame.states">>;
  durations: ReturnType<typeof useTranslations<"common.duration">>;
};
type Cell = { row: JobRow; words: CellWords; hrefOf: (id: string) => string };

/** On narrow screens a second line carries what the columns have no room for. */
export function stateCell(cell: Cell): ReactNode {
  const { row, words } = cell;
  return (
    <>
      {statusBadge(words.states, row.word, row.state)}
      <SecondLine {...cell} />
    </>
  );
}

function SecondLine(cell: Cell): ReactNode {
  const isWide = useSyncExternalStore(subscribeWidth, readWidth, no);
  if (isWide) return null;
  const { workflow } = cell.row;
  return (
    <span className="second-line">
      {workflow ? <span className="min-w-0 truncate">{workflow}</span> : null}
      {whatCell(cell)}
      <span className="ml-auto shrink-0 sm:hidden">{submittedCell(cell)}</span>
    </span>
  );
}

export function whatCell({ row, words: { t }, hrefOf }: Cell): ReactNode {
  const { id, error, progress } = row;
  if (error) return rowPart(hrefOf(id), error, "relative block min-w-0 truncate text-bad", error);
  if (progress === undefined) return null;
  return (
    <span className="inline-flex shrink-0 items-center gap-1.5 text-ink-3">
      <ProgressBar value={progress} label={t("progress")} />
      {t("percent", { value: Math.round(progress * 100) })}
    </span>
  );
}

export function submittedCell({ row: { id, createdMs }, words: { t }, hrefOf }: Cell): ReactNode {
  if (createdMs === undefined) return t("nothing");
  return rowPart(hrefOf(id), <RelativeTime ms={createdMs} />, "relative");
}

export function ranCell({ row: { state, startedMs, endedMs }, words: { t, durations } }: Cell): ReactNode {
  if (startedMs === undefined) return t("nothing");
  if (endedMs !== undefined) return durationText(durations, endedMs - startedMs, "short");
  return state === "in_progress" ? <RunningDuration fromMs={startedMs} /> : t("nothing");
}

/** As the stylesheet's `two-lines` has it. */
const WIDE = "(width >= 64rem)";
let width: MediaQueryList | undefined;
const widthHere = () => (width ??= window.matchMedia(WIDE));
const readWidth = () => widthHere().matches;
const no = () => false;

function subscribeWidth(listener: () => void): () => void {
  widthHere().addEventListener("change", listener);
  return () => widthHere().removeEventListener("change", listener);
}
