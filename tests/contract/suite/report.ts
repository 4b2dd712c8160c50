// Formats the report of a run: one line per operation, core operations first, and a summary.
import { isConforming, type Row } from "./run-suite";

export function formatText(baseUrl: string, rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ operation }) => operation.length));
  const formatRow = ({ outcome, operation, notes }: Row) =>
    `  ${outcome.padEnd(9)}  ${operation.padEnd(width)}  ${notes.join("; ")}`.trimEnd();
  const formatSection = (tier: Row["tier"], title: string) => [title, ...rows.filter((row) => row.tier === tier).map(formatRow), ""];
  const verdict = isConforming(rows) ? "Every core operation that was tried conforms." : "Not every core operation conforms.";
  return [
    `Conformance of ${baseUrl}`,
    "",
    ...formatSection("core", "Core operations"),
    ...formatSection("extension", "Extensions (may be absent)"),
    `${formatCounts(rows)}. ${verdict}`,
  ].join("\n");
}

export function formatJson(baseUrl: string, rows: readonly Row[]): string {
  return JSON.stringify({ base_url: baseUrl, conforms: isConforming(rows), operations: rows }, undefined, 2);
}

function formatCounts(rows: readonly Row[]): string {
  const outcomes = ["ok", "differs", "absent", "not tried"] as const;
  return outcomes.map((outcome) => `${rows.filter((row) => row.outcome === outcome).length} ${outcome}`).join(", ");
}
