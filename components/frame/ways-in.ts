// The ways in, asked for from anywhere: a button of a page, a command. What answers stands once in the console, beside the pages.
// Guarantees: whoever asks is answered within the same press, since a browser opens its file dialog for nobody else.

/** `tray`: what is under way. */
export const waysIn = ["files", "folder", "url", "hash", "tray"] as const;
export type WayIn = (typeof waysIn)[number];

const listeners = new Set<(way: WayIn) => void>();

export function openWayIn(way: WayIn): void {
  for (const listener of listeners) listener(way);
}

export function onWayIn(listener: (way: WayIn) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
