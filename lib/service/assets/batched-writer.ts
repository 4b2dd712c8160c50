// Small chunks onto the disk in large writes, one under way while the next is gathered: a write for every chunk of a socket costs more
// than the copying. The disk is sent on its way meanwhile, so that the sync at the end has little left to wait for.
// Guarantees: bytes land in order and whole; at most two batches are in memory; a write or a sync that failed rejects the next call.
// The chunks must not change after they were handed over.

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
  let trouble: unknown;

  async function flush(): Promise<void> {
    await underWay;
    if (trouble !== undefined) throw trouble;
    const [chunks, total] = [batch, bytes];
    batch = [];
    bytes = 0;
    underWay = writeWhole(handle, chunks).then(() => {
      written += total;
      if (!syncing && written - syncedFrom >= SYNC_EVERY_BYTES) syncing = syncEarly();
    });
    underWay.catch(() => undefined); // told to whoever calls next
  }

  /** A disk tells of a failed write once, to whoever syncs first: that must not be lost. */
  async function syncEarly(): Promise<void> {
    syncedFrom = written;
    try {
      await handle.datasync();
    } catch (error) {
      trouble = error;
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

    /** So many bytes are in the file, from its beginning. */
    written: () => written,

    /** All that was handed over has been written. */
    async end(): Promise<void> {
      await flush();
      await underWay;
    },

    /** And is on the disk. */
    async sync(): Promise<void> {
      await syncing;
      if (trouble !== undefined) throw trouble;
      await handle.sync();
    },

    /** For when the work is given up: nothing touches the file afterwards. */
    async abandon(): Promise<void> {
      await underWay.catch(() => undefined);
      await syncing;
    },
  };
}

/** A disk may take a part of what it is given. */
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
