import { useEffect, useEffectEvent } from "react";
import { contentOf } from "./asset-value";
import { type PictureContext } from "./picture-context";

/** Shows the asset's name for a picture that the workflow names only by its content, where it can be found out. */
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
