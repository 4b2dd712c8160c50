// Removes from a cache that is laid out by hash (FOLDER/<aa>/<rest of the hash>) what no row names any more, because another process, or
// one that was interrupted, has removed the original.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Named } from "./blob-store";

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
