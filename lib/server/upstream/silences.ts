// Which services do not answer, by connection: reads end soon then, so that a browser's few connections to the console stay free for what
// needs no service.
// Guarantees: one read, the patient one, is left its full time; any answer ends the silence; reads beside others that are answered are left
// alone. Must never: end a change.

import "server-only";

export type Silences = {
  /** `giveUp` is told for how long there was no answer, in ms; it may be called at once. `end` must follow, once. */
  begin(connectionId: string, silentMs: number, giveUp: (quietMs: number) => void): { end(isAnswered: boolean): void };
};

/** The patient one, and one that finds out whether the service is back. */
const MOST_WHILE_SILENT = 2;

type State = { underWay: number; heardMs: number; silentSinceMs?: number; patient?: object };

export function createSilences(now: () => number = () => performance.now()): Silences {
  const states = new Map<string, State>();
  return {
    begin(id, silentMs, giveUp) {
      const state = states.get(id) ?? { underWay: 0, heardMs: -Infinity };
      states.set(id, state);
      const startMs = now();
      const read = {};
      let timer: NodeJS.Timeout | undefined;
      const look = () => {
        const fromMs = Math.max(startMs, state.heardMs);
        const leftMs = fromMs + silentMs - now();
        if (leftMs > 0) return void (timer = setTimeout(look, leftMs));
        state.silentSinceMs ??= fromMs;
        state.patient ??= read;
        if (state.patient !== read) giveUp(now() - state.silentSinceMs);
      };
      if (state.silentSinceMs !== undefined && state.underWay >= MOST_WHILE_SILENT) giveUp(startMs - state.silentSinceMs);
      else timer = setTimeout(look, silentMs);
      state.underWay += 1;
      return {
        end(isAnswered) {
          clearTimeout(timer);
          state.underWay -= 1;
          if (state.patient === read) state.patient = undefined;
          if (isAnswered) {
            state.heardMs = now();
            state.silentSinceMs = undefined;
            state.patient = undefined;
          }
          if (state.underWay === 0 && state.silentSinceMs === undefined) states.delete(id);
        },
      };
    },
  };
}
