// Circuit breaker: stops requesting images from a service after several timeouts in a row, then probes with one request.

import "server-only";

/** `left`: the client disconnected, so the outcome is unknown. */
type Outcome = "answered" | "silent" | "left";
export type Breaker = ReturnType<typeof createBreaker>;

/** As many as one tab requests at once. */
const MAX_UNRESPONSIVE = 4;
const OPEN_MS = 5_000;
const PROBE_RETRY_MS = 2_000;

export function createBreaker(now: () => number) {
  const timeoutsByConnection = new Map<string, { inRow: number; untilMs: number; isProbed: boolean }>();
  return {
    /** Returns 0 if a request may be sent, and the caller must then call `record`. Otherwise the time to wait. */
    enterMs(id: string): number {
      const state = timeoutsByConnection.get(id);
      if (!state || state.inRow < MAX_UNRESPONSIVE) return 0;
      const waitMs = state.untilMs - now();
      if (waitMs > 0) return waitMs;
      if (state.isProbed) return PROBE_RETRY_MS;
      state.isProbed = true;
      return 0;
    },
    record(id: string, outcome: Outcome): void {
      if (outcome === "answered") return void timeoutsByConnection.delete(id);
      const state = timeoutsByConnection.get(id) ?? { inRow: 0, untilMs: 0, isProbed: false };
      state.isProbed = false;
      if (outcome === "left") return;
      timeoutsByConnection.set(id, { ...state, inRow: state.inRow + 1, untilMs: now() + OPEN_MS });
    },
    wake(id: string): void {
      const state = timeoutsByConnection.get(id);
      if (state) state.untilMs = 0;
    },
  };
}
