import { useEffect } from "react";
import { create } from "zustand";

/** What may open over every page by a key, a button or a command: the commands, or the list of keys. */
export type Overlay = "palette" | "keys";

export const useOverlay = create<Overlay | undefined>(() => undefined);

export function showOverlay(overlay: Overlay | undefined): void {
  useOverlay.setState(overlay, true);
}

/** `also`: more search terms. */
export type PageAction = { key: string; label: string; also?: string; run: () => void };

/** What the open page adds to the command palette. */
export const usePageActions = create<readonly PageAction[]>(() => []);

/** Adds the page's own actions to the command palette while the page is open. `actions` must be stable. */
export function useOfferActions(actions: readonly PageAction[]): void {
  useEffect(() => {
    usePageActions.setState(actions, true);
    return () => usePageActions.setState([], true);
  }, [actions]);
}
