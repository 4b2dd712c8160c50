"use client";

import { useSyncExternalStore } from "react";

/** What may lie over every page, opened by a key, a button or a command: the commands, or the list of keys. */
export type Overlay = "palette" | "keys";

let open: Overlay | undefined;
const listeners = new Set<() => void>();

export function showOverlay(overlay: Overlay | undefined): void {
  open = overlay;
  for (const notify of listeners) notify();
}

export function useOverlay(): Overlay | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => open,
    () => undefined,
  );
}
