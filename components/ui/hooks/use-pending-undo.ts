import { useCallback, useEffect, useMemo, useRef, useState } from "react";

export const UNDO_WINDOW_MS = 5_000;

/** `key` is stable from scheduling to sending. */
export type PendingAction<T> = { key: number; payload: T };
type ScheduledAction<T> = PendingAction<T> & { timer: ReturnType<typeof setTimeout> };

let lastKey = 0;
export function createActionKey(): number {
  return ++lastKey;
}

/**
 * Actions that can still be undone. Each is sent after five seconds, or at once when the page closes.
 * `isPageClosing`: use a request that outlives the page.
 */
export function usePendingUndo<T>(send: (payload: T, isPageClosing: boolean, key: number) => void) {
  const [actions, setActions] = useState<readonly PendingAction<T>[]>([]);
  const scheduledActions = useRef(new Map<number, ScheduledAction<T>>());
  const latestSend = useRef(send);
  useEffect(() => {
    latestSend.current = send;
  });

  const publish = useCallback(() => setActions([...scheduledActions.current.values()].map(({ key, payload }) => ({ key, payload }))), []);
  const undo = useCallback(
    (key: number): PendingAction<T> | undefined => {
      const entry = scheduledActions.current.get(key);
      clearTimeout(entry?.timer);
      if (scheduledActions.current.delete(key)) publish();
      return entry;
    },
    [publish],
  );
  const flush = useCallback(
    (key: number, isPageClosing: boolean) => {
      const entry = undo(key);
      if (entry) latestSend.current(entry.payload, isPageClosing, key);
    },
    [undo],
  );
  const schedule = useCallback(
    (payload: T) => {
      const key = createActionKey();
      scheduledActions.current.set(key, { key, payload, timer: setTimeout(() => flush(key, false), UNDO_WINDOW_MS) });
      publish();
    },
    [flush, publish],
  );
  /** Replaces the payload without restarting the timer. */
  const change = useCallback(
    (key: number, payload: T) => {
      const entry = scheduledActions.current.get(key);
      if (!entry) return;
      scheduledActions.current.set(key, { ...entry, payload });
      publish();
    },
    [publish],
  );

  useEffect(() => {
    const actionsByKey = scheduledActions.current;
    const flushAll = () => {
      for (const key of [...actionsByKey.keys()]) flush(key, true);
    };
    window.addEventListener("pagehide", flushAll);
    return () => {
      window.removeEventListener("pagehide", flushAll);
      flushAll();
    };
  }, [flush]);

  return useMemo(() => ({ actions, schedule, undo, change }), [actions, schedule, undo, change]);
}
