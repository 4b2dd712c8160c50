// Opens an upload source from anywhere: a page's button, a command. One component handles all of them.
// Guarantees: it runs within the same click, as a browser opens its file dialog only then.

import { hasFeature } from "@/lib/contract/connections";
import { type CurrentConnection } from "./connection/current-connection";

/** `tray`: the uploads in progress. */
const uploadSources = ["files", "folder", "url", "hash", "tray"] as const;
export type UploadSource = (typeof uploadSources)[number];

/** Offers only sources that the service accepts. */
export function uploadSourcesOf(connection: CurrentConnection | undefined): readonly UploadSource[] {
  if (!hasFeature(connection, "assets")) return [];
  return hasFeature(connection, "urlDownloads") ? uploadSources : uploadSources.filter((source) => source !== "url");
}

const listeners = new Set<(source: UploadSource) => void>();

export function openUploadSource(source: UploadSource): void {
  for (const listener of listeners) listener(source);
}

export function onUploadSource(listener: (source: UploadSource) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
