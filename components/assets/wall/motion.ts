// Whether a wall is being scrolled past, and who waits until it rests: pictures and rows are asked for by what stays in view, not by
// what flies through it.
// Guarantees: a listener of `onRest` is called once, when its tile has been there for REST_MS and the wall moves slowly or not at all; a
// frame that takes longer than that is no rest.

import { createStore } from "zustand/vanilla";

export const REST_MS = 100;
/** Slower than this, in pixels a millisecond, a person looks while they scroll. */
const SLOW = 0.6;

export type Motion = ReturnType<typeof createMotion>;

type Clock = { now: () => number; nextFrame: (act: () => void) => void };
const ofThePage: Clock = { now: () => performance.now(), nextFrame: (act) => void requestAnimationFrame(act) };

export function createMotion({ now, nextFrame }: Clock = ofThePage) {
  const flying = createStore(() => false);
  let last = { ms: 0, px: 0 };
  let landing: ReturnType<typeof setTimeout> | undefined;
  let looking: ReturnType<typeof setTimeout> | undefined;
  const waiting = new Map<() => void, number>();
  function look() {
    looking = undefined;
    if (flying.getState()) return;
    const ms = now();
    const due = [...waiting].filter(([, since]) => ms - since >= REST_MS - 1);
    for (const [listener] of due) waiting.delete(listener);
    for (const [listener] of due) listener();
    if (waiting.size > 0) lookLater();
  }
  function lookLater() {
    looking ??= setTimeout(look, REST_MS);
  }
  function land() {
    landing = undefined;
    // What was scrolled during one long frame is told in the next, and looked at by the end of it.
    nextFrame(() =>
      nextFrame(() => {
        if (landing || !flying.getState()) return;
        flying.setState(false);
        look();
      }),
    );
  }
  return {
    isFlying: flying.getState,
    subscribe: flying.subscribe,
    /** The list is at `px` now. */
    moved(px: number): void {
      const ms = now();
      const isFast = Math.abs(px - last.px) > SLOW * Math.max(8, ms - last.ms);
      last = { ms, px };
      if (!isFast) return;
      flying.setState(true);
      clearTimeout(landing);
      landing = setTimeout(land, REST_MS);
    },
    /** Returns how to stop waiting. */
    onRest(listener: () => void): () => void {
      waiting.set(listener, now());
      if (!flying.getState()) lookLater();
      return () => void waiting.delete(listener);
    },
    stop(): void {
      clearTimeout(landing);
      clearTimeout(looking);
      [landing, looking] = [undefined, undefined];
      flying.setState(false);
    },
  };
}
