import { type JobRow } from "./job-row";

/** While somebody reads further down, known rows are brought up to date where they stand and new ones wait behind a bar. */
export function holdRows(shown: readonly JobRow[], latest: readonly JobRow[]): { rows: JobRow[]; newCount: number } {
  const latestById = new Map(latest.map((row) => [row.id, row]));
  const known = new Set(shown.map((row) => row.id));
  return {
    rows: shown.map((row) => latestById.get(row.id) ?? row),
    newCount: latest.filter((row) => !known.has(row.id)).length,
  };
}
