import { useEffect } from "react";

const moves = ["pointermove", "pointerdown", "keydown", "touchstart"] as const;

/** Once, when a person begins to use the page: what the first press would otherwise wait for; a mere look fetches nothing. `act` must be a stable function. */
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
