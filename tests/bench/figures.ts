// The parts of a figure: the median and the extremes of several runs, and the machine they ran on.
import { cpus, release, totalmem, type } from "node:os";

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** "4.1 (3.9 to 4.6)": the median of the runs, then the lowest and the highest. */
export function spread(runs: readonly number[], digits = 1): string {
  const show = (value: number) => value.toFixed(digits);
  return `${show(percentile(runs, 0.5))} (${show(Math.min(...runs))} to ${show(Math.max(...runs))})`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export function machine(): string {
  const processors = cpus();
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  return `${processors[0]?.model.trim() ?? "unknown processor"}, ${processors.length} cores, ${memory} of memory, ${type()} ${release()}, Node ${process.versions.node}`;
}
