type Named = { id: string };

/** While a person reads further down, known rows are updated in place and new ones wait behind a bar. */
export function pauseRows<Row extends Named>(shown: readonly Row[], latest: readonly Row[]): { rows: Row[]; newCount: number } {
  const latestById = new Map(latest.map((row) => [row.id, row]));
  const known = new Set(shown.map(({ id }) => id));
  return {
    rows: shown.map((row) => latestById.get(row.id) ?? row),
    newCount: latest.filter(({ id }) => !known.has(id)).length,
  };
}

/** An unchanged row is the same object as before, and an unchanged list the same list, so that nothing renders again. */
export function shareRows<Row extends Named>(before: Row[], after: Row[]): Row[] {
  const known = new Map(before.map((row) => [row.id, row]));
  const shared = after.map((row) => {
    const last = known.get(row.id);
    return last && (last === row || hasSameFields(last, row)) ? last : row;
  });
  return shared.length === before.length && shared.every((row, at) => row === before[at]) ? before : shared;
}

function hasSameFields(a: object, b: object): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => sameValue(Reflect.get(a, name), Reflect.get(b, name)));
}

function sameValue(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && a !== null && b !== null && hasSameFields(a, b));
}
