// Runs heavy work a few pieces at a time; the others wait in the order they came.
// Guarantees: never more than `atOnce` running, however a piece ends.

export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurns(atOnce: number): Turns {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    // A finished piece hands its place to the next in line, so that no other one overtakes it.
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
