// The assets that a user sees, own and public, in one order of the list: one number per row. A page of any filter at any depth is a walk
// along it, one or two nanoseconds per step.

import { type AssetSort } from "../asset-search";
import { type Bits, hasBit, newBits, withBit } from "./bits";
import { longer } from "./packing";

/** `seqs` may be longer than `length`; no number in it is higher than `highest`. `position`: of the last change that it includes. */
export type Order = {
  userId: number;
  sort: AssetSort;
  seqs: Uint32Array<ArrayBuffer>;
  length: number;
  highest: number;
  position: number;
};

/** `total` is the number of assets in `bits`, all of which are in the order. Returns the page in the requested direction. */
export function readPage(order: Order, bits: Bits, total: number, page: { descending: boolean; offset: number; length: number }): number[] {
  const { descending, offset, length } = page;
  const before = descending ? total - offset - length : offset;
  const after = total - before - length;
  const isFromStart = before <= after;
  const found = walk(order, bits, isFromStart ? 1 : -1, isFromStart ? before : after, length);
  // The order in memory contradicts the database: such a page must never be answered.
  if (found.length !== length) throw new Error("an order of assets lacks some of them");
  return isFromStart === descending ? found.reverse() : found;
}

function walk({ seqs, length: end }: Order, bits: Bits, step: 1 | -1, skip: number, length: number): number[] {
  const found: number[] = [];
  let left = skip;
  for (let at = step === 1 ? 0 : end - 1; found.length < length && at >= 0 && at < end; at += step) {
    const seq = seqs[at] ?? 0;
    if (!hasBit(bits, seq)) continue;
    if (left > 0) left -= 1;
    else found.push(seq);
  }
  return found;
}

export function append(order: Order, seqs: readonly number[]): void {
  if (order.length + seqs.length > order.seqs.length) order.seqs = longer(order.seqs, order.length + seqs.length);
  order.seqs.set(seqs, order.length);
  order.length += seqs.length;
  for (const seq of seqs) order.highest = Math.max(order.highest, seq);
}

/** `places`: for each of `seqs`, how many of the order come before it; ascending. */
export function putIn(order: Order, seqs: readonly number[], places: readonly number[]): void {
  let end = order.length;
  append(order, seqs); // makes room
  // From the last one on, so that everything is moved once, by as many as come before it.
  for (let at = seqs.length - 1; at >= 0; at -= 1) {
    const place = places[at] ?? 0;
    order.seqs.copyWithin(place + at + 1, place, end);
    order.seqs[place + at] = seqs[at] ?? 0;
    end = place;
  }
}

export function takeOut(order: Order, seqs: readonly number[]): void {
  const present = seqs.filter((seq) => seq <= order.highest);
  if (present.length === 0) return;
  let gone = newBits(order.highest);
  for (const seq of present) gone = withBit(gone, seq, true);
  let kept = 0;
  for (let at = 0; at < order.length; at += 1) {
    const seq = order.seqs[at] ?? 0;
    if (hasBit(gone, seq)) continue;
    order.seqs[kept] = seq;
    kept += 1;
  }
  order.length = kept;
}
