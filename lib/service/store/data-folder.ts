// Makes the service's folder. What prevents that is told in the words of the setting that chose it.

import { readdirSync, statSync } from "node:fs";
import { makeSyncedFolder } from "./sync-folder";

export function makeDataFolder(path: string): void {
  try {
    makeSyncedFolder(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`LIGHTDESK_DATA_DIR must be a folder that can be written to (${reason}).`);
  }
}

/** A start with an empty database would sweep every file of the blobs as one that no row names. */
export function requireDatabase({ database, blobs }: { database: string; blobs: string }): void {
  const hasContent = [database, `${database}-wal`].some((file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0);
  if (!hasContent) requireNoFiles(blobs, `The service's database ${database} is empty or missing`);
}

/** `why`: nothing is known of files. */
export function requireNoFiles(blobs: string, why: string): void {
  if (readdirSync(blobs).length === 0) return;
  throw new Error(`${why}, though ${blobs} holds files of users. Restore it from a backup; to begin anew, take that folder away first.`);
}
