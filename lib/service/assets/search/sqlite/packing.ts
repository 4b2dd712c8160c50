// Lists of numbers that lie one after the other in one array, each with its start and its end: how the array grows, and how it is packed again.

type Numbers = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** A copy with room for `length` and some more. */
export function longer<T extends Numbers>(numbers: T, length: number): T;
export function longer(numbers: Numbers, length: number): Numbers {
  const wanted = Math.max(length, Math.ceil(numbers.length * 1.25));
  if (numbers instanceof Uint8Array) {
    const bytes = new Uint8Array(wanted);
    bytes.set(numbers);
    return bytes;
  }
  const words = new Uint32Array(wanted);
  words.set(numbers);
  return words;
}

/** A copy without what no list has any more, `live` numbers and some room; the lists' places are changed to those in it. */
export function packed<T extends Numbers>(numbers: T, starts: Uint32Array, ends: Uint32Array, live: number): { copy: T; used: number };
export function packed(numbers: Numbers, starts: Uint32Array, ends: Uint32Array, live: number): { copy: Numbers; used: number } {
  const copy = longer<Numbers>(numbers.subarray(0, 0), Math.max(4096, Math.ceil(live * 1.25)));
  let used = 0;
  for (let seq = 0; seq < starts.length; seq += 1) {
    const [start, end] = [starts[seq] ?? 0, ends[seq] ?? 0];
    copy.set(numbers.subarray(start, end), used);
    starts[seq] = used;
    used += end - start;
    ends[seq] = used;
  }
  return { copy, used };
}
