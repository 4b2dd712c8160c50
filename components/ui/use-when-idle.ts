"use client";

import { useEffect } from "react";

/** Once, when the page has nothing else to do: what the first press would otherwise wait for. `act` must be a stable function. */
export function useWhenIdle(act: () => void): void {
  useEffect(() => {
    // Safari has no such moment; there the press itself asks.
    if (!("requestIdleCallback" in window)) return;
    const waiting = window.requestIdleCallback(act);
    return () => window.cancelIdleCallback(waiting);
  }, [act]);
}
