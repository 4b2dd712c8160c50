// Whether a connection's service is asked for pictures at all: after a few in a row that never came it is left alone for a while.
// Guarantees: while it is left alone each asker hears at once how long to wait; then one asks and the others wait for what becomes of it;
// the first answer ends it, and any other answer of that service lets one ask at once.

import "server-only";

/** `left`: the client has gone, which says nothing of the service. */
type Outcome = "answered" | "silent" | "left";
export type Breaker = {
  /** 0: it may be asked, and `tell` must follow. Else come back after so long. */
  enterMs(connectionId: string): number;
  tell(connectionId: string, outcome: Outcome): void;
  /** The service has answered something else. */
  wake(connectionId: string): void;
};

/** As many as one tab has under way. */
const MOST_SILENT = 4;
const REST_MS = 5_000;
const PROBE_MS = 2_000;

export function createBreaker(now: () => number): Breaker {
  const silent = new Map<string, { inRow: number; untilMs: number; isProbed: boolean }>();
  return {
    enterMs(id) {
      const state = silent.get(id);
      if (!state || state.inRow < MOST_SILENT) return 0;
      const waitMs = state.untilMs - now();
      if (waitMs > 0) return waitMs;
      if (state.isProbed) return PROBE_MS;
      state.isProbed = true;
      return 0;
    },
    tell(id, outcome) {
      if (outcome === "answered") return void silent.delete(id);
      const state = silent.get(id) ?? { inRow: 0, untilMs: 0, isProbed: false };
      state.isProbed = false;
      if (outcome === "left") return;
      silent.set(id, { ...state, inRow: state.inRow + 1, untilMs: now() + REST_MS });
    },
    wake(id) {
      const state = silent.get(id);
      if (state) state.untilMs = 0;
    },
  };
}
