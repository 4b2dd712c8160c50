// Keeps a folder of files within a bound: the least recently used are deleted.
// Guarantees: no request waits for it, and no problem in the folder is an error; files of earlier processes are counted.

import "server-only";
import { rm } from "node:fs/promises";
import { filesByAge } from "@/lib/shared/files";

/** Parts of the bound: deletion starts above FULL and goes down to ROOM, so that not every write looks through the whole folder. */
const FULL = 0.9;
const ROOM = 0.8;
/** Part of the bound that may be written between two looks; another process may write there too. */
const BETWEEN_LOOKS = 0.05;

export function createBound(folder: string, mostBytes: number) {
  /** The size at the last look; undefined before the first. */
  let found: number | undefined;
  let sinceLook = 0;
  let looking: Promise<void> | undefined;

  const isDue = () => found === undefined || sinceLook > mostBytes * BETWEEN_LOOKS || found + sinceLook > mostBytes * FULL;

  async function look(): Promise<void> {
    sinceLook = 0;
    const files = await filesByAge(folder);
    let total = files.reduce((sum, { size }) => sum + size, 0);
    if (total > mostBytes * FULL) {
      for (const { path, size } of files) {
        if (total <= mostBytes * ROOM) break;
        const isGone = await rm(path, { force: true }).then(
          () => true,
          () => false,
        );
        if (isGone) total -= size;
      }
    }
    found = total;
  }

  async function lookWhileDue(): Promise<void> {
    // Files written during a look may have been missed by it.
    do await look();
    while (sinceLook > 0 && isDue());
  }

  return {
    /** Undefined before the first look. */
    bytes: () => (found === undefined ? undefined : found + sinceLook),

    grew(by: number): void {
      sinceLook += by;
      if (!isDue()) return;
      looking ??= lookWhileDue()
        // A folder that cannot be read is tried again with the next file.
        .catch(() => undefined)
        .finally(() => (looking = undefined));
    },
  };
}
