import { useNow as usePageNow } from "next-intl";
import { useSyncExternalStore } from "react";

let clockMs = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** One clock for the whole page, however many times it shows; it stops while no time is shown. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  clockMs = Date.now();
  timer ??= setInterval(() => {
    clockMs = Date.now();
    for (const notify of listeners) notify();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** A value derived from the clock: the component renders again only when it changes, so equal values must be identical. */
function useReading<T>(read: (nowMs: number) => T): T {
  return useReadingFrom(useRenderedMs(), read);
}

export function useRenderedMs(): number {
  return usePageNow().getTime();
}

export function useReadingFrom<T>(renderedMs: number, read: (nowMs: number) => T): T {
  return useSyncExternalStore(
    subscribe,
    () => read(clockMs || Date.now()),
    () => read(renderedMs),
  );
}

/** Milliseconds since 1970, rounded down to seconds. The first render uses the moment at which the server rendered. */
export function useNow(): number {
  return useReading((ms) => Math.floor(ms / 1_000) * 1_000);
}

const never = () => () => undefined;

/** False on the server and in the browser's first render; content that depends on the reader's time zone waits for it. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
