// Pseudo-random numbers that are the same in every run, so that two benches create the same rows.

export function createSeededRandom(seed: number) {
  let state = seed >>> 0;
  /** mulberry32: 32 bits, evenly distributed. */
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
  const below = (end: number) => next() % end;
  const hex = (words: number) => Array.from({ length: words }, () => next().toString(16).padStart(8, "0")).join("");
  return {
    below,
    hex,
    pick: <T>(list: readonly T[]): T => {
      const item = list[below(list.length)];
      if (item === undefined) throw new Error("cannot pick from an empty list");
      return item;
    },
    uuid(): string {
      const digits = hex(4);
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
    },
  };
}
