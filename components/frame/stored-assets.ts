// Word that an asset was made, found or changed in this tab, for lists that would show it.
// Guarantees: a list that is not on the screen hears nothing, and asks again when it is shown; hundreds at once are heard of a few times,
// the last of them never passed over.

import { createStore } from "zustand/vanilla";
import { useEffect, useEffectEvent } from "react";

/** A list that is read again for each of many files would never be read to its end. */
const GATHER_MS = 400;
/** How often it was told. */
const word = createStore(() => 0);

export function tellStored(): void {
  word.setState((count) => count + 1);
}

export function useStoredAssets(onStored: () => void): void {
  const told = useEffectEvent(onStored);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = () => {
      timer = undefined;
      told();
    };
    const forget = word.subscribe(() => void (timer ??= setTimeout(tell, GATHER_MS)));
    return () => {
      forget();
      clearTimeout(timer);
    };
  }, []);
}
