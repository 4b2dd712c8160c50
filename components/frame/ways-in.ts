// The ways in, asked for from anywhere: a button of a page, a command. What answers is there once in the console, beside the pages.
// Guarantees: whoever asks is answered within the same press, since a browser opens its file dialog only then.

/** `tray`: what is under way. */
const waysIn = ["files", "folder", "url", "hash", "tray"] as const;
export type WayIn = (typeof waysIn)[number];

/** What a service does not take is not offered: a local server fetches nothing from an address, and one without assets takes none. */
export function waysOf(connection: { isLocal?: boolean; hasNoAssets?: boolean } | undefined): readonly WayIn[] {
  if (connection?.hasNoAssets) return [];
  return connection?.isLocal ? waysIn.filter((way) => way !== "url") : waysIn;
}

const listeners = new Set<(way: WayIn) => void>();

export function openWayIn(way: WayIn): void {
  for (const listener of listeners) listener(way);
}

export function onWayIn(listener: (way: WayIn) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
