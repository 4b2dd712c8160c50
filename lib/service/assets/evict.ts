// Keeps a folder of reproducible files within its bound: the least recently used files are removed first.

import { rm } from "node:fs/promises";
import { filesByAge } from "@/lib/shared/files";

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
