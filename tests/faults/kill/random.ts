// Reproducible randomness: everything random in a round follows from its seed, which is printed when the round fails.

export type Random = { integerBelow(bound: number): number; pick<T>(items: readonly [T, ...T[]]): T };

/** mulberry32: a public-domain generator of 32 bits; short, and good enough to choose the next step. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const integerBelow = (bound: number) => Math.floor(next() * bound);
  return {
    integerBelow,
    pick: (items) => items[integerBelow(items.length)] ?? items[0],
  };
}
