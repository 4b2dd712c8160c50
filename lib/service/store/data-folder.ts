// Makes the service's folder. Errors are worded for the setting that chose the folder.

import { type Dirent, readdirSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "@/lib/shared/error-codes";
import { makeSyncedFolder } from "./sync-folder";

export function makeDataFolder(path: string): void {
  try {
    makeSyncedFolder(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`LIGHTDESK_DATA_DIR must be a folder that can be written to (${reason}).`);
  }
}

/** With an empty database, a start would sweep every file of the blobs as one that no row names. */
export function requireDatabase({ database, blobs }: { database: string; blobs: string }): void {
  const hasContent = [database, `${database}-wal`].some((file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0);
  if (!hasContent) requireNoFiles(blobs, `The service's database ${database} is empty or missing`);
}

/** `why`: the reason that nothing is known of the files. */
export function requireNoFiles(blobs: string, why: string): void {
  if (readdirSync(blobs).length === 0) return;
  throw new Error(`${why}, though ${blobs} holds files of users. Restore it from a backup; to begin anew, take that folder away first.`);
}

/** The files of the folder and of those below it, without links. None if the folder does not exist. */
export async function* filesBelow(folder: string): AsyncGenerator<string> {
  for (const entry of await readFolder(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
  }
}

export async function holdsFiles(folder: string): Promise<boolean> {
  return !(await filesBelow(folder).next()).done;
}

/** Empty if the folder does not exist. */
export async function readFolder(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
