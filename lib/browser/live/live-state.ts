// State that pages need before the live client is loaded: whether live updates arrive, and whether the session has ended.

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

/** `updatedMs`: the time at which the shown value was read or last confirmed. */
export function getFreshness(options: { nowMs: number; updatedMs: number; isLive: boolean; isFailing: boolean }): Freshness {
  if (options.isFailing) return { kind: "offline" };
  const ageMs = options.nowMs - options.updatedMs;
  return options.isLive || ageMs <= MAX_AGE_MS ? { kind: "live" } : { kind: "aged", seconds: Math.round(ageMs / 1000) };
}

const session = createStore(() => ({ hasEnded: false }));

/** Called by the session banner. While the session has ended, only the session is requested. Returns true if the session was restored. */
export function setSessionEnded(hasEnded: boolean): boolean {
  const isRestored = session.getState().hasEnded && !hasEnded;
  session.setState({ hasEnded });
  return isRestored;
}

export function hasSessionEnded(): boolean {
  return session.getState().hasEnded;
}

export function useHasSessionEnded(): boolean {
  return useSyncExternalStore(session.subscribe, hasSessionEnded, () => false);
}
