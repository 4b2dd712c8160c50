// A time limit as a signal, joined with the caller's own. `touch` restarts the time, up to `mostMs` in all: for bodies that arrive slowly
// but do arrive.
// Guarantees: tells afterwards which of the two ended it. The caller must clear it.

import "server-only";

export type Deadline = { signal: AbortSignal; touch(): void; expire(): void; clear(): void; readonly expired: boolean };

export function createDeadline(limitMs: number, outer?: AbortSignal | null, mostMs = Infinity): Deadline {
  const controller = new AbortController();
  const endMs = performance.now() + mostMs;
  let expired = false;
  const expire = () => {
    expired = true;
    controller.abort(new Error("time limit"));
  };
  let timer: NodeJS.Timeout | undefined = setTimeout(expire, Math.min(limitMs, mostMs));
  return {
    // With the caller's own reason, so that code that pipes a body to the caller recognises it and does not take it for a fault. No
    // listener of ours stays on the caller's signal, which may see hundreds of calls.
    signal: outer ? AbortSignal.any([controller.signal, outer]) : controller.signal,
    expire,
    touch() {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(expire, Math.min(limitMs, endMs - performance.now()));
    },
    /** The caller's signal stays joined: it may still end a body that is being read. */
    clear() {
      clearTimeout(timer);
      timer = undefined;
    },
    get expired() {
      return expired;
    },
  };
}
