import { useEffect } from "react";

const moves = ["pointermove", "pointerdown", "keydown", "touchstart"] as const;

/** Calls `act` once, when a person starts to use the page, so that the first click does not wait for a download. `act` must be stable. */
export function useAtFirstMove(act: () => void): void {
  useEffect(() => {
    const done = new AbortController();
    const begin = () => {
      done.abort();
      act();
    };
    for (const move of moves) window.addEventListener(move, begin, { passive: true, signal: done.signal });
    return () => done.abort();
  }, [act]);
}
