// The part of a file that has arrived, kept across restarts under the task's id.
// Guarantees: a count is reported (`onDurable`) only after that many bytes are synced; bytes from an earlier run are hashed again from the
// disk, before anything is added; a full disk is reported as such.
// Must never: hold more of the file in memory than one chunk.

import { constants } from "node:fs";
import { open, rm } from "node:fs/promises";
import { codeOf } from "@/lib/shared/error-codes";
import { createDigest, type StagedFile } from "../assets/staged-file";
import { ServiceError } from "../service-error";

export type PartialFile = Awaited<ReturnType<typeof openPartialFile>>;

const SYNC_EVERY_MS = 250;
const READ_AT_ONCE = 256 * 1024;

type Opening = {
  path: string;
  /** How many bytes are known to be durable; the rest of the file is cut off. */
  keptBytes: number;
  signal: AbortSignal;
  onDurable(bytes: number): Promise<void>;
};

export async function openPartialFile({ path, keptBytes, signal, onDurable }: Opening) {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600).catch(asFullDisk);
  let digest = createDigest();
  let durable = 0;
  let syncing: Promise<void> | undefined;
  let syncError: unknown;

  async function keep(): Promise<void> {
    // If the disk lost bytes that were synced, nothing of the file is trusted.
    const kept = (await handle.stat()).size < keptBytes ? 0 : keptBytes;
    if (kept < keptBytes) await onDurable(0);
    await handle.truncate(kept);
    const buffer = Buffer.allocUnsafe(READ_AT_ONCE);
    while (digest.size() < kept) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, kept - digest.size()), digest.size());
      if (bytesRead === 0) throw new Error(`the partial file ${path} ended while it was read`);
      digest.update(buffer.subarray(0, bytesRead));
    }
    durable = kept;
  }

  function sync(): Promise<void> {
    syncing ??= settle().finally(() => (syncing = undefined));
    return syncing;
  }

  async function settle(): Promise<void> {
    const size = digest.size();
    if (size === durable) return;
    await handle.datasync().catch(asFullDisk);
    await onDurable(size);
    durable = size;
  }

  /** A sync under way may have begun before the last bytes were written. */
  async function syncAll(): Promise<void> {
    while (durable < digest.size()) await sync();
  }

  const timer = setInterval(() => void sync().catch((error: unknown) => (syncError ??= error)), SYNC_EVERY_MS).unref();

  async function close(): Promise<void> {
    clearInterval(timer);
    await syncing?.catch(() => undefined); // reported by `append` or by the last sync
    await handle.close();
  }

  try {
    await keep();
  } catch (error) {
    await close();
    throw error;
  }

  return {
    size: () => digest.size(),

    async append(chunk: Uint8Array): Promise<void> {
      if (syncError !== undefined) throw syncError;
      const start = digest.size();
      for (let written = 0; written < chunk.byteLength;) {
        const result = await handle.write(chunk, written, chunk.byteLength - written, start + written).catch(asFullDisk);
        written += result.bytesWritten;
      }
      digest.update(chunk);
    },

    /** The last bytes, to compare them with the bytes that are sent again. */
    async readEnd(length: number): Promise<Buffer> {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, digest.size() - length);
      return buffer.subarray(0, bytesRead);
    },

    /** Discards the content: first its count becomes 0, then the bytes are removed. */
    async reset(): Promise<void> {
      await syncing?.catch(() => undefined); // the count is written anew below
      digest = createDigest();
      await onDurable(0);
      durable = 0;
      await handle.truncate(0);
    },

    /** Makes everything durable and closes the file, when the service stops. */
    async suspend(): Promise<void> {
      await syncAll().finally(close);
    },

    /** The whole file, synced and hashed, for the store. */
    async finish(): Promise<StagedFile> {
      try {
        await syncAll();
        if ((await handle.stat()).size !== digest.size())
          throw new ServiceError("INTERNAL", "The disk did not keep all bytes of the download.");
      } finally {
        await close();
      }
      return { path, ...(await digest.finish()), dispose: () => rm(path, { force: true }) };
    },

    close,
  };
}

function asFullDisk(error: unknown): never {
  if (codeOf(error) === "ENOSPC") throw new ServiceError("INSUFFICIENT_STORAGE", "The disk of the service is full.");
  throw error;
}
