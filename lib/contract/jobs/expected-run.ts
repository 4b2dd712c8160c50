// Estimates run durations in the browser. Must not import zod: this module is in the initial bundle.

import { type JobListItem } from "../schemas/job";

/** `late_ms`: a run that takes longer than this is unusually long. */
export type ExpectedRun = NonNullable<JobListItem["expected_run"]>;

const MAX_PROGRESS = 0.95;

/** Returns a fraction, capped at 0.95 because the end is only estimated. */
export function getExpectedProgress({ median_ms }: ExpectedRun, elapsedMs: number): number {
  return Math.min(MAX_PROGRESS, Math.max(0, elapsedMs) / Math.max(1, median_ms));
}

/** Relative to now. */
export type TimeRange = { fromMs: number; toMs: number };

/** Undefined for an unusually long run, whose end cannot be estimated. */
export function estimateTimeLeft({ low_ms, high_ms, late_ms }: ExpectedRun, elapsedMs: number): TimeRange | undefined {
  if (elapsedMs > late_ms) return undefined;
  return { fromMs: Math.max(0, low_ms - elapsedMs), toMs: (elapsedMs < high_ms ? high_ms : late_ms) - elapsedMs };
}

type Span = { from: number; to: number; unit: "seconds" | "minutes" | "hours" };

const units = [
  { unit: "seconds", unitMs: 1_000, step: 10, belowMs: 90_000 },
  { unit: "minutes", unitMs: 60_000, step: 1, belowMs: 7_200_000 },
  { unit: "hours", unitMs: 3_600_000, step: 1, belowMs: Infinity },
] as const;

/** Uses a single unit, and rounds outwards. */
export function toSpan({ fromMs, toMs }: TimeRange): Span {
  const { unit, unitMs, step } = units.find(({ belowMs }) => toMs <= belowMs) ?? units[2];
  const to = Math.max(1, Math.ceil(toMs / unitMs / step)) * step;
  return { from: Math.min(Math.floor(fromMs / unitMs / step) * step, to - step), to, unit };
}
