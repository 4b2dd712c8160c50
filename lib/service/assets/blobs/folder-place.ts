// Blobs in a folder: blobs/blake3-v1/<aa>/<rest of the hash>.
// Guarantees: a file gets its name only after it was hashed, measured and synced; a name is synced into its folder, and a new folder into
// the one above, before anybody is told, whoever gave it the name; the same content again changes nothing on disk;
// bytes that the disk has changed are replaced by the next upload of them.
// Must never rename over a blob or hold one in memory.

import { rmSync } from "node:fs";
import { link, mkdir, readdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "@/lib/service/store/sync-folder";
import { blobPath } from "../blob-path";
import { type BlobPlace, type Content } from "../blob-store";
import { stageFile } from "../staged-file";
import { openFile } from "./stored-bytes";

const HASH_LENGTH = 64;
const MOST_SEEN = 100_000;

export function createFolderPlace(folder: string): BlobPlace {
  const pathOf = (hash: string) => blobPath(folder, hash);

  /**
   * Files that were seen to hold what their name says, and whose name was synced, by the time of their last change: each is read once, not
   * with every upload.
   */
  const seen = new Map<string, number>();
  const shards = new Map<string, Promise<void>>();
  const underWay = new Map<string, Promise<void>>();

  /** Into the one above, once in a process: whoever comes second waits for whoever made it. */
  function syncShard(shard: string): Promise<void> {
    const synced = shards.get(shard) ?? syncFolder(folder);
    shards.set(shard, synced);
    synced.catch(() => shards.delete(shard));
    return synced;
  }

  async function place(staged: Content): Promise<void> {
    const target = pathOf(staged.hash);
    const shard = dirname(target);
    await mkdir(shard, { recursive: true, mode: 0o700 });
    // The disk writes both folders in one go.
    const shardSynced = syncShard(shard);
    if (await giveName(staged, target)) return shardSynced;
    const [{ mtimeMs }] = await Promise.all([stat(target), shardSynced, syncFolder(shard)]);
    if (seen.size >= MOST_SEEN) seen.clear();
    seen.set(staged.hash, mtimeMs);
  }

  /** Whether the name was known to be there, synced and of these bytes. */
  async function giveName(staged: Content, target: string): Promise<boolean> {
    try {
      await link(staged.path, target);
    } catch (error) {
      // The same bytes were stored before: the wanted outcome, unless the disk has not kept them. Then these take their place.
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      const { size, mtimeMs } = await stat(target);
      if (size === staged.size && seen.get(staged.hash) === mtimeMs) return true;
      if (size !== staged.size || (await stageFile(target)).hash !== staged.hash) {
        await unlink(target);
        await link(staged.path, target);
      }
    }
    return false;
  }

  return {
    folder,

    async adopt(staged) {
      // One after the other where the content is the same: the later one finds what the earlier one made durable.
      for (let other = underWay.get(staged.hash); other; other = underWay.get(staged.hash)) await other.catch(() => undefined);
      const work = place(staged).finally(() => underWay.delete(staged.hash));
      underWay.set(staged.hash, work);
      await work;
    },

    has: async (hash) =>
      stat(pathOf(hash)).then(
        () => true,
        () => false,
      ),

    open: (hash) => openFile(pathOf(hash)),

    withFiles: (_hashes, use) => use(pathOf),

    // Synchronous, for the sake of createOwnHolds.
    async remove(hash) {
      rmSync(pathOf(hash), { force: true });
    },

    async *list() {
      for (const shard of await readdir(folder)) {
        for (const rest of await readdir(join(folder, shard))) if (shard.length + rest.length === HASH_LENGTH) yield shard + rest;
      }
    },
  };
}
