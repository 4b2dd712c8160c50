// Remembers for which places the queue was asked, and which questions found nothing: if none of the waiting jobs can be done at a place, the
// queue is read to its end, which costs more the more jobs wait.
// Guarantees: a question that found nothing is held back for several times as long as its answer took, but never for long; a question for
// more kinds is not held back; a job that this process received, and that can be done there, ends the wait. Every place has its turn: the
// one that was asked for longest ago comes first, and none is passed over because others find nothing.

/** At most a fifth of a process's time is spent on searching in vain. */
const TIMES = 4;
const MOST_MS = 1000;
/** Every free place is asked for so often, in case a notice was lost. */
const EVERY_MS = 1000;

export function createAskedPlaces(clock: () => number) {
  const asked = new Map<string, number>();
  const vain = new Map<string, { skipped: readonly string[]; until: number }>();
  let newsAt = -Infinity;
  const lastOf = (place: string) => asked.get(place) ?? -Infinity;
  return {
    /** A job is looked for, for this place. */
    asks: (place: string): void => void asked.set(place, clock()),

    /** `skip`: the kinds that were not asked for. */
    foundNothing(place: string, skip: readonly string[], askedAt: number): void {
      asked.set(place, Math.max(lastOf(place), askedAt));
      vain.set(place, { skipped: skip, until: clock() + Math.min(MOST_MS, TIMES * (clock() - askedAt)) });
    },

    /** For how long not to ask this question. */
    restMs(place: string, skip: readonly string[]): number {
      const last = vain.get(place);
      return last?.skipped.every((kind) => skip.includes(kind)) ? last.until - clock() : 0;
    },

    /** A job of this kind waits now. Returns whether this ends a wait. */
    came(kind: string): boolean {
      const ended = [...vain].filter(([, { skipped }]) => !skipped.includes(kind));
      for (const [place] of ended) vain.delete(place);
      return ended.length > 0;
    },

    /** Some process has put jobs into the queue. */
    news: (): void => void (newsAt = clock()),

    /** It was not asked for since then, or not lately. */
    isDue: (place: string): boolean => lastOf(place) <= newsAt || lastOf(place) < clock() - EVERY_MS,

    inTurn: <Offered extends { place: string }>(places: readonly Offered[]): Offered[] =>
      places.toSorted((one, other) => lastOf(one.place) - lastOf(other.place)),
  };
}
