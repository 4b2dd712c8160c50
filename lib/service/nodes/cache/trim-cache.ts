// Keeps the folder of stored results within its bound: the least recently used go first.
// Must never: touch blobs; the entries only name them.

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** How much an entry takes on a disk, however short it is. */
const BLOCK = 4096;
/** The folder is trimmed to this share of the bound, so that not every round has something to do. */
const SLACK = 0.9;

type Entry = { path: string; bytes: number; usedMs: number };

/** Returns how many bytes are left; undefined if `goOn` ended it before it knew. */
export async function trimCache(folder: string, maxBytes: number, goOn: () => boolean): Promise<number | undefined> {
  const entries: Entry[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    if (!goOn()) return undefined;
    const path = join(folder, name);
    // It may have gone or been replaced since the folder was read.
    const found = name.endsWith(".json") ? await stat(path).catch(() => undefined) : undefined;
    if (found?.isFile()) entries.push({ path, bytes: Math.ceil(found.size / BLOCK) * BLOCK, usedMs: found.mtimeMs });
  }
  let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return total;
  for (const { path, bytes } of entries.sort((a, b) => a.usedMs - b.usedMs)) {
    if (total <= maxBytes * SLACK || !goOn()) break;
    await rm(path, { force: true });
    total -= bytes;
  }
  return total;
}
