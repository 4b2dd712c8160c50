// Syncs a folder's own entries: a file that was linked, renamed or removed in it stays so after a loss of power.

import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder and every missing one above it, each synced into its parent. For the start, before requests are accepted. */
export function makeSyncedFolder(path: string): void {
  // Step by step instead of `recursive`: on some file systems Node's recursive mkdir never ends.
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw new Error(`${path} is no folder`);
  const parent = dirname(path);
  if (parent !== path) makeSyncedFolder(parent);
  mkdirSync(path, { mode: 0o700 });
  const handle = openSync(parent, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
