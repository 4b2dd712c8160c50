// Work that is heavy for the machine, a few pieces at a time; the others wait in the order in which they came.
// Guarantees: never more than `atOnce` under way, whatever way a piece ends.

export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurns(atOnce: number): Turns {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    // A finished piece hands its place to the next in line, so that none overtakes.
    if (busy >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else busy += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else busy -= 1;
    }
  };
}
