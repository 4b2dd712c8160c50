import { useEffect, useEffectEvent } from "react";
import { contentOf } from "./asset-value";
import { type PictureContext } from "./picture-context";

/** A picture that the workflow names by its content alone gets the name of its asset, where that can be known. */
export function useStoredName(value: string, { storedName, onNamed }: PictureContext, ownName: string | undefined): void {
  const isNameless = ownName === undefined && contentOf(value) !== undefined;
  const ask = useEffectEvent(async (signal: AbortSignal) => {
    const found = await storedName(value);
    if (found !== undefined && !signal.aborted) onNamed(value, found);
  });
  useEffect(() => {
    if (!isNameless) return;
    const asking = new AbortController();
    void ask(asking.signal);
    return () => asking.abort();
  }, [value, isNameless]);
}
