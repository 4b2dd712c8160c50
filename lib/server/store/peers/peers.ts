// The other consoles of this database: what they must hear of, and what one of them is in the middle of.
// Guarantees: work counts as under way until its console ends it, or ends itself, however it does. On SQLite there are no others.

import "server-only";

/** What is remembered of a connection is of another service, key or list now. Undefined: of any, since something may not have been heard. */
export type HearChange = (connectionId: string | undefined) => void;

export type Peers = {
  /** From now on the others are heard, and hear. */
  start(hear: HearChange): Promise<void>;
  /** For the others. */
  tellChange(connectionId: string): Promise<void>;
  /** Returns how to end it, which must follow. */
  beginWork(name: string): Promise<() => Promise<void>>;
  isUnderWay(name: string): Promise<boolean>;
  close(): Promise<void>;
};

/** Of this process, by name: several may do the same. */
export function createWork() {
  const counts = new Map<string, number>();
  return {
    names: () => counts.keys(),
    has: (name: string) => counts.has(name),
    /** True for the first. */
    add(name: string): boolean {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return counts.get(name) === 1;
    },
    /** True for the last. */
    remove(name: string): boolean {
      const left = (counts.get(name) ?? 1) - 1;
      if (left > 0) counts.set(name, left);
      return left <= 0 && counts.delete(name);
    },
  };
}

export function createNoPeers(): Peers {
  const work = createWork();
  return {
    start: () => Promise.resolve(),
    tellChange: () => Promise.resolve(),
    beginWork(name) {
      work.add(name);
      return Promise.resolve(() => Promise.resolve(void work.remove(name)));
    },
    isUnderWay: (name) => Promise.resolve(work.has(name)),
    close: () => Promise.resolve(),
  };
}
