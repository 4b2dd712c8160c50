// Detects fast scrolling of a gallery, so that thumbnails and rows are requested only for tiles that stay in view.
// Guarantees: an `onSettle` listener is called once, when its tile has been mounted for SETTLE_MS and the gallery isn't scrolling fast. Tiles in
// view come first, so that their thumbnails load first. A longer frame alone doesn't end fast scrolling.

import { createStore } from "zustand/vanilla";

export const SETTLE_MS = 100;
/** Users can recognize thumbnails below this speed. */
const MAX_SLOW_PX_PER_MS = 0.6;

export type ScrollMotion = ReturnType<typeof createScrollMotion>;

type Clock = { now: () => number; nextFrame: (callback: () => void) => void };
const pageClock: Clock = { now: () => performance.now(), nextFrame: (callback) => void requestAnimationFrame(callback) };

export function createScrollMotion({ now, nextFrame }: Clock = pageClock) {
  const isScrollingFastStore = createStore(() => false);
  let lastPosition = { ms: 0, px: 0 };
  let settleTimer: ReturnType<typeof setTimeout> | undefined;
  let listenerTimer: ReturnType<typeof setTimeout> | undefined;
  const pendingListeners = new Map<() => void, { addedAtMs: number; isInView: () => boolean }>();
  function notifyListeners() {
    listenerTimer = undefined;
    if (isScrollingFastStore.getState()) return;
    const ms = now();
    const dueListeners = [...pendingListeners].filter(([, { addedAtMs }]) => ms - addedAtMs >= SETTLE_MS - 1);
    const listenersInView = dueListeners.filter(([, { isInView }]) => isInView());
    const nextListeners = listenersInView.length > 0 ? listenersInView : dueListeners;
    for (const [listener] of nextListeners) pendingListeners.delete(listener);
    for (const [listener] of nextListeners) listener();
    if (pendingListeners.size > 0) scheduleCheck();
  }
  function scheduleCheck() {
    listenerTimer ??= setTimeout(notifyListeners, SETTLE_MS);
  }
  function detectSettling() {
    settleTimer = undefined;
    // Scrolling during one long frame is reported in the next frame, and evaluated at its end.
    nextFrame(() =>
      nextFrame(() => {
        if (settleTimer || !isScrollingFastStore.getState()) return;
        isScrollingFastStore.setState(false);
        notifyListeners();
      }),
    );
  }
  return {
    isScrollingFast: isScrollingFastStore.getState,
    subscribe: isScrollingFastStore.subscribe,
    /** Records the list's current position. */
    recordPosition(px: number): void {
      const ms = now();
      const isFast = Math.abs(px - lastPosition.px) > MAX_SLOW_PX_PER_MS * Math.max(8, ms - lastPosition.ms);
      lastPosition = { ms, px };
      if (!isFast) return;
      isScrollingFastStore.setState(true);
      clearTimeout(settleTimer);
      settleTimer = setTimeout(detectSettling, SETTLE_MS);
    },
    /** Calls the listener when scrolling settles. Returns a function that cancels it. */
    onSettle(listener: () => void, isInView = () => true): () => void {
      pendingListeners.set(listener, { addedAtMs: now(), isInView });
      if (!isScrollingFastStore.getState()) scheduleCheck();
      return () => void pendingListeners.delete(listener);
    },
    stop(): void {
      clearTimeout(settleTimer);
      clearTimeout(listenerTimer);
      [settleTimer, listenerTimer] = [undefined, undefined];
      isScrollingFastStore.setState(false);
    },
  };
}
