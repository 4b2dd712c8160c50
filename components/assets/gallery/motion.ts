// Detects fast scrolling of a gallery, so that pictures and rows are requested only for what stays in view.
// Guarantees: a listener of `onRest` is called once, when its tile has been mounted for REST_MS and the gallery moves slowly or not at all;
// a frame longer than that does not count as rest.

import { createStore } from "zustand/vanilla";

export const REST_MS = 100;
/** Below this speed, in pixels per millisecond, a person looks while scrolling. */
const SLOW = 0.6;

export type Motion = ReturnType<typeof createMotion>;

type Clock = { now: () => number; nextFrame: (act: () => void) => void };
const ofThePage: Clock = { now: () => performance.now(), nextFrame: (act) => void requestAnimationFrame(act) };

export function createMotion({ now, nextFrame }: Clock = ofThePage) {
  const flying = createStore(() => false);
  let last = { ms: 0, px: 0 };
  let restTimer: ReturnType<typeof setTimeout> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waiting = new Map<() => void, number>();
  function look() {
    timer = undefined;
    if (flying.getState()) return;
    const ms = now();
    const due = [...waiting].filter(([, since]) => ms - since >= REST_MS - 1);
    for (const [listener] of due) waiting.delete(listener);
    for (const [listener] of due) listener();
    if (waiting.size > 0) lookLater();
  }
  function lookLater() {
    timer ??= setTimeout(look, REST_MS);
  }
  function land() {
    restTimer = undefined;
    // The scrolling of one long frame is reported in the next one, and evaluated at its end.
    nextFrame(() =>
      nextFrame(() => {
        if (restTimer || !flying.getState()) return;
        flying.setState(false);
        look();
      }),
    );
  }
  return {
    isFlying: flying.getState,
    subscribe: flying.subscribe,
    /** The list is now at `px`. */
    moved(px: number): void {
      const ms = now();
      const isFast = Math.abs(px - last.px) > SLOW * Math.max(8, ms - last.ms);
      last = { ms, px };
      if (!isFast) return;
      flying.setState(true);
      clearTimeout(restTimer);
      restTimer = setTimeout(land, REST_MS);
    },
    /** Returns a function that cancels the wait. */
    onRest(listener: () => void): () => void {
      waiting.set(listener, now());
      if (!flying.getState()) lookLater();
      return () => void waiting.delete(listener);
    },
    stop(): void {
      clearTimeout(restTimer);
      clearTimeout(timer);
      [restTimer, timer] = [undefined, undefined];
      flying.setState(false);
    },
  };
}
