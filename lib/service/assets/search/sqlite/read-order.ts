// Reads an order of the assets from the database, and what has changed in it since.
// Guarantees: ties are broken by id, as in the database; only an order that includes all changes is called current.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { assetChanges } from "@/lib/service/store/asset-triggers";
import { type Reader } from "@/lib/service/store/database";
import { plainStatement } from "@/lib/service/store/statement";
import { PUBLIC_OWNER } from "@/lib/service/users/user";
import { type AssetSort, orders } from "../asset-search";
import { type Changes } from "./changes";
import { append, type Order, putIn, takeOut } from "./order";

/** Takes about a millisecond to read. */
const AT_ONCE = 2048;
/** Each asset that goes into the middle takes some twenty comparisons and moves everything behind it. */
const MOST_PLACED = 250;
const MOST_CHANGED = 4000;

/** Piece by piece; the caller lets others work between the pieces. */
export async function* readOrder(reader: Reader, changes: Changes, userId: number, sort: AssetSort): AsyncGenerator<void, Order> {
  const order: Order = { userId, sort, seqs: new Uint32Array(AT_ONCE), length: 0, highest: 0, position: changes.end() };
  let last: Place | undefined;
  for (;;) {
    const piece = await readPiece(reader, order, last);
    append(order, piece.seqs);
    last = piece.last;
    if (!last) return order;
    yield;
  }
}

/** Where an asset is in the order: its value of the sorted column, and its id. */
type Place = readonly [string | number, string];

/** `last` is undefined if nothing comes after. Read in one statement with the numbers: the last asset of a piece may move at any moment. */
async function readPiece(reader: Reader, { userId, sort }: Order, after: Place | undefined): Promise<{ seqs: number[]; last?: Place }> {
  const { column, index } = orders[sort];
  const isAfter = after ? `AND (${column}, id) > (?, ?)` : "";
  const rows = `SELECT seq, ${column} AS place, id FROM assets INDEXED BY ${index} WHERE owner_id = ? ${isAfter}`;
  const text = `WITH piece AS MATERIALIZED (${rows} UNION ALL ${rows} ORDER BY place, id LIMIT ${AT_ONCE})
    SELECT (SELECT json_group_array(seq) FROM piece) AS seqs, place, id
    FROM (SELECT 1) LEFT JOIN (SELECT place, id FROM piece LIMIT 1 OFFSET ${AT_ONCE - 1})`;
  const values = [userId, ...(after ?? []), PUBLIC_OWNER, ...(after ?? [])];
  const row = await reader.row(plainStatement<{ seqs: string; place: string | number | null; id: string | null }>(text, values));
  const seqs: number[] = JSON.parse(row?.seqs ?? "[]"); // json_group_array of a column of whole numbers
  return row && row.place !== null && row.id !== null ? { seqs, last: [row.place, row.id] } : { seqs };
}

/**
 * "current": the order includes all changes. "behind": something changed during the read, and the order must not be used now. "lost": the
 * order has to be read anew.
 */
export async function catchUp(reader: Reader, changes: Changes, order: Order): Promise<"current" | "behind" | "lost"> {
  const position = changes.end();
  const changed = changes.since(order.position, assetChanges[order.sort]);
  if (changed === undefined || changed.length > MOST_CHANGED) return "lost";
  if (changed.length > 0) {
    // If this does not finish, all of them count as changed the next time too.
    takeOut(order, changed);
    const seqs = await inOrder(reader, order, changed);
    const places = await placesOf(reader, order, seqs);
    // Assets that were compared may have moved meanwhile.
    if (changes.end() !== position) return "behind";
    if (places === "many") return "lost";
    if (places === "gone") throw new Error("an order of assets holds one that is gone");
    putIn(order, seqs, places);
  }
  order.position = position;
  return "current";
}

/** Those of `changed` that exist and that the user sees. */
async function inOrder(reader: Reader, { userId, sort }: Order, changed: readonly number[]): Promise<number[]> {
  const text = `SELECT seq FROM assets WHERE seq IN (SELECT value FROM json_each(?)) AND owner_id IN (?, ?) ORDER BY ${orders[sort].column}, id`;
  const rows = await reader.rows(plainStatement<{ seq: number }>(text, [writeExactJson(changed), userId, PUBLIC_OWNER]));
  return rows.map((row) => row.seq);
}

/** For each of `seqs`, none of which is in the order yet, how many of the order come before it. */
async function placesOf(reader: Reader, order: Order, seqs: readonly number[]): Promise<readonly number[] | "many" | "gone"> {
  const { length } = order;
  const [first] = seqs;
  if (first === undefined || length === 0) return seqs.map(() => length);
  // New assets mostly come last.
  const isLast = await areBefore(reader, order, [[length - 1, first]]);
  if (!isLast) return "gone";
  if (isLast[0]) return seqs.map(() => length);
  return seqs.length > MOST_PLACED ? "many" : searchPlaces(reader, order, seqs);
}

/** A binary search for all of them at once: each step is one statement. */
async function searchPlaces(reader: Reader, order: Order, seqs: readonly number[]): Promise<readonly number[] | "gone"> {
  const sought = seqs.map((seq) => ({ seq, low: 0, high: order.length }));
  for (;;) {
    const open = sought.filter(({ low, high }) => low < high).map((one) => ({ one, middle: (one.low + one.high) >>> 1 }));
    if (open.length === 0) return sought.map(({ low }) => low);
    const before = await areBefore(
      reader,
      order,
      open.map(({ one, middle }) => [middle, one.seq]),
    );
    if (!before) return "gone";
    open.forEach(({ one, middle }, at) => {
      if (before[at]) one.low = middle + 1;
      else one.high = middle;
    });
  }
}

/** For each place of the order with an asset, whether the one at that place comes before it; undefined if one of them is gone. */
async function areBefore(reader: Reader, order: Order, pairs: readonly (readonly [number, number])[]): Promise<boolean[] | undefined> {
  const { column } = orders[order.sort];
  const text = `SELECT (a.${column}, a.id) < (b.${column}, b.id) AS is_before FROM json_each(?) AS pair
    CROSS JOIN assets AS a ON a.seq = pair.value ->> 0 CROSS JOIN assets AS b ON b.seq = pair.value ->> 1 ORDER BY pair.key`;
  const compared = pairs.map(([place, seq]) => [order.seqs[place] ?? 0, seq]);
  const rows = await reader.rows(plainStatement<{ is_before: number }>(text, [writeExactJson(compared)]));
  return rows.length === pairs.length ? rows.map((row) => row.is_before === 1) : undefined;
}
