// What was looked for in vain: where none of what waits can be done at a place, the queue is read to its end, which costs more the more waits.
// Guarantees: who asks the same again for that place is held back for some times as long as the answer took, and never for long; who can do
// more is not; what this process was sent itself, and can be done there, ends the wait.

/** Of a process's time a fifth at most goes into looking for what is not there. */
const TIMES = 4;
const MOST_MS = 1000;

export function createVainClaims(clock: () => number) {
  const places = new Map<string, { skipped: readonly string[]; until: number }>();
  return {
    /** `place`: whose jobs were looked for; `skip`: the kinds that were not asked for. */
    foundNothing(place: string, skip: readonly string[], askedAt: number): void {
      places.set(place, { skipped: skip, until: clock() + Math.min(MOST_MS, TIMES * (clock() - askedAt)) });
    },

    /** How long not to ask that. */
    restMs(place: string, skip: readonly string[]): number {
      const last = places.get(place);
      return last?.skipped.every((kind) => skip.includes(kind)) ? last.until - clock() : 0;
    },

    /** Such a job waits now: true where that ends a wait. */
    came(kind: string): boolean {
      const ended = [...places].filter(([, { skipped }]) => !skipped.includes(kind));
      for (const [place] of ended) places.delete(place);
      return ended.length > 0;
    },
  };
}
