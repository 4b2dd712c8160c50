// Notifies lists of assets created, found or changed in this tab. Notifications are coalesced, and the last one is never lost. Hidden lists get
// none, and revalidate when shown.

import { useEffect, useEffectEvent } from "react";
import { createStore } from "zustand/vanilla";

/** Coalesces notifications, since a list reloaded for each of many files would never finish loading. */
const COALESCE_MS = 400;
const notifications = createStore(() => 0);

export function notifyStoredAssets(): void {
  notifications.setState((count) => count + 1);
}

export function useStoredAssets(onStored: () => void): void {
  const notify = useEffectEvent(onStored);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const notifyListeners = () => {
      timer = undefined;
      notify();
    };
    const unsubscribe = notifications.subscribe(() => void (timer ??= setTimeout(notifyListeners, COALESCE_MS)));
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, []);
}
