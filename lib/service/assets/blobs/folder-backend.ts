import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "@/lib/service/store/data-folder";
import { getErrorCode } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { type BlobBackend, getBlobPath, openFile, type StagedContent } from "../blob-store";
import { stageFile } from "../staged-file";

export type SharedBackend = BlobBackend & {
  readStoreId(): Promise<string | undefined>;
  writeStoreId(id: string): Promise<void>;
};

export class ForeignBackendError extends Error {}

export async function claimBackend(backend: SharedBackend, id: string): Promise<void> {
  const storeId = await backend.readStoreId();
  if (storeId === undefined) {
    if (!(await isEmpty(backend)))
      throw new ForeignBackendError(
        `${createForeignMessage("contains files without an owner marker")} Copy files there with npm run copy-blobs.`,
      );
    await backend.writeStoreId(id);
  }
  if ((storeId ?? (await backend.readStoreId())) !== id)
    throw new ForeignBackendError(
      `${createForeignMessage("contains the files of another database")} Restore that database from a backup, or choose another location.`,
    );
}

async function isEmpty(backend: BlobBackend): Promise<boolean> {
  const { done } = await backend.list()[Symbol.asyncIterator]().next();
  return done === true;
}

const createForeignMessage = (reason: string) =>
  `LIGHTDESK_BLOBS must be a location that only this service uses: it ${reason}, which would be deleted.`;

/** Delays all writes until the store is claimed. */
export function createGuardedBackend(backend: BlobBackend, waitForClaim: () => Promise<void>): BlobBackend {
  return {
    ...backend,
    adopt: async (staged) => waitForClaim().then(() => backend.adopt(staged)),
    remove: async (hash) => waitForClaim().then(() => backend.remove(hash)),
    cleanUp: async () => waitForClaim().then(() => backend.cleanUp()),
    async *list() {
      await waitForClaim();
      yield* backend.list();
    },
  };
}

const HASH_LENGTH = 64;
const DAY_MS = 24 * 60 * 60_000;

export function createFolderBackend(folder: string): SharedBackend {
  const getPath = (hash: string) => getBlobPath(folder, hash);
  const incomingFolder = join(dirname(folder), "incoming");
  const markerPath = join(dirname(folder), "lightdesk-store");

  /** Modification times of files with verified content, so that uploads don't read them again. */
  const verifiedTimes = createLru<string, number>({ max: 100_000 });
  const shardSyncs = new Map<string, Promise<void>>();
  const pendingAdoptions = new Map<string, Promise<void>>();

  /** Syncs a shard's name into the parent folder, once per process. Later callers wait for the first. */
  function syncShard(shard: string): Promise<void> {
    const shardSync = shardSyncs.get(shard) ?? syncFolder(folder);
    shardSyncs.set(shard, shardSync);
    shardSync.catch(() => shardSyncs.delete(shard));
    return shardSync;
  }

  async function moveIntoStore(staged: StagedContent): Promise<void> {
    const target = getPath(staged.hash);
    const shard = dirname(target);
    await mkdir(shard, { recursive: true, mode: 0o700 });
    // Runs in parallel with the sync of the shard itself.
    const shardSync = syncShard(shard);
    if (await linkToTarget(staged, target)) return shardSync;
    const [{ mtimeMs }] = await Promise.all([stat(target), shardSync, syncFolder(shard)]);
    verifiedTimes.set(staged.hash, mtimeMs);
  }

  /** Copies a file from another disk, which can't be linked, next to the blobs, then links the copy. */
  async function copyFromOtherDisk(staged: StagedContent, target: string): Promise<boolean> {
    await mkdir(incomingFolder, { recursive: true, mode: 0o700 });
    const copy = join(incomingFolder, randomUUID());
    try {
      await copyFile(staged.path, copy, constants.COPYFILE_EXCL);
      const handle = await open(copy, "r+");
      await handle.sync().finally(() => handle.close());
      return await linkToTarget({ ...staged, path: copy }, target);
    } finally {
      await rm(copy, { force: true });
    }
  }

  /** Returns true if the target already exists, synced and with these bytes. */
  async function linkToTarget(staged: StagedContent, target: string, isRetry = false): Promise<boolean> {
    try {
      await link(staged.path, target);
    } catch (error) {
      if (getErrorCode(error) === "EXDEV") return copyFromOtherDisk(staged, target);
      // The same bytes are already stored. They are only replaced if the disk has damaged them.
      if (getErrorCode(error) !== "EEXIST") throw error;
      if (isRetry) return false; // another process has replaced them at the same time
      const { size, mtimeMs } = await stat(target);
      if (size === staged.size && verifiedTimes.get(staged.hash) === mtimeMs) return true;
      if (size !== staged.size || (await stageFile(target)).hash !== staged.hash) {
        await rm(target, { force: true });
        return linkToTarget(staged, target, true);
      }
    }
    return false;
  }

  return {
    folder,

    async adopt(staged) {
      // Stores equal content sequentially, so that the later call finds what the earlier one has stored.
      while (pendingAdoptions.has(staged.hash)) await pendingAdoptions.get(staged.hash)?.catch(() => undefined);
      const adoption = moveIntoStore(staged).finally(() => pendingAdoptions.delete(staged.hash));
      pendingAdoptions.set(staged.hash, adoption);
      await adoption;
    },

    has: async (hash) =>
      stat(getPath(hash)).then(
        () => true,
        () => false,
      ),

    open: (hash) => openFile(getPath(hash)),

    withFiles: (_hashes, callback) => callback(getPath),

    remove: (hash) => rm(getPath(hash), { force: true }),

    async *list() {
      for (const shard of await readdir(folder)) {
        if (!/^[0-9a-f]{2}$/.test(shard)) continue;
        for (const suffix of await readdir(join(folder, shard))) if (shard.length + suffix.length === HASH_LENGTH) yield shard + suffix;
      }
    },

    async cleanUp() {
      for (const name of await readdir(incomingFolder).catch(() => [])) {
        const stats = await stat(join(incomingFolder, name)).catch(() => undefined);
        // Another process may still be copying a recent file.
        if (stats && stats.mtimeMs < Date.now() - DAY_MS) await rm(join(incomingFolder, name), { force: true });
      }
    },

    readStoreId: () =>
      readFile(markerPath, "utf8").then(
        (text) => text.trim(),
        (error: unknown) => {
          if (getErrorCode(error) !== "ENOENT") throw error;
          return undefined;
        },
      ),

    async writeStoreId(id) {
      await writeFile(markerPath, id, { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
        if (getErrorCode(error) !== "EEXIST") throw error;
      });
    },
  };
}
