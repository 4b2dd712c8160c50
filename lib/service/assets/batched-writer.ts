// Gathers small chunks into large writes: one batch is written while the next is gathered. A write for every chunk of a socket would cost
// more than this copying. Data is synced along the way, so that the final sync has little left to do.
// Guarantees: bytes land in order and complete; at most two batches are in memory; a failed write or sync rejects the next call.
// Callers must not change a chunk after handing it over.

import { type FileHandle } from "node:fs/promises";

const BATCH_BYTES = 1024 * 1024;
const SYNC_EVERY_BYTES = 64 * 1024 * 1024;

export function createBatchedWriter(handle: FileHandle) {
  let batch: Uint8Array[] = [];
  let bytes = 0;
  let written = 0;
  let underWay: Promise<void> = Promise.resolve();
  let syncing: Promise<void> | undefined;
  let syncedFrom = 0;
  let syncError: unknown;

  async function flush(): Promise<void> {
    await underWay;
    if (syncError !== undefined) throw syncError;
    const [chunks, total] = [batch, bytes];
    batch = [];
    bytes = 0;
    underWay = writeWhole(handle, chunks).then(() => {
      written += total;
      if (!syncing && written - syncedFrom >= SYNC_EVERY_BYTES) syncing = syncEarly();
    });
    underWay.catch(() => undefined); // the next call reports it
  }

  /** A disk reports a failed write only once, to the first sync; the error is kept so that it is not lost. */
  async function syncEarly(): Promise<void> {
    syncedFrom = written;
    try {
      await handle.datasync();
    } catch (error) {
      syncError = error;
    } finally {
      syncing = undefined;
    }
  }

  return {
    async write(chunk: Uint8Array): Promise<void> {
      batch.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= BATCH_BYTES) await flush();
    },

    /** How many bytes are in the file, from its beginning. */
    written: () => written,

    /** Resolves once all bytes handed over are written. */
    async end(): Promise<void> {
      await flush();
      await underWay;
    },

    /** Resolves once all written bytes are on the disk. */
    async sync(): Promise<void> {
      await syncing;
      if (syncError !== undefined) throw syncError;
      await handle.sync();
    },

    /** Gives the file up: once this resolves, nothing touches it any more. */
    async abandon(): Promise<void> {
      await underWay.catch(() => undefined);
      await syncing;
    },
  };
}

/** A disk may write only part of what it is given. */
async function writeWhole(handle: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  let left = chunks;
  while (left.length > 0) {
    let { bytesWritten } = await handle.writev(left);
    left = left.flatMap((chunk) => {
      const done = Math.min(bytesWritten, chunk.byteLength);
      bytesWritten -= done;
      return done === chunk.byteLength ? [] : [chunk.subarray(done)];
    });
  }
}
