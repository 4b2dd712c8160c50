// What was read of the jobs that have ended at servers whose history is the only list of them.
// Guarantees: one server's jobs are known a minute at most, since others may take entries out of its history; few servers, few jobs.
// Must never: hold a graph.

import "server-only";
import { type LocalJob } from "./local-entries";

const KNOWN_MS = 60_000;
const MOST_SERVERS = 20;

type Known = { newestFirst: readonly LocalJob[]; at: number };
export type EndedMemory = {
  now(): number;
  of(base: string): readonly LocalJob[] | undefined;
  /** Read in full just now. */
  keep(base: string, newestFirst: readonly LocalJob[]): void;
  /** Some were added; what was read before is as old as it was. */
  extend(base: string, newestFirst: readonly LocalJob[]): void;
  forget(base: string): void;
};

export function createEndedMemory(now: () => number): EndedMemory {
  const known = new Map<string, Known>();
  return {
    now,
    of(base) {
      const one = known.get(base);
      return one && now() - one.at < KNOWN_MS ? one.newestFirst : undefined;
    },
    keep(base, newestFirst) {
      known.delete(base);
      known.set(base, { newestFirst, at: now() });
      for (const oldest of [...known.keys()].slice(0, -MOST_SERVERS)) known.delete(oldest);
    },
    extend(base, newestFirst) {
      const one = known.get(base);
      if (one) one.newestFirst = newestFirst;
    },
    forget: (base) => void known.delete(base),
  };
}
