"use client";

import { useCallback, useEffect, useRef, useState } from "react";

export const HELD_MS = 5_000;

type Held<T> = {
  /** What waits for its time to pass. */
  held: T | undefined;
  /** Another one that is still held is sent at once. */
  hold: (what: T) => void;
  undo: () => void;
};

/**
 * An act that can still be taken back: it is sent after five seconds, or at once when the page goes away.
 * `send` is told whether the page is going, so that it can use a request that outlives it.
 */
export function useHeld<T>(send: (what: T, isLeaving: boolean) => void): Held<T> {
  const [held, setHeld] = useState<T>();
  const waiting = useRef<{ what: T; timer: ReturnType<typeof setTimeout> }>(undefined);
  const latestSend = useRef(send);
  useEffect(() => {
    latestSend.current = send;
  });

  const take = useCallback((): { what: T } | undefined => {
    const taken = waiting.current;
    if (!taken) return undefined;
    clearTimeout(taken.timer);
    waiting.current = undefined;
    setHeld(undefined);
    return taken;
  }, []);
  const flush = useCallback(
    (isLeaving: boolean) => {
      const taken = take();
      if (taken) latestSend.current(taken.what, isLeaving);
    },
    [take],
  );

  useEffect(() => {
    const leave = () => flush(true);
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      leave();
    };
  }, [flush]);

  const hold = useCallback(
    (what: T) => {
      flush(false);
      waiting.current = { what, timer: setTimeout(() => flush(false), HELD_MS) };
      setHeld(() => what);
    },
    [flush],
  );
  const undo = useCallback(() => void take(), [take]);
  return { held, hold, undo };
}
