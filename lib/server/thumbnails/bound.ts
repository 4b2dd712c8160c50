// Keeps a folder of files within a bound: the least recently used go.
// Guarantees: no request waits for it, and nothing it meets there is an error; what an earlier process left is counted.

import "server-only";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Of the bound: from where on files go, and down to where, so that not every writing looks at the whole folder. */
const FULL = 0.9;
const ROOM = 0.8;
/** Of the bound: what is written between two looks; another process may write there too. */
const BETWEEN_LOOKS = 0.05;

export function createBound(folder: string, mostBytes: number) {
  /** At the last look; undefined before the first. */
  let found: number | undefined;
  let sinceLook = 0;
  let looking: Promise<void> | undefined;

  const isDue = () => found === undefined || sinceLook > mostBytes * BETWEEN_LOOKS || found + sinceLook > mostBytes * FULL;

  async function look(): Promise<void> {
    sinceLook = 0;
    const files = await list(folder);
    let total = files.reduce((sum, { size }) => sum + size, 0);
    if (total > mostBytes * FULL) {
      for (const { path, size } of files.sort((one, other) => one.usedAt - other.usedAt)) {
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
    // What is written during a look may have come too late for it.
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
        // A folder that cannot be read is looked at again with the next file.
        .catch(() => undefined)
        .finally(() => (looking = undefined));
    },
  };
}

async function list(folder: string): Promise<{ path: string; size: number; usedAt: number }[]> {
  const files: { path: string; size: number; usedAt: number }[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) files.push({ path, size: found.size, usedAt: found.mtimeMs });
  }
  return files;
}
