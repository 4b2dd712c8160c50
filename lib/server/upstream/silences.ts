// Services that do not answer, by connection and address: what pages wait for ends soon then, so that a browser's few connections to the
// console stay free for what needs no service.
// Guarantees: one read, the patient one, is left its full time; any answer ends the silence; reads beside others that are answered are left
// alone. Must never: end a change, or a read that no page waits for.

import "server-only";

export type Silences = {
  /** The service has answered something. */
  heard(service: string): void;
  /** `giveUp` is told for how long there was no answer, in ms. Returns how to end it, which must follow. */
  begin(service: string, silentMs: number, giveUp: (quietMs: number) => void): () => void;
};

/** The patient one, and one that finds out whether the service is back; others get only as long as that takes. */
const MOST_WHILE_SILENT = 2;
const SHORT_MS = 500;

type State = { underWay: number; heardMs: number; silentSinceMs?: number; patient?: object };

export function createSilences(now: () => number = () => performance.now()): Silences {
  /** Of services that are asked now. */
  const states = new Map<string, State>();
  return {
    heard(service) {
      const state = states.get(service);
      if (!state) return;
      state.heardMs = now();
      state.silentSinceMs = undefined;
      state.patient = undefined;
    },
    begin(service, silentMs, giveUp) {
      const state = states.get(service) ?? { underWay: 0, heardMs: -Infinity };
      states.set(service, state);
      const startMs = now();
      const read = {};
      const isShort = state.silentSinceMs !== undefined && state.underWay >= MOST_WHILE_SILENT;
      let timer: NodeJS.Timeout | undefined;
      const look = () => {
        const fromMs = Math.max(startMs, state.heardMs);
        const leftMs = fromMs + (isShort && state.heardMs < startMs ? SHORT_MS : silentMs) - now();
        if (leftMs > 0) return void (timer = setTimeout(look, leftMs));
        state.silentSinceMs ??= fromMs;
        state.patient ??= read;
        if (state.patient !== read) giveUp(now() - state.silentSinceMs);
      };
      look();
      state.underWay += 1;
      return () => {
        clearTimeout(timer);
        state.underWay -= 1;
        if (state.patient === read) state.patient = undefined;
        if (state.underWay === 0) states.delete(service);
      };
    },
  };
}
