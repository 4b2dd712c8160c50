// Keeps a folder of reproducible files within its bound: the least recently used files are removed first.

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

type Kept = { path: string; size: number; usedAt: number };

/** How much an eviction frees beyond what is needed, as a share of the bound, so that not every write evicts. */
const ROOM = 0.2;

/** Returns how many bytes are left. */
export async function evictOldest(folder: string, mostBytes: number, isInUse: (path: string) => boolean = () => false): Promise<number> {
  const kept = await list(folder);
  let bytes = kept.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= mostBytes) return bytes;
  for (const { path, size } of kept.sort((one, other) => one.usedAt - other.usedAt)) {
    if (bytes <= mostBytes * (1 - ROOM)) break;
    if (isInUse(path)) continue;
    await rm(path, { force: true });
    bytes -= size;
  }
  return bytes;
}

async function list(folder: string): Promise<Kept[]> {
  const kept: Kept[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) kept.push({ path, size: found.size, usedAt: found.mtimeMs });
  }
  return kept;
}
