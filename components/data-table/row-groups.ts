/** Rows are laid out and painted in groups: a new row causes work for its own group only. */
export const GROUP = 10;

/** `key` stays with its rows: new rows above get groups of their own. `first`: its index in the list; `offset`: its first row within it. */
export type RowGroup<Row> = { key: number; first: number; offset: number; rows: readonly Row[] };
/** `base`: the first row's position on an endless line, on which rows keep their positions. */
export type Grouped<Row> = { rows: readonly Row[]; base: number; groups: readonly RowGroup<Row>[] };

const noGroups: Grouped<never> = { rows: [], base: 0, groups: [] };

/** Unchanged rows give the same groups, so that an answer that changes one row of a thousand renders one group. */
export function groupRows<Row>(rows: readonly Row[], idOf: (row: Row) => string, before: Grouped<Row> = noGroups): Grouped<Row> {
  const base = baseOf(rows, idOf, before);
  const known = new Map(before.groups.map((group) => [group.key, group]));
  const groups: RowGroup<Row>[] = [];
  for (let from = 0; from < rows.length;) {
    const key = Math.floor((base + from) / GROUP);
    const to = Math.min(rows.length, (key + 1) * GROUP - base);
    const last = known.get(key);
    const mine = rows.slice(from, to);
    const isSame = last?.rows.length === mine.length && last.rows.every((row, at) => row === mine[at]);
    groups.push(isSame && last.first === from ? last : { key, first: from, offset: base + from - key * GROUP, rows: mine });
    from = to;
  }
  return { rows, base, groups };
}

function baseOf<Row>(rows: readonly Row[], idOf: (row: Row) => string, before: Grouped<Row>): number {
  const places = new Map(before.rows.map((row, at) => [idOf(row), at]));
  for (const [at, row] of rows.entries()) {
    const was = places.get(idOf(row));
    if (was !== undefined) return before.base + was - at;
  }
  return 0;
}
