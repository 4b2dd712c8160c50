// Opens a way to add files from anywhere: a page's button, a command. The component that answers exists once, beside the pages.
// Guarantees: the answer comes within the same click, as a browser opens its file dialog only then.

import { hasFeature } from "@/lib/contract/connections";
import { type CurrentConnection } from "./connection/current-connection";

/** `tray`: the uploads in progress. */
const waysIn = ["files", "folder", "url", "hash", "tray"] as const;
export type WayIn = (typeof waysIn)[number];

/** Offers only what the service accepts. */
export function waysOf(connection: CurrentConnection | undefined): readonly WayIn[] {
  if (!hasFeature(connection, "assets")) return [];
  return hasFeature(connection, "urlDownloads") ? waysIn : waysIn.filter((way) => way !== "url");
}

const listeners = new Set<(way: WayIn) => void>();

export function openWayIn(way: WayIn): void {
  for (const listener of listeners) listener(way);
}

export function onWayIn(listener: (way: WayIn) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
