import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "@/lib/service/store/data-folder";
import { getErrorCode } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { type BlobBackend, blobPath, type Content, openFile } from "../blob-store";
import { stageFile } from "../staged-file";

export type SharedBackend = BlobBackend & {
  readMark(): Promise<string | undefined>;
  writeMark(mark: string): Promise<void>;
};

export class ForeignBackendError extends Error {}

export async function claimBackend(backend: SharedBackend, id: string): Promise<void> {
  const mark = await backend.readMark();
  if (mark === undefined) {
    if (!(await isEmpty(backend)))
      throw new ForeignBackendError(`${foreignMessage("holds files and does not say whose")} Bring files there with npm run copy-blobs.`);
    await backend.writeMark(id);
  }
  if ((mark ?? (await backend.readMark())) !== id)
    throw new ForeignBackendError(
      `${foreignMessage("holds the files of another database")} Restore that database from a backup, or set another place.`,
    );
}

async function isEmpty(backend: BlobBackend): Promise<boolean> {
  const first = await backend.list()[Symbol.asyncIterator]().next();
  return first.done === true;
}

const foreignMessage = (reason: string) =>
  `LIGHTDESK_BLOBS must be a folder that only this service uses: it ${reason}, which would be deleted.`;

/** All writes to the folder wait for `claimed` first. */
export function createGuardedBackend(backend: BlobBackend, claimed: () => Promise<void>): BlobBackend {
  return {
    ...backend,
    adopt: async (staged) => claimed().then(() => backend.adopt(staged)),
    remove: async (hash) => claimed().then(() => backend.remove(hash)),
    tidy: async () => claimed().then(() => backend.tidy()),
    async *list() {
      await claimed();
      yield* backend.list();
    },
  };
}

const HASH_LENGTH = 64;
const DAY_MS = 24 * 60 * 60_000;

export function createFolderBackend(folder: string): SharedBackend {
  const getPath = (hash: string) => blobPath(folder, hash);
  const incoming = join(dirname(folder), "incoming");
  const mark = join(dirname(folder), "lightdesk-store");

  /** Modification times of files with verified content, so that uploads don't read them again. */
  const verifiedTimes = createLru<string, number>({ max: 100_000 });
  const shards = new Map<string, Promise<void>>();
  const pendingSyncs = new Map<string, Promise<void>>();

  /** Syncs a shard's name into the parent folder, once per process. Later callers wait for the first. */
  function syncShard(shard: string): Promise<void> {
    const synced = shards.get(shard) ?? syncFolder(folder);
    shards.set(shard, synced);
    synced.catch(() => shards.delete(shard));
    return synced;
  }

  async function moveIntoStore(staged: Content): Promise<void> {
    const target = getPath(staged.hash);
    const shard = dirname(target);
    await mkdir(shard, { recursive: true, mode: 0o700 });
    // Syncs both folders in parallel.
    const shardSynced = syncShard(shard);
    if (await linkToTarget(staged, target)) return shardSynced;
    const [{ mtimeMs }] = await Promise.all([stat(target), shardSynced, syncFolder(shard)]);
    verifiedTimes.set(staged.hash, mtimeMs);
  }

  /** For a file on another disk, which cannot be linked: copies it next to the blobs, then links it to its name. */
  async function copyFromOtherDisk(staged: Content, target: string): Promise<boolean> {
    await mkdir(incoming, { recursive: true, mode: 0o700 });
    const copy = join(incoming, randomUUID());
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
  async function linkToTarget(staged: Content, target: string, isAgain = false): Promise<boolean> {
    try {
      await link(staged.path, target);
    } catch (error) {
      if (getErrorCode(error) === "EXDEV") return copyFromOtherDisk(staged, target);
      // The same bytes were stored before. Unless the disk has damaged them, they are kept.
      if (getErrorCode(error) !== "EEXIST") throw error;
      if (isAgain) return false; // another process has stored them again at the same time
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
      for (let other = pendingSyncs.get(staged.hash); other; other = pendingSyncs.get(staged.hash)) await other.catch(() => undefined);
      const work = moveIntoStore(staged).finally(() => pendingSyncs.delete(staged.hash));
      pendingSyncs.set(staged.hash, work);
      await work;
    },

    has: async (hash) =>
      stat(getPath(hash)).then(
        () => true,
        () => false,
      ),

    open: (hash) => openFile(getPath(hash)),

    withFiles: (_hashes, use) => use(getPath),

    remove: (hash) => rm(getPath(hash), { force: true }),

    async *list() {
      for (const shard of await readdir(folder)) {
        for (const rest of await readdir(join(folder, shard))) if (shard.length + rest.length === HASH_LENGTH) yield shard + rest;
      }
    },

    async tidy() {
      for (const name of await readdir(incoming).catch(() => [])) {
        const info = await stat(join(incoming, name)).catch(() => undefined);
        // Another process may still be copying a recent file.
        if (info && info.mtimeMs < Date.now() - DAY_MS) await rm(join(incoming, name), { force: true });
      }
    },

    readMark: () =>
      readFile(mark, "utf8").then(
        (text) => text.trim(),
        (error: unknown) => {
          if (getErrorCode(error) !== "ENOENT") throw error;
          return undefined;
        },
      ),

    async writeMark(text) {
      await writeFile(mark, text, { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
        if (getErrorCode(error) !== "EEXIST") throw error;
      });
    },
  };
}
