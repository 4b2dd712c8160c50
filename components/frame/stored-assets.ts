// Notifies lists of assets when one is created, found or changed in this tab. Notifications are coalesced, and the last one is never lost.
// Hidden lists are not notified. They revalidate when shown.

import { useEffect, useEffectEvent } from "react";
import { createStore } from "zustand/vanilla";

/** Notifications are coalesced, because a list that reloads for each of many files would never finish loading. */
const COALESCE_MS = 400;
const notifications = createStore(() => 0);

export function notifyStoredAssets(): void {
  notifications.setState((count) => count + 1);
}

export function useStoredAssets(onStored: () => void): void {
  const handleStored = useEffectEvent(onStored);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const runNotification = () => {
      timer = undefined;
      handleStored();
    };
    const unsubscribe = notifications.subscribe(() => void (timer ??= setTimeout(runNotification, COALESCE_MS)));
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, []);
}
