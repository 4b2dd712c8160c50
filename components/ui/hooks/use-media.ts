import { type RefObject, useCallback, useEffect, useState, useSyncExternalStore } from "react";

/** Whether the window matches `query`. False on the server, and where `matchMedia` is not supported. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const queryList = getMediaQueryList(query);
      queryList?.addEventListener("change", onChange);
      return () => queryList?.removeEventListener("change", onChange);
    },
    [query],
  );
  return useSyncExternalStore(
    subscribe,
    () => getMediaQueryList(query)?.matches ?? false,
    () => false,
  );
}

function getMediaQueryList(query: string): MediaQueryList | undefined {
  return typeof window === "undefined" || typeof window.matchMedia !== "function" ? undefined : window.matchMedia(query);
}

/** Becomes true once the element is near the viewport, and stays true. */
export function useIsNearViewport(element: RefObject<HTMLElement | null>): boolean {
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
