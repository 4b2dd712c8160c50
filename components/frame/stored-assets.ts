// Word that an asset was made or found in this tab, for lists that would show it.
// Guarantees: a list that is not on the screen hears nothing, and asks anew when it comes.

import { useEffect, useEffectEvent } from "react";

const listeners = new Set<(assetId: string) => void>();

export function tellStored(assetId: string): void {
  for (const listener of listeners) listener(assetId);
}

export function useStoredAssets(onStored: (assetId: string) => void): void {
  const told = useEffectEvent(onStored);
  useEffect(() => {
    const listener = (assetId: string) => told(assetId);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
}
