// The other consoles on this database: tells them of changes, and knows the work that one of them is doing.
// Guarantees: work counts as under way until its console ends it, or the console itself ends in any way. On SQLite there are no others.

import "server-only";

/** A connection got another service, key or list: forget what is known of it. Undefined: any, as a notice may have been missed. */
export type OnChange = (connectionId: string | undefined) => void;

export type Peers = {
  /** From now on changes are exchanged with the others. */
  start(onChange: OnChange): Promise<void>;
  /** Tells the other consoles. */
  tellChange(connectionId: string): Promise<void>;
  /** Returns the function that ends the work; the caller must call it. */
  beginWork(name: string): Promise<() => Promise<void>>;
  isUnderWay(name: string): Promise<boolean>;
  close(): Promise<void>;
};

/** The work of this process, counted by name: several requests may do the same. */
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
