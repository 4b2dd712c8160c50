// Services that do not answer, by connection and address: what pages wait for ends soon then, so that a browser's few connections to the
// console stay free for what needs no service.
// Guarantees: one read, the patient one, is left its full time; any answer ends the silence, and with it what has waited through it: its
// line may be dead, and it is asked again, once; reads beside others that are answered are left alone.
// Must never: end a change, or a read that no page waits for.

import "server-only";

export type Silences = {
  /** The service has answered something. */
  heard(service: string): void;
  /** Returns how to end it, which must follow. */
  begin(service: string, silentMs: number, giveUp: GiveUp): () => void;
};
/** For how long there was no answer, in ms; or that there is one again, to another request. */
export type GiveUp = (why: { quietMs: number } | "heard") => void;

/** The patient one, and one that finds out whether the service is back; others get only as long as that takes. */
const MOST_WHILE_SILENT = 2;
const SHORT_MS = 500;

type Read = { startMs: number; giveUp: GiveUp };
type State = { underWay: Set<Read>; heardMs: number; silentSinceMs?: number; patient?: Read };

export function createSilences(now: () => number = () => performance.now()): Silences {
  /** Only services that are being asked. */
  const states = new Map<string, State>();
  return {
    heard(service) {
      const state = states.get(service);
      if (!state) return;
      state.heardMs = now();
      const wasSilent = state.silentSinceMs !== undefined;
      state.silentSinceMs = undefined;
      state.patient = undefined;
      // What has just begun may be the one that is answered.
      if (wasSilent) for (const { startMs, giveUp } of [...state.underWay]) if (startMs < state.heardMs - SHORT_MS) giveUp("heard");
    },
    begin(service, silentMs, giveUp) {
      const state = states.get(service) ?? { underWay: new Set<Read>(), heardMs: -Infinity };
      states.set(service, state);
      const startMs = now();
      const read: Read = { startMs, giveUp };
      const isShort = state.silentSinceMs !== undefined && state.underWay.size >= MOST_WHILE_SILENT;
      let timer: NodeJS.Timeout | undefined;
      const look = () => {
        const fromMs = Math.max(startMs, state.heardMs);
        const leftMs = fromMs + (isShort && state.heardMs < startMs ? SHORT_MS : silentMs) - now();
        if (leftMs > 0) return void (timer = setTimeout(look, leftMs));
        state.silentSinceMs ??= fromMs;
        state.patient ??= read;
        if (state.patient !== read) giveUp({ quietMs: now() - state.silentSinceMs });
      };
      look();
      state.underWay.add(read);
      return () => {
        clearTimeout(timer);
        state.underWay.delete(read);
        if (state.patient === read) state.patient = undefined;
        if (state.underWay.size === 0) states.delete(service);
      };
    },
  };
}
