// Formats the runs of a load as table cells: p50, p95 and requests per second.
import { formatSpread } from "./figures";
import { type Load } from "./load";

export function formatLoadRuns(runs: readonly Load[]): string[] {
  return [
    formatSpread(
      runs.map(({ p50 }) => p50),
      2,
    ),
    formatSpread(
      runs.map(({ p95 }) => p95),
      2,
    ),
    formatSpread(
      runs.map(({ perSecond }) => perSecond),
      0,
    ),
  ];
}
