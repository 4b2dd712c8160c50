// Detects fast scrolling of a gallery, so that pictures and rows are requested only for what stays in view.
// Guarantees: an `onRest` listener is called once, when its tile has been mounted for REST_MS and the gallery moves slowly or not at all. A
// frame longer than that does not count as rest.

import { createStore } from "zustand/vanilla";

export const REST_MS = 100;
/** Users can recognize pictures below this speed, in pixels per millisecond. */
const MAX_SLOW_PX_PER_MS = 0.6;

export type Motion = ReturnType<typeof createMotion>;

type Clock = { now: () => number; nextFrame: (act: () => void) => void };
const pageClock: Clock = { now: () => performance.now(), nextFrame: (act) => void requestAnimationFrame(act) };

export function createMotion({ now, nextFrame }: Clock = pageClock) {
  const isFlyingStore = createStore(() => false);
  let last = { ms: 0, px: 0 };
  let restTimer: ReturnType<typeof setTimeout> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waiting = new Map<() => void, number>();
  function checkRest() {
    timer = undefined;
    if (isFlyingStore.getState()) return;
    const ms = now();
    const dueListeners = [...waiting].filter(([, since]) => ms - since >= REST_MS - 1);
    for (const [listener] of dueListeners) waiting.delete(listener);
    for (const [listener] of dueListeners) listener();
    if (waiting.size > 0) scheduleCheck();
  }
  function scheduleCheck() {
    timer ??= setTimeout(checkRest, REST_MS);
  }
  function detectRest() {
    restTimer = undefined;
    // Scrolling during one long frame is reported in the next frame, and evaluated at its end.
    nextFrame(() =>
      nextFrame(() => {
        if (restTimer || !isFlyingStore.getState()) return;
        isFlyingStore.setState(false);
        checkRest();
      }),
    );
  }
  return {
    isFlying: isFlyingStore.getState,
    subscribe: isFlyingStore.subscribe,
    /** The list is now at `px`. */
    moved(px: number): void {
      const ms = now();
      const isFast = Math.abs(px - last.px) > MAX_SLOW_PX_PER_MS * Math.max(8, ms - last.ms);
      last = { ms, px };
      if (!isFast) return;
      isFlyingStore.setState(true);
      clearTimeout(restTimer);
      restTimer = setTimeout(detectRest, REST_MS);
    },
    /** Returns a function that cancels the wait. */
    onRest(listener: () => void): () => void {
      waiting.set(listener, now());
      if (!isFlyingStore.getState()) scheduleCheck();
      return () => void waiting.delete(listener);
    },
    stop(): void {
      clearTimeout(restTimer);
      clearTimeout(timer);
      [restTimer, timer] = [undefined, undefined];
      isFlyingStore.setState(false);
    },
  };
}
