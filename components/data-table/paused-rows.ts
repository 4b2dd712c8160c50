type Named = { id: string };

/**
 * Updates the shown rows in place while new rows wait. Rows that new ones pushed off the page are kept. Rows that left the list are removed,
 * and rows from the next page fill the gap. `isGrown`: the list is longer than when the rows were first shown.
 */
export function pauseRows<Row extends Named>(
  shown: readonly Row[],
  latest: readonly Row[],
  isGrown = true,
): { rows: Row[]; newCount: number } {
  const latestById = new Map(latest.map((row) => [row.id, row]));
  const known = new Set(shown.map(({ id }) => id));
  const lastKnown = latest.findLastIndex(({ id }) => known.has(id));
  if (lastKnown < 0 && !isGrown) return { rows: [...latest], newCount: 0 };
  const followers = lastKnown < 0 ? [] : latest.slice(lastKnown + 1);
  const newCount = latest.length - followers.length - shown.filter(({ id }) => latestById.has(id)).length;
  const firstPushedOff = shown.findLastIndex(({ id }) => latestById.has(id)) + 1;
  const canPush = followers.length === 0 && newCount > 0 && latest.length >= shown.length;
  const retainedRows = shown.flatMap((row, at) => latestById.get(row.id) ?? (canPush && at >= firstPushedOff ? row : []));
  return { rows: [...retainedRows, ...followers], newCount };
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
