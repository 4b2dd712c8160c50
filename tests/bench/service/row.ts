// A row of the table that `npm run bench:service` prints.
import { percentile } from "../figures";

export type BenchRow = {
  /** The measured operation and its size. */
  name: string;
  /** The goal, in words. */
  target: string;
  /** The median, with its unit. */
  figure: string;
  /** Lowest and highest of the runs, or other percentiles; empty if there was one run. */
  spread: string;
  meets: boolean;
};

export function median(runs: readonly number[]): number {
  return percentile(runs, 0.5);
}

/** The median and the extremes of several runs, as the cells of a row. */
export function formatRuns(runs: readonly number[], unit: string, digits: number): Pick<BenchRow, "figure" | "spread"> {
  const format = (value: number) => value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return { figure: `${format(median(runs))} ${unit}`, spread: `${format(Math.min(...runs))} to ${format(Math.max(...runs))}` };
}
