// The folders that jobs write their files into, one for each job that runs. A clean one is used again: making and removing a folder for
// every job is by far the dearest thing that a small job does to a disk.
// Guarantees: a folder that is handed out is empty; one that may hold unknown files is never used again.

import { randomUUID } from "node:crypto";
import { mkdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";

export function createWorkFolders(parent: string) {
  const spare: string[] = [];

  /** A worker that was ended may have had a write under way: it lands while the folder is emptied, once. */
  async function remove(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined); // the next start sweeps it
  }

  return {
    async take(): Promise<string> {
      const known = spare.pop();
      if (known !== undefined) return known;
      const folder = join(parent, randomUUID());
      await mkdir(folder, { mode: 0o700 });
      return folder;
    },

    /** `files` are all that lies in it; undefined where that is not known. */
    async giveBack(folder: string, files: readonly string[] | undefined): Promise<void> {
      try {
        if (!files) return await remove(folder);
        for (const file of files) await unlink(file);
        spare.push(folder);
      } catch {
        await remove(folder);
      }
    },
  };
}
