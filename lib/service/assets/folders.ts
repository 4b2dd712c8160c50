import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { listFilesByAge } from "@/lib/shared/files";
import { createSyncedFolder } from "../store/data-folder";
import { type FindReferenced } from "./blob-store";

export type Folders = ReturnType<typeof createFolders>;

export function createFolders(dataDir: string) {
  const folders = {
    root: dataDir,
    database: join(dataDir, "service.sqlite"),
    blobs: join(dataDir, "blobs", "blake3-v1"),
    /** Unfinished uploads. Emptied at startup, like `work`. On the same disk as the blobs, so that files can be linked. */
    temp: join(dataDir, "tmp"),
    work: join(dataDir, "work"),
    downloads: join(dataDir, "downloads"),
    thumbnails: join(dataDir, "thumbnails"),
    nodeCache: join(dataDir, "node-cache"),
    /** Copies of bytes in a bucket, created on demand. On the same disk as `temp`. */
    blobCopies: join(dataDir, "blob-copies"),
  };
  const { blobs, temp, work, downloads, thumbnails, nodeCache } = folders;
  for (const folder of [blobs, temp, work, downloads, thumbnails, nodeCache]) {
    createSyncedFolder(folder);
  }
  return folders;
}

/** Extra fraction of the limit that an eviction frees, so that not every write evicts. */
const EXTRA_EVICTION_RATIO = 0.2;

export async function evictOldest(folder: string, maxBytes: number, isInUse: (path: string) => boolean = () => false): Promise<number> {
  const files = await listFilesByAge(folder);
  let totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  if (totalBytes <= maxBytes) return totalBytes;
  for (const { path, size } of files) {
    if (totalBytes <= maxBytes * (1 - EXTRA_EVICTION_RATIO)) break;
    if (isInUse(path)) continue;
    await rm(path, { force: true });
    totalBytes -= size;
  }
  return totalBytes;
}

export async function sweepCacheFolder(
  folder: string,
  findReferenced: FindReferenced,
  removeCopy: (hash: string) => Promise<unknown>,
): Promise<number> {
  let removedCount = 0;
  for (const shard of await readdir(folder)) {
    if (!/^[0-9a-f]{2}$/.test(shard)) continue;
    const hashes = (await readdir(join(folder, shard))).map((suffix) => shard + suffix);
    const referencedHashes = await findReferenced(hashes);
    for (const hash of hashes) {
      if (referencedHashes.has(hash)) continue;
      await removeCopy(hash);
      removedCount += 1;
    }
  }
  return removedCount;
}
