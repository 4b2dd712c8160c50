import { type RefObject, useCallback, useEffect, useState, useSyncExternalStore } from "react";

/** Whether the window matches `query`; false on the server and without a screen. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const queryList = mediaQueryList(query);
      queryList?.addEventListener("change", onChange);
      return () => queryList?.removeEventListener("change", onChange);
    },
    [query],
  );
  return useSyncExternalStore(
    subscribe,
    () => mediaQueryList(query)?.matches ?? false,
    () => false,
  );
}

function mediaQueryList(query: string): MediaQueryList | undefined {
  return typeof window === "undefined" || typeof window.matchMedia !== "function" ? undefined : window.matchMedia(query);
}

/** Becomes true once the element is near the viewport, and stays true. */
export function useIsNear(element: RefObject<HTMLElement | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (!element.current || isNear) return;
    const observer = new IntersectionObserver((entries) => setNear((current) => current || entries.some((entry) => entry.isIntersecting)), {
      rootMargin: "200px",
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, isNear]);
  return isNear;
}
