// The cells of a table that describe a load: the median, the high percentile, and calls a second.
import { spread } from "./figures";
import { type Load } from "./load";

export function latencies(runs: readonly Load[]): string[] {
  return [
    spread(
      runs.map(({ p50 }) => p50),
      2,
    ),
    spread(
      runs.map(({ p95 }) => p95),
      2,
    ),
    spread(
      runs.map(({ perSecond }) => perSecond),
      0,
    ),
  ];
}
