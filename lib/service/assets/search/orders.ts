// The assets that a user sees, own and public, in each order of the list: one number a row. A page of any filter at any depth is a walk
// along it, a nanosecond or two a step.
// Guarantees: ties are broken by id, as the database breaks them; an order is up to date when it is handed out. One that is not there,
// or that too much has changed in, is read in the background. Bounded: those that were not asked for lately go first.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Database } from "@/lib/service/store/database";
import { assetChanges } from "@/lib/service/store/asset-triggers";
import { plainStatement } from "@/lib/service/store/statement";
import { PUBLIC_OWNER } from "@/lib/service/users/user";
import { type Bits, hasBit, newBits, withBit } from "./bits";
import { type Changes } from "./changes";
import { longer } from "./names";

export type AssetSort = AssetsQuery["sort"];

export const orders = {
  name: { column: "name_folded", index: "assets_by_folded_name" },
  created_at: { column: "created_at", index: "assets_by_creation" },
  updated_at: { column: "updated_at", index: "assets_by_update" },
  size: { column: "size", index: "assets_by_size" },
  last_access_time: { column: "last_access_time", index: "assets_by_access" },
} as const;

/** `seqs` has room for more than `length`; `highest` is no lower than any number in it. */
export type Order = { seqs: Uint32Array<ArrayBuffer>; length: number; highest: number; position: number };

/** About a millisecond of reading. */
const AT_ONCE = 2048;
/** Each that goes into the middle is compared some twenty times: more of them would hold up whoever asks next. */
const MOST_PLACED = 250;
const MOST_CHANGED = 4000;

/** An order with all that is the user's, as one piece after the other is read; the caller lets others work between them. */
export function* readOrder(database: Database, changes: Changes, userId: number, sort: AssetSort): Generator<void, Order> {
  const { column, index } = orders[sort];
  const order: Order = { seqs: new Uint32Array(AT_ONCE), length: 0, highest: 0, position: changes.end() };
  const rows = (after: string) => `SELECT json_group_array(seq) AS seqs FROM (
    SELECT seq FROM assets INDEXED BY ${index} WHERE owner_id = ? ${after} ORDER BY ${column}, id LIMIT ${AT_ONCE})`;
  for (let last: { place: string | number; id: string } | undefined; ;) {
    const piece = last
      ? plainStatement<{ seqs: string }>(rows(`AND (${column}, id) > (?, ?)`), [userId, last.place, last.id])
      : plainStatement<{ seqs: string }>(rows(""), [userId]);
    const seqs: number[] = JSON.parse(database.row(piece)?.seqs ?? "[]"); // json_group_array of a column of whole numbers
    append(order, seqs);
    const end = seqs.at(-1);
    if (end === undefined || seqs.length < AT_ONCE) break;
    const place = `SELECT ${column} AS place, id FROM assets WHERE seq = ?`;
    last = database.row(plainStatement<{ place: string | number; id: string }>(place, [end]));
    yield;
  }
  const shipped = plainStatement<{ seq: number }>("SELECT seq FROM assets WHERE owner_id = ?", [PUBLIC_OWNER]);
  putIn(database, userId, sort, order, database.rows(shipped).map((row) => row.seq)); // prettier-ignore
  return order;
}

/** False where the order has to be read anew. */
export function catchUp(database: Database, changes: Changes, userId: number, sort: AssetSort, order: Order): boolean {
  const changed = changes.since(order.position, assetChanges[sort]);
  if (changed === undefined || changed.length > MOST_CHANGED) return false;
  if (changed.length > 0) {
    takeOut(order, changed);
    if (!putIn(database, userId, sort, order, changed)) return false;
  }
  order.position = changes.end();
  return true;
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

/** Those of `changed` that are there and that the user sees; none of them is in the order. */
function putIn(database: Database, userId: number, sort: AssetSort, order: Order, changed: readonly number[]): boolean {
  const { column } = orders[sort];
  const present = `SELECT seq FROM assets WHERE seq IN (SELECT value FROM json_each(?)) AND owner_id IN (?, ?) ORDER BY ${column}, id`;
  const found = database.rows(plainStatement<{ seq: number }>(present, [writeExactJson(changed), userId, PUBLIC_OWNER]));
  const seqs = found.map((row) => row.seq);
  const [first] = seqs;
  if (first === undefined) return true;

  const compare = `SELECT (a.${column}, a.id) < (b.${column}, b.id) AS is_before FROM assets AS a, assets AS b WHERE a.seq = ? AND b.seq = ?`;
  const isBefore = (at: number, seq: number) => {
    const row = database.row(plainStatement<{ is_before: number }>(compare, [order.seqs[at] ?? 0, seq]));
    if (!row) throw new Error("an order of assets holds one that is gone");
    return row.is_before === 1;
  };
  // What is new mostly comes last.
  if (order.length === 0 || isBefore(order.length - 1, first)) {
    append(order, seqs);
    return true;
  }
  if (seqs.length > MOST_PLACED) return false;
  let low = 0;
  const places = seqs.map((seq) => {
    for (let high = order.length; low < high;) {
      const middle = (low + high) >>> 1;
      if (isBefore(middle, seq)) low = middle + 1;
      else high = middle;
    }
    return low;
  });
  const { length } = order;
  append(order, seqs); // makes the room
  for (let at = seqs.length - 1, end = length; at >= 0; at -= 1) {
    const place = places[at] ?? 0;
    order.seqs.copyWithin(place + at + 1, place, end);
    order.seqs[place + at] = seqs[at] ?? 0;
    end = place;
  }
  return true;
}

function append(order: Order, seqs: readonly number[]): void {
  if (order.length + seqs.length > order.seqs.length) order.seqs = longer(order.seqs, order.length + seqs.length);
  order.seqs.set(seqs, order.length);
  order.length += seqs.length;
  for (const seq of seqs) order.highest = Math.max(order.highest, seq);
}

/** `total` is the number of assets in `bits`, all of which are in the order. In the order asked for. */
export function readPage(order: Order, bits: Bits, total: number, page: { descending: boolean; offset: number; length: number }): number[] {
  const { descending, offset, length } = page;
  const before = descending ? total - offset - length : offset;
  const after = total - before - length;
  const upwards = before <= after;
  const found = walk(order, bits, upwards ? 1 : -1, upwards ? before : after, length);
  // The order of the database and what is kept of it have parted: this must never be answered.
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
