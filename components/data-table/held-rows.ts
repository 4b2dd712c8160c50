type Named = { id: string };

/** While somebody reads further down, known rows are brought up to date where they stand and new ones wait behind a bar. */
export function holdRows<Row extends Named>(shown: readonly Row[], latest: readonly Row[]): { rows: Row[]; newCount: number } {
  const latestById = new Map(latest.map((row) => [row.id, row]));
  const known = new Set(shown.map(({ id }) => id));
  return {
    rows: shown.map((row) => latestById.get(row.id) ?? row),
    newCount: latest.filter(({ id }) => !known.has(id)).length,
  };
}
