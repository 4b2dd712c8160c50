// What browsers show of expected durations. Free of zod: they load it with the first page.

import { type JobListItem } from "../schemas/job";

/** `late_ms`: a run that takes longer than this takes longer than usual. */
export type ExpectedRun = NonNullable<JobListItem["expected_run"]>;

const MAX_SHARE = 0.95;

/** From 0 to 1; at most 95 % while it runs. */
export function expectedShare({ median_ms }: ExpectedRun, ranMs: number): number {
  return Math.min(MAX_SHARE, Math.max(0, ranMs) / Math.max(1, median_ms));
}

/** Counted from now. */
export type TimeRange = { fromMs: number; toMs: number };

/** Undefined for a run that takes longer than usual: its end cannot be estimated. */
export function timeLeft({ low_ms, high_ms, late_ms }: ExpectedRun, ranMs: number): TimeRange | undefined {
  if (ranMs > late_ms) return undefined;
  return { fromMs: Math.max(0, low_ms - ranMs), toMs: (ranMs < high_ms ? high_ms : late_ms) - ranMs };
}

type Span = { from: number; to: number; unit: "seconds" | "minutes" | "hours" };

const units = [
  { unit: "seconds", unitMs: 1_000, step: 10, belowMs: 90_000 },
  { unit: "minutes", unitMs: 60_000, step: 1, belowMs: 7_200_000 },
  { unit: "hours", unitMs: 3_600_000, step: 1, belowMs: Infinity },
] as const;

/** In one unit, rounded outwards. */
export function toSpan({ fromMs, toMs }: TimeRange): Span {
  const { unit, unitMs, step } = units.find(({ belowMs }) => toMs <= belowMs) ?? units[2];
  const to = Math.max(1, Math.ceil(toMs / unitMs / step)) * step;
  return { from: Math.min(Math.floor(fromMs / unitMs / step) * step, to - step), to, unit };
}
