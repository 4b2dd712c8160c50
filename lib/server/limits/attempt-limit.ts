// A token bucket for each name: `burst` attempts at once, then one every `refillMs`.
// Guarantees: bounded memory; says how long to wait. For this process only: consoles that share a database use shared-limit.ts.

import "server-only";

export type AttemptLimit = {
  /** Milliseconds to wait before the next one; 0 if this one may pass. */
  take(name: string): Promise<number>;
  /** Gives back an attempt that should not count. */
  giveBack(name: string): Promise<void>;
};

export const MOST_NAMES = 20_000;

/** A burst of 0 means no limit. */
export function createAttemptLimit({ now, burst, refillMs }: { now: () => number; burst: number; refillMs: number }): AttemptLimit {
  /** When each bucket is full again; full buckets need no entry. */
  const fullAt = new Map<string, number>();

  function sweep(at: number): void {
    for (const [name, full] of fullAt) if (full <= at) fullAt.delete(name);
    // Under a flood of names the oldest are dropped: a limit that forgets is better than a process that grows.
    for (const name of fullAt.keys()) {
      if (fullAt.size < MOST_NAMES) break;
      fullAt.delete(name);
    }
  }

  function take(name: string): number {
    if (burst === 0) return 0;
    const at = now();
    if (fullAt.size >= MOST_NAMES) sweep(at);
    const full = Math.max(at, fullAt.get(name) ?? at) + refillMs;
    const waitMs = full - at - burst * refillMs;
    if (waitMs > 0) return Math.ceil(waitMs);
    fullAt.set(name, full);
    return 0;
  }

  return {
    take: (name) => Promise.resolve(take(name)),
    giveBack(name) {
      const full = fullAt.get(name);
      if (full !== undefined) fullAt.set(name, full - refillMs);
      return Promise.resolve();
    },
  };
}
