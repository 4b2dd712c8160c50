"use client";

import { useSyncExternalStore } from "react";

/** The width from which a drawing and a form both have room. */
const WIDE = "(min-width: 1280px)";

export function useWide(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => query()?.matches ?? false,
    () => false,
  );
}

function subscribe(onChange: () => void): () => void {
  const list = query();
  list?.addEventListener("change", onChange);
  return () => list?.removeEventListener("change", onChange);
}

/** Absent where there is no screen. */
function query(): MediaQueryList | undefined {
  return typeof window === "undefined" || typeof window.matchMedia !== "function" ? undefined : window.matchMedia(WIDE);
}
