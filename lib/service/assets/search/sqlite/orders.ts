// The assets that a user sees, own and public, in each order of the list: one number per row. A page of any filter at any depth is a walk
// along an order, one or two nanoseconds per step.
// Guarantees: ties are broken by id, as in the database; an order is up to date when it is handed out. A missing order, or one with too
// many changes, is read in the background. Bounded: the orders unused for longest go first.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Reader } from "@/lib/service/store/database";
import { assetChanges } from "@/lib/service/store/asset-triggers";
import { plainStatement } from "@/lib/service/store/statement";
import { PUBLIC_OWNER } from "@/lib/service/users/user";
import { type AssetSort, orders } from "../asset-search";
import { type Bits, hasBit, newBits, withBit } from "./bits";
import { type Changes } from "./changes";
import { longer } from "./packing";

/** `seqs` may be longer than `length`; no number in it is higher than `highest`. */
export type Order = { seqs: Uint32Array<ArrayBuffer>; length: number; highest: number; position: number };

/** Takes about a millisecond to read. */
const AT_ONCE = 2048;
/** Each asset that goes into the middle takes some twenty comparisons and moves everything behind it. */
const MOST_PLACED = 250;
const MOST_CHANGED = 4000;

/** Reads an order with all assets that the user sees, piece by piece; the caller lets others work between the pieces. */
export async function* readOrder(reader: Reader, changes: Changes, userId: number, sort: AssetSort): AsyncGenerator<void, Order> {
  const order: Order = { seqs: new Uint32Array(AT_ONCE), length: 0, highest: 0, position: changes.end() };
  const [first, next] = [pieceOf(sort, ""), pieceOf(sort, `AND (${orders[sort].column}, id) > (?, ?)`)];
  for (let last: (string | number)[] = []; ; yield) {
    const values = [userId, ...last, PUBLIC_OWNER, ...last];
    const piece = await reader.row(
      plainStatement<{ seqs: string; place: string | number | null; id: string | null }>(last.length === 0 ? first : next, values),
    );
    append(order, JSON.parse(piece?.seqs ?? "[]")); // json_group_array of a column of whole numbers
    if (!piece || piece.place === null || piece.id === null) return order;
    last = [piece.place, piece.id];
  }
}

/** The numbers of a piece and where the next one begins, in one statement: the last asset of a piece may move at any moment. */
function pieceOf(sort: AssetSort, after: string): string {
  const { column, index } = orders[sort];
  const rows = `SELECT seq, ${column} AS place, id FROM assets INDEXED BY ${index} WHERE owner_id = ? ${after}`;
  return `WITH piece AS MATERIALIZED (${rows} UNION ALL ${rows} ORDER BY place, id LIMIT ${AT_ONCE})
    SELECT (SELECT json_group_array(seq) FROM piece) AS seqs, place, id
    FROM (SELECT 1) LEFT JOIN (SELECT place, id FROM piece LIMIT 1 OFFSET ${AT_ONCE - 1})`;
}

/**
 * "current": the order includes all changes. "behind": something changed during the read, and the order must not be used now. "lost": the
 * order has to be read anew.
 */
export async function catchUp(
  reader: Reader,
  changes: Changes,
  userId: number,
  sort: AssetSort,
  order: Order,
): Promise<"current" | "behind" | "lost"> {
  const position = changes.end();
  const changed = changes.since(order.position, assetChanges[sort]);
  if (changed === undefined || changed.length > MOST_CHANGED) return "lost";
  if (changed.length > 0) {
    // If this does not finish, all of them count as changed the next time too.
    takeOut(order, changed);
    const seqs = await present(reader, userId, sort, changed);
    const places = await placesOf(reader, sort, order, seqs);
    // Assets that were compared may have moved meanwhile.
    if (changes.end() !== position) return "behind";
    if (places === "many") return "lost";
    if (places === "gone") throw new Error("an order of assets holds one that is gone");
    putIn(order, seqs, places);
  }
  order.position = position;
  return "current";
}

function takeOut(order: Order, changed: readonly number[]): void {
  if (changed.every((seq) => seq > order.highest)) return;
  let gone = newBits(order.highest);
  for (const seq of changed) if (seq <= order.highest) gone = withBit(gone, seq, true);
  let kept = 0;
  for (let at = 0; at < order.length; at += 1) {
    const seq = order.seqs[at] ?? 0;
    if (hasBit(gone, seq)) continue;
    order.seqs[kept] = seq;
    kept += 1;
  }
  order.length = kept;
}

/** The assets among `changed` that exist and that the user sees, in order. */
async function present(reader: Reader, userId: number, sort: AssetSort, changed: readonly number[]): Promise<number[]> {
  const text = `SELECT seq FROM assets WHERE seq IN (SELECT value FROM json_each(?)) AND owner_id IN (?, ?) ORDER BY ${orders[sort].column}, id`;
  const rows = await reader.rows(plainStatement<{ seq: number }>(text, [writeExactJson(changed), userId, PUBLIC_OWNER]));
  return rows.map((row) => row.seq);
}

/** For each of `seqs`, none of which is in the order yet, how many of the order come before it. A binary search for all of them at once. */
async function placesOf(
  reader: Reader,
  sort: AssetSort,
  order: Order,
  seqs: readonly number[],
): Promise<readonly number[] | "many" | "gone"> {
  const { length } = order;
  const [first] = seqs;
  if (first === undefined || length === 0) return seqs.map(() => length);
  // New assets mostly come last.
  const [isLast] = (await areBefore(reader, sort, [[order.seqs[length - 1] ?? 0, first]])) ?? ["gone" as const];
  if (isLast === "gone") return "gone";
  if (isLast === true) return seqs.map(() => length);
  if (seqs.length > MOST_PLACED) return "many";
  const sought = seqs.map((seq) => ({ seq, low: 0, high: length }));
  for (;;) {
    const open = sought.filter(({ low, high }) => low < high).map((one) => ({ one, middle: (one.low + one.high) >>> 1 }));
    if (open.length === 0) return sought.map(({ low }) => low);
    const before = await areBefore(
      reader,
      sort,
      open.map(({ one, middle }) => [order.seqs[middle] ?? 0, one.seq]),
    );
    if (!before) return "gone";
    open.forEach(({ one, middle }, at) => {
      if (before[at]) one.low = middle + 1;
      else one.high = middle;
    });
  }
}

/** For each pair, whether the first asset comes before the second; undefined if one of them is gone. */
async function areBefore(reader: Reader, sort: AssetSort, pairs: readonly [number, number][]): Promise<boolean[] | undefined> {
  const { column } = orders[sort];
  const text = `SELECT (a.${column}, a.id) < (b.${column}, b.id) AS is_before FROM json_each(?) AS pair
    CROSS JOIN assets AS a ON a.seq = pair.value ->> 0 CROSS JOIN assets AS b ON b.seq = pair.value ->> 1 ORDER BY pair.key`;
  const rows = await reader.rows(plainStatement<{ is_before: number }>(text, [writeExactJson(pairs)]));
  return rows.length === pairs.length ? rows.map((row) => row.is_before === 1) : undefined;
}

function putIn(order: Order, seqs: readonly number[], places: readonly number[]): void {
  const { length } = order;
  append(order, seqs); // makes room
  for (let at = seqs.length - 1, end = length; at >= 0; at -= 1) {
    const place = places[at] ?? 0;
    order.seqs.copyWithin(place + at + 1, place, end);
    order.seqs[place + at] = seqs[at] ?? 0;
    end = place;
  }
}

function append(order: Order, seqs: readonly number[]): void {
  if (order.length + seqs.length > order.seqs.length) order.seqs = longer(order.seqs, order.length + seqs.length);
  order.seqs.set(seqs, order.length);
  order.length += seqs.length;
  for (const seq of seqs) order.highest = Math.max(order.highest, seq);
}

/** `total` is the number of assets in `bits`, all of which are in the order. Returns the page in the requested direction. */
export function readPage(order: Order, bits: Bits, total: number, page: { descending: boolean; offset: number; length: number }): number[] {
  const { descending, offset, length } = page;
  const before = descending ? total - offset - length : offset;
  const after = total - before - length;
  const upwards = before <= after;
  const found = walk(order, bits, upwards ? 1 : -1, upwards ? before : after, length);
  // The order in memory contradicts the database: such a page must never be answered.
  if (found.length !== length) throw new Error("an order of assets lacks some of them");
  return upwards === descending ? found.reverse() : found;
}

function walk({ seqs, length: end }: Order, bits: Bits, step: 1 | -1, skip: number, length: number): number[] {
  const found: number[] = [];
  let left = skip;
  for (let at = step === 1 ? 0 : end - 1; found.length < length && at >= 0 && at < end; at += step) {
    const seq = seqs[at] ?? 0;
    if ((((bits[seq >>> 5] ?? 0) >>> (seq & 31)) & 1) === 0) continue;
    if (left > 0) left -= 1;
    else found.push(seq);
  }
  return found;
}
