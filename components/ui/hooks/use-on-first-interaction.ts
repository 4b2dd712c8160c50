import { useEffect } from "react";

const interactions = ["pointermove", "pointerdown", "keydown", "touchstart"] as const;

/** Calls `callback` once, on the user's first interaction, to preload code for the first click. `callback` must be stable. */
export function useOnFirstInteraction(callback: () => void): void {
  useEffect(() => {
    const controller = new AbortController();
    const run = () => {
      controller.abort();
      callback();
    };
    for (const interaction of interactions) window.addEventListener(interaction, run, { passive: true, signal: controller.signal });
    return () => controller.abort();
  }, [callback]);
}
