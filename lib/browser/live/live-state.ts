// The state of live updates that pages need before the client is loaded: whether they arrive, and whether the session has ended.

import { useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";

/** `isLive`: the stream is open. `lastReceivedMs`: the time of the console's last response, by this browser's clock. */
type LiveState = { isLive: boolean; lastReceivedMs: number };

export const liveState = createStore<LiveState>(() => ({ isLive: false, lastReceivedMs: 0 }));

export function useIsLive(): boolean {
  return useSyncExternalStore(
    liveState.subscribe,
    () => liveState.getState().isLive,
    () => false,
  );
}

export type Freshness = { kind: "live" } | { kind: "aged"; seconds: number } | { kind: "offline" };

/** Without a stream, the console is polled at least this often. */
const MAX_AGE_MS = 10_500;

/** `answeredMs`: when the shown value was read or last confirmed. */
export function getFreshness(at: { nowMs: number; answeredMs: number; isLive: boolean; isFailing: boolean }): Freshness {
  if (at.isFailing) return { kind: "offline" };
  const ageMs = at.nowMs - at.answeredMs;
  return at.isLive || ageMs <= MAX_AGE_MS ? { kind: "live" } : { kind: "aged", seconds: Math.round(ageMs / 1000) };
}

const session = createStore(() => ({ isOver: false }));

/** Set by the session banner. While true, only the session is requested. Returns whether the session was restored. */
export function setSessionEnded(isOver: boolean): boolean {
  const isRestored = session.getState().isOver && !isOver;
  session.setState({ isOver });
  return isRestored;
}

export function hasSessionEnded(): boolean {
  return session.getState().isOver;
}

export function useHasSessionEnded(): boolean {
  return useSyncExternalStore(session.subscribe, hasSessionEnded, () => false);
}
