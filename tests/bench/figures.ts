// Formats the figures of several runs and describes the machine they ran on.
import { cpus, release, totalmem, type } from "node:os";

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Formats the median, the lowest and the highest of the runs, such as "4.1 (3.9 to 4.6)". */
export function formatSpread(runs: readonly number[], digits = 1): string {
  const format = (value: number) => value.toFixed(digits);
  return `${format(percentile(runs, 0.5))} (${format(Math.min(...runs))} to ${format(Math.max(...runs))})`;
}

export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const formatRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [formatRow(head), formatRow(head.map(() => "---")), ...rows.map(formatRow)].join("\n");
}

export function describeMachine(): string {
  const processors = cpus();
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  return `${processors[0]?.model.trim() ?? "unknown processor"}, ${processors.length} cores, ${memory} of memory, ${type()} ${release()}, Node ${process.versions.node}`;
}
