// Puts a folder's own entries on the disk: a file that was linked, renamed or removed in it stays so after a loss of power.

import { open } from "node:fs/promises";

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
