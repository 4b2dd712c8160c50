"use client";

import { type useTranslations } from "next-intl";
import { type ReactNode, useSyncExternalStore } from "react";
import { statusBadge } from "@/components/frame/job-status";
import { durationText, RunningDuration } from "@/components/ui/duration";
import { ProgressBar } from "@/components/ui/progress-bar";
import { AgoTime, type AgoWords } from "@/components/ui/relative-time";
import { type JobRow } from "../job-row";
import { rowPart } from "./row-link";

/** Found once for the whole table: in each cell they would be a good part of what a row costs. */
export type CellWords = {
  t: ReturnType<typeof useTranslations<"jobs">>;
  states: ReturnType<typeof useTranslations<"frame.states">>;
  durations: ReturnType<typeof useTranslations<"common.duration">>;
  ago: AgoWords;
};
type Cell = { row: JobRow; words: CellWords; hrefOf: (id: string) => string };

/** On narrow screens a second line carries what the columns have no room for. */
export function stateCell(cell: Cell): ReactNode {
  const { row, words } = cell;
  return (
    <>
      {badgeOf(words, row)}
      <SecondLine {...cell} />
    </>
  );
}

/** A list knows few states: each badge is made once for its words. */
const badges = new WeakMap<CellWords, Map<string, ReactNode>>();

function badgeOf(words: CellWords, { word, state }: JobRow): ReactNode {
  const known = badges.get(words) ?? new Map<string, ReactNode>();
  badges.set(words, known);
  const badge = known.get(word) ?? statusBadge(words.states, word, state);
  known.set(word, badge);
  return badge;
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
  const { id, error, progress, label } = row;
  const now = error ? (
    rowPart(hrefOf(id), error, "block min-w-0 truncate text-bad", error)
  ) : progress === undefined ? null : (
    <span className="inline-flex shrink-0 items-center gap-1.5 text-ink-3">
      <ProgressBar value={progress} label={t("progress")} />
      {t("percent", { value: Math.round(progress * 100) })}
    </span>
  );
  if (!label) return now;
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      <span title={label} className="min-w-0 truncate text-ink-2">
        {label}
      </span>
      {now}
    </span>
  );
}

export function submittedCell({ row: { createdMs }, words: { t, ago } }: Cell): ReactNode {
  return createdMs === undefined ? t("nothing") : <AgoTime ms={createdMs} words={ago} />;
}

export function ranCell({ row: { state, startedMs, endedMs }, words: { t, durations } }: Cell): ReactNode {
  if (startedMs === undefined) return t("nothing");
  if (endedMs !== undefined) return durationText(durations, endedMs - startedMs);
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
