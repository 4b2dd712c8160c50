import { useCallback, useSyncExternalStore } from "react";

/** Whether the window matches `query`; false on the server and without a screen. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const list = listOf(query);
      list?.addEventListener("change", onChange);
      return () => list?.removeEventListener("change", onChange);
    },
    [query],
  );
  return useSyncExternalStore(
    subscribe,
    () => listOf(query)?.matches ?? false,
    () => false,
  );
}

function listOf(query: string): MediaQueryList | undefined {
  return typeof window === "undefined" || typeof window.matchMedia !== "function" ? undefined : window.matchMedia(query);
}
