// Remembers the ended jobs of servers whose history is the only list of them.
// Guarantees: a server's jobs are remembered for a minute at most, because others may remove entries of its history; few servers, few jobs.
// Must never: hold a graph.

import "server-only";
import { createLru } from "@/lib/shared/lru";
import { type LocalJob } from "./local-entries";

const KNOWN_MS = 60_000;
const MOST_SERVERS = 20;

/** `isCut`: the server has older ones. */
export type Ended = { newestFirst: readonly LocalJob[]; isCut: boolean };
type Known = { ended: Ended; at: number };
export type EndedMemory = {
  now(): number;
  of(base: string): Ended | undefined;
  /** Called when the history was just read completely. */
  keep(base: string, ended: Ended): void;
  /** Adds jobs; the entries read before keep their age. */
  extend(base: string, ended: Ended): void;
  forget(base: string): void;
};

export function createEndedMemory(now: () => number): EndedMemory {
  const known = createLru<string, Known>({ max: MOST_SERVERS });
  return {
    now,
    of(base) {
      const one = known.get(base);
      return one && now() - one.at < KNOWN_MS ? one.ended : undefined;
    },
    keep(base, ended) {
      known.set(base, { ended, at: now() });
    },
    extend(base, ended) {
      const one = known.get(base);
      if (one) one.ended = ended;
    },
    forget: (base) => void known.delete(base),
  };
}
