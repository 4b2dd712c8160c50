// Announces assets created, found or changed in this tab to lists that may show them.
// Guarantees: a hidden list gets no announcement, and asks again when it is shown; hundreds at once cause only a few announcements,
// and the last one is never lost.

import { useEffect, useEffectEvent } from "react";
import { createStore } from "zustand/vanilla";

/** A list that is read again for each of many files would never finish reading. */
const GATHER_MS = 400;
const word = createStore(() => 0);

export function tellStored(): void {
  word.setState((count) => count + 1);
}

export function useStoredAssets(onStored: () => void): void {
  const notify = useEffectEvent(onStored);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const notifyListeners = () => {
      timer = undefined;
      notify();
    };
    const forget = word.subscribe(() => void (timer ??= setTimeout(notifyListeners, GATHER_MS)));
    return () => {
      forget();
      clearTimeout(timer);
    };
  }, []);
}
