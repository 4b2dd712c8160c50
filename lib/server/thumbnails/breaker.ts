// Circuit breaker: stops requesting images from a service after several timeouts in a row, then probes with one request.

import "server-only";

/** `cancelled`: the client disconnected, so the outcome is unknown. */
type Outcome = "responded" | "timedOut" | "cancelled";
export type Breaker = ReturnType<typeof createBreaker>;

/** The number of images that one tab requests at once. */
const MAX_TIMEOUTS = 4;
const OPEN_MS = 5_000;
const PROBE_RETRY_MS = 2_000;

export function createBreaker(now: () => number) {
  const statesByConnection = new Map<string, { timeouts: number; openUntilMs: number; isProbed: boolean }>();
  return {
    /** Returns 0 if a request may be sent. The caller must then call `record`. Otherwise returns the time to wait. */
    acquireMs(id: string): number {
      const state = statesByConnection.get(id);
      if (!state || state.timeouts < MAX_TIMEOUTS) return 0;
      const waitMs = state.openUntilMs - now();
      if (waitMs > 0) return waitMs;
      if (state.isProbed) return PROBE_RETRY_MS;
      state.isProbed = true;
      return 0;
    },
    record(id: string, outcome: Outcome): void {
      if (outcome === "responded") return void statesByConnection.delete(id);
      const state = statesByConnection.get(id) ?? { timeouts: 0, openUntilMs: 0, isProbed: false };
      state.isProbed = false;
      if (outcome === "cancelled") return;
      statesByConnection.set(id, { ...state, timeouts: state.timeouts + 1, openUntilMs: now() + OPEN_MS });
    },
    probeNow(id: string): void {
      const state = statesByConnection.get(id);
      if (state) state.openUntilMs = 0;
    },
  };
}
