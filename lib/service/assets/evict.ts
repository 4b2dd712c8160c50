// Keeps a folder of reproducible files within its bound: the least recently used files are removed first.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { filesByAge } from "@/lib/shared/files";
import { type Named } from "./blob-store";

/** How much an eviction frees beyond what is needed, as a share of the bound, so that not every write evicts. */
const ROOM = 0.2;

/** Returns how many bytes are left. */
export async function evictOldest(folder: string, mostBytes: number, isInUse: (path: string) => boolean = () => false): Promise<number> {
  const kept = await filesByAge(folder);
  let bytes = kept.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= mostBytes) return bytes;
  for (const { path, size } of kept) {
    if (bytes <= mostBytes * (1 - ROOM)) break;
    if (isInUse(path)) continue;
    await rm(path, { force: true });
    bytes -= size;
  }
  return bytes;
}

/** Returns how many hashes were removed. */
export async function sweepCacheFolder(folder: string, named: Named, forget: (hash: string) => Promise<unknown>): Promise<number> {
  let removed = 0;
  for (const shard of await readdir(folder)) {
    const hashes = (await readdir(join(folder, shard))).map((rest) => shard + rest);
    const there = await named(hashes);
    for (const hash of hashes) {
      if (there.has(hash)) continue;
      await forget(hash);
      removed += 1;
    }
  }
  return removed;
}
