import { create } from "zustand";

/** What may open over every page by a key, a button or a command: the commands, or the list of keys. */
export type Overlay = "palette" | "keys";

export const useOverlay = create<Overlay | undefined>(() => undefined);

export function showOverlay(overlay: Overlay | undefined): void {
  useOverlay.setState(overlay, true);
}
