// The folders into which jobs write their files, one for each running job. A clean folder is used again: making and removing one for every
// job is by far the most expensive thing that a small job does to a disk.
// Guarantees: a folder that is handed out is empty; one that may hold unknown files is never used again.

import { randomUUID } from "node:crypto";
import { mkdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";

export function createWorkFolders(parent: string) {
  const spare: string[] = [];

  /** A worker that was ended may still have one write under way, which arrives while the folder is being emptied. */
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

    /** `files`: everything in the folder; undefined if that is not known. */
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
