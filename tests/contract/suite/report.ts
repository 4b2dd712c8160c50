// The report of a run: one line for each operation, core operations first, and a summary line.
import { conforms, type Row } from "./run-suite";

export function toText(baseUrl: string, rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ operation }) => operation.length));
  const line = ({ outcome, operation, notes }: Row) => `  ${outcome.padEnd(9)}  ${operation.padEnd(width)}  ${notes.join("; ")}`.trimEnd();
  const section = (tier: Row["tier"], title: string) => [title, ...rows.filter((row) => row.tier === tier).map(line), ""];
  const verdict = conforms(rows) ? "Every core operation that was tried conforms." : "Not every core operation conforms.";
  return [
    `Conformance of ${baseUrl}`,
    "",
    ...section("core", "Core operations"),
    ...section("extension", "Extensions (absent ones are no fault)"),
    `${counts(rows)}. ${verdict}`,
  ].join("\n");
}

export function toJson(baseUrl: string, rows: readonly Row[]): string {
  return JSON.stringify({ base_url: baseUrl, conforms: conforms(rows), operations: rows }, undefined, 2);
}

function counts(rows: readonly Row[]): string {
  const outcomes = ["ok", "differs", "absent", "not tried"] as const;
  return outcomes.map((outcome) => `${rows.filter((row) => row.outcome === outcome).length} ${outcome}`).join(", ");
}
