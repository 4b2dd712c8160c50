import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type Readable } from "node:stream";
import { getErrorCode } from "@/lib/shared/error-codes";
import { ServiceError } from "../service-error";
import { type StagedFile } from "./staged-file";

export type StoredBytes = {
  size: number;
  modifiedMs: number;
  /** Throws if the bytes are missing, for requests that don't read them. Undefined if `open` has already checked this. */
  check?(): Promise<void>;
  /** Reads from `start` to `end`, both inclusive. Closes the bytes afterwards, so don't call `close` as well. */
  read(start: number, end: number): Promise<Readable>;
  close(): Promise<void>;
  createUrl?(headers: ContentHeaders): Promise<string>;
};

export type ContentHeaders = { mediaType: string; disposition: string; cacheControl: string };

const READ_CHUNK_BYTES = 256 * 1024;
const REMEDY = "Upload the file again, or ask the operator to restore it from a backup.";

export async function openFile(path: string): Promise<StoredBytes> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    const code = getErrorCode(error);
    if (code !== "ENOENT" && code !== "ELOOP" && code !== "ENOTDIR") throw error;
    throw createMissingBytesError();
  });
  try {
    const { size, mtimeMs } = await handle.stat();
    return {
      size,
      modifiedMs: mtimeMs,
      read: (start, end) => Promise.resolve(handle.createReadStream({ start, end, highWaterMark: READ_CHUNK_BYTES })),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function createMissingBytesError(): ServiceError {
  return new ServiceError("NOT_FOUND", `The bytes of this file are missing from the store. ${REMEDY}`);
}

export function createDamagedBytesError(): ServiceError {
  return new ServiceError("INTERNAL", `The bytes of this file are damaged. ${REMEDY}`);
}

export type StagedContent = Pick<StagedFile, "path" | "hash" | "size">;

export type BlobBackend = {
  /** For workers: local files by hash, in the layout of `getBlobPath`. Missing files are not fetched. */
  folder: string;
  /** Stores a staged file under its hash. The caller holds the hash, has synced the bytes, and removes the staged file. */
  adopt(staged: StagedContent): Promise<void>;
  has(hash: string): Promise<boolean>;
  /** `size` is the size that the bytes were stored with. */
  open(hash: string, size: number): Promise<StoredBytes>;
  /** Makes blobs available as local files until `callback` ends. A missing blob has no file at its path. */
  withFiles<T>(hashes: readonly string[], callback: (getPath: (hash: string) => string) => Promise<T>): Promise<T>;
  remove(hash: string): Promise<void>;
  list(): AsyncIterable<string>;
  cleanUp(): Promise<void>;
  sweepCache?(findReferenced: FindReferenced): Promise<number>;
};

/** Hashes that are being referenced right now and must not be removed. */
export type BlobHolds = {
  hold<T>(hashes: readonly string[], callback: () => Promise<T>): Promise<T>;
  removeUnused(hash: string, remove: () => Promise<void>): Promise<boolean>;
};

export type BlobStore = Omit<BlobBackend, "remove" | "list" | "cleanUp" | "sweepCache"> &
  Pick<BlobHolds, "hold"> & {
    removeIfUnused(hash: string): Promise<void>;
    /** Removes every blob that no row references, while `canContinue` returns true. Returns how many were removed. */
    sweep(canContinue: () => boolean): Promise<number>;
    sweepCache(): Promise<number>;
  };

export type FindReferenced = (hashes: readonly string[]) => Promise<ReadonlySet<string>>;

const SWEEP_BATCH_SIZE = 500;

export function createBlobStore(backend: BlobBackend, { hold, removeUnused }: BlobHolds, findReferenced: FindReferenced): BlobStore {
  const { folder, adopt, has, open, withFiles } = backend;
  const remove = (hash: string) => removeUnused(hash, () => backend.remove(hash));

  async function* listPages(): AsyncGenerator<string[]> {
    let page: string[] = [];
    for await (const hash of backend.list()) {
      if (page.push(hash) < SWEEP_BATCH_SIZE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }

  return {
    folder,
    adopt,
    has,
    open,
    withFiles,
    hold,
    removeIfUnused: async (hash) => void (await remove(hash)),

    sweepCache: async () => (await backend.sweepCache?.(findReferenced)) ?? 0,

    async sweep(canContinue) {
      let removedCount = 0;
      for await (const page of listPages()) {
        const referencedHashes = await findReferenced(page);
        for (const hash of page) {
          if (!canContinue()) return removedCount;
          if (!referencedHashes.has(hash) && (await remove(hash))) removedCount += 1;
        }
      }
      await backend.cleanUp();
      return removedCount;
    },
  };
}

export function createLocalHolds(findReferenced: FindReferenced): BlobHolds {
  const holdCounts = new Map<string, number>();
  const pendingRemovals = new Map<string, Promise<unknown>>();

  async function removeUnreferenced(hash: string, remove: () => Promise<void>): Promise<boolean> {
    if ((await findReferenced([hash])).has(hash)) return false;
    await remove();
    return true;
  }

  function release(hash: string): void {
    const remainingCount = (holdCounts.get(hash) ?? 1) - 1;
    if (remainingCount > 0) holdCounts.set(hash, remainingCount);
    else holdCounts.delete(hash);
  }

  return {
    async hold(hashes, callback) {
      for (const hash of hashes) holdCounts.set(hash, (holdCounts.get(hash) ?? 0) + 1);
      try {
        // A pending removal must not delete what `callback` stores.
        await Promise.allSettled(hashes.flatMap((hash) => pendingRemovals.get(hash) ?? []));
        return await callback();
      } finally {
        hashes.forEach(release);
      }
    },

    async removeUnused(hash, remove) {
      // `hold` waits for this removal, and earlier holders have already committed the rows that reference the hash.
      while (pendingRemovals.has(hash)) await pendingRemovals.get(hash)?.catch(() => undefined);
      if (holdCounts.has(hash)) return false;
      const removal = removeUnreferenced(hash, remove).finally(() => pendingRemovals.delete(hash));
      pendingRemovals.set(hash, removal);
      return removal;
    },
  };
}

export function getBlobPath(folder: string, hash: string): string {
  return join(folder, hash.slice(0, 2), hash.slice(2));
}
