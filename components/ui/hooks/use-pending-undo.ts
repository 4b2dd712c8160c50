import { useCallback, useEffect, useMemo, useRef, useState } from "react";

export const UNDO_MS = 5_000;

/** `key` identifies the act from its beginning. */
export type PendingAct<T> = { key: number; what: T };
type Waiting<T> = PendingAct<T> & { timer: ReturnType<typeof setTimeout> };

let lastKey = 0;
export function newActKey(): number {
  return ++lastKey;
}

/**
 * Acts that can still be undone, each with its own time: sent after five seconds, or at once when the page closes.
 * `send` gets whether the page is closing, so that it can use a request that outlives the page.
 */
export function usePendingUndo<T>(send: (what: T, isLeaving: boolean, key: number) => void) {
  const [acts, setActs] = useState<readonly PendingAct<T>[]>([]);
  const waiting = useRef(new Map<number, Waiting<T>>());
  const latestSend = useRef(send);
  useEffect(() => {
    latestSend.current = send;
  });

  const show = useCallback(() => setActs([...waiting.current.values()].map(({ key, what }) => ({ key, what }))), []);
  const undo = useCallback(
    (key: number): PendingAct<T> | undefined => {
      const taken = waiting.current.get(key);
      clearTimeout(taken?.timer);
      if (waiting.current.delete(key)) show();
      return taken;
    },
    [show],
  );
  const flush = useCallback(
    (key: number, isLeaving: boolean) => {
      const taken = undo(key);
      if (taken) latestSend.current(taken.what, isLeaving, key);
    },
    [undo],
  );
  const schedule = useCallback(
    (what: T) => {
      const key = newActKey();
      waiting.current.set(key, { key, what, timer: setTimeout(() => flush(key, false), UNDO_MS) });
      show();
    },
    [flush, show],
  );
  /** Replaces what will be sent, without extending its time. */
  const change = useCallback(
    (key: number, what: T) => {
      const known = waiting.current.get(key);
      if (!known) return;
      waiting.current.set(key, { ...known, what });
      show();
    },
    [show],
  );

  useEffect(() => {
    const all = waiting.current;
    const leave = () => {
      for (const key of [...all.keys()]) flush(key, true);
    };
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      leave();
    };
  }, [flush]);

  return useMemo(() => ({ acts, schedule, undo, change }), [acts, schedule, undo, change]);
}
