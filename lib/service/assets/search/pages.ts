// One page of a set of assets, walked along their order from the end that is nearer.

import { type Bits } from "./bits";
import { type Order } from "./orders";

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
