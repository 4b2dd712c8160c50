// Sets of assets with one bit per row number: a million take 125 kB, and intersecting two takes a tenth of a millisecond.
// Sets may differ in length: numbers beyond the end of a set are not in it.

export type Bits = Uint32Array<ArrayBuffer>;

/** Room for the numbers below `end`. */
export function newBits(end: number): Bits {
  return new Uint32Array((end >>> 5) + 1);
}

export function hasBit(bits: Bits, at: number): boolean {
  return (((bits[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1;
}

/** Returns the set, or a longer copy of it if there was no room. */
export function withBit(bits: Bits, at: number, isIn: boolean): Bits {
  const word = at >>> 5;
  if (word >= bits.length) {
    if (!isIn) return bits;
    const longer = new Uint32Array(word + (word >>> 3) + 1);
    longer.set(bits);
    return withBit(longer, at, isIn);
  }
  const mask = 1 << (at & 31);
  bits[word] = isIn ? (bits[word] ?? 0) | mask : (bits[word] ?? 0) & ~mask;
  return bits;
}

export function intersect(bits: Bits, other: Bits): void {
  const end = Math.min(bits.length, other.length);
  for (let word = 0; word < end; word += 1) bits[word] = (bits[word] ?? 0) & (other[word] ?? 0);
  bits.fill(0, end);
}

export function subtract(bits: Bits, other: Bits): void {
  const end = Math.min(bits.length, other.length);
  for (let word = 0; word < end; word += 1) bits[word] = (bits[word] ?? 0) & ~(other[word] ?? 0);
}

export function union(bits: Bits, other: Bits): Bits {
  const [longer, shorter] = bits.length < other.length ? [other, bits] : [bits, other];
  const both = longer.slice();
  for (let word = 0; word < shorter.length; word += 1) both[word] = (both[word] ?? 0) | (shorter[word] ?? 0);
  return both;
}

export function countBits(bits: Bits): number {
  let count = 0;
  for (let word = 0; word < bits.length; word += 1) {
    let left = bits[word] ?? 0;
    if (left === 0) continue;
    left -= (left >>> 1) & 0x55555555;
    left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
    count += Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}

/** In ascending order. */
export function eachBit(bits: Bits, visit: (at: number) => void): void {
  for (let word = 0; word < bits.length; word += 1) {
    for (let left = bits[word] ?? 0; left !== 0; left &= left - 1) visit((word << 5) + 31 - Math.clz32(left & -left));
  }
}
