// Remembers questions that found nothing: if none of the waiting jobs can be done at a place, the queue is read to its end, which costs
// more the more jobs wait.
// Guarantees: the same question for that place is held back for several times as long as the answer took, but never for long; a question
// for more kinds is not held back; a job that this process received, and that can be done there, ends the wait.

/** At most a fifth of a process's time is spent on searching in vain. */
const TIMES = 4;
const MOST_MS = 1000;

export function createVainClaims(clock: () => number) {
  const places = new Map<string, { skipped: readonly string[]; until: number }>();
  return {
    /** `place`: for which a job was looked for; `skip`: the kinds that were not asked for. */
    foundNothing(place: string, skip: readonly string[], askedAt: number): void {
      places.set(place, { skipped: skip, until: clock() + Math.min(MOST_MS, TIMES * (clock() - askedAt)) });
    },

    /** For how long not to ask this question. */
    restMs(place: string, skip: readonly string[]): number {
      const last = places.get(place);
      return last?.skipped.every((kind) => skip.includes(kind)) ? last.until - clock() : 0;
    },

    /** A job of this kind waits now. Returns whether this ends a wait. */
    came(kind: string): boolean {
      const ended = [...places].filter(([, { skipped }]) => !skipped.includes(kind));
      for (const [place] of ended) places.delete(place);
      return ended.length > 0;
    },
  };
}
