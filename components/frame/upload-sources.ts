// Opens an upload source from a button or a command. One component handles all of them, synchronously, because browsers open file dialogs only
// during a click.

import { hasFeature } from "@/lib/contract/connections";
import { type CurrentConnection } from "./connection/current-connection";

/** `tray` opens the uploads in progress. */
const uploadSources = ["files", "folder", "url", "hash", "tray"] as const;
export type UploadSource = (typeof uploadSources)[number];

/** The sources that the service supports. */
export function getUploadSources(connection: CurrentConnection | undefined): readonly UploadSource[] {
  if (!hasFeature(connection, "assets")) return [];
  return hasFeature(connection, "urlDownloads") ? uploadSources : uploadSources.filter((source) => source !== "url");
}

const listeners = new Set<(source: UploadSource) => void>();

export function openUploadSource(source: UploadSource): void {
  for (const listener of listeners) listener(source);
}

export function subscribeToUploadSource(listener: (source: UploadSource) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
