import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { ServiceError } from "../service-error";
import { HEAD_BYTES, sniffMediaType } from "./media-type";

type Sha256Thread = {
  written(bytes: number): void;
  digest(bytes: number): Promise<string>;
  stop(): void;
};

/** Runs as source text, so that no bundle has to be found for it. */
const source = `
const { parentPort, workerData } = require("node:worker_threads");
const file = require("node:fs").openSync(workerData, "r");
const hash = require("node:crypto").createHash("sha256");
const buffer = Buffer.allocUnsafe(1024 * 1024);
let done = 0;
parentPort.on("message", ({ bytes, isEnd }) => {
  while (done < bytes) {
    const read = require("node:fs").readSync(file, buffer, 0, Math.min(buffer.length, bytes - done), done);
    if (read === 0) throw new Error("the file is shorter than what was written to it");
    hash.update(buffer.subarray(0, read));
    done += read;
  }
  if (isEnd) parentPort.postMessage(hash.digest("hex"));
});`;

let isTaken = availableParallelism() === 1;

function startSha256Thread(path: string): Sha256Thread | undefined {
  if (isTaken) return undefined;
  isTaken = true;
  const thread = new Worker(source, { eval: true, env: {}, execArgv: [], workerData: path });
  const digested = new Promise<string>((resolve, reject) => {
    thread.once("message", resolve);
    thread.once("error", reject);
    thread.once("exit", () => {
      isTaken = false;
      reject(new Error("the hashing thread ended"));
    });
  });
  digested.catch(() => undefined); // reported by `digest`, if that is called
  let announced = 0;
  return {
    written(bytes) {
      if (bytes > announced) thread.postMessage({ bytes: (announced = bytes), isEnd: false });
    },
    digest(bytes) {
      thread.postMessage({ bytes, isEnd: true });
      return digested;
    },
    stop: () => void thread.terminate(),
  };
}

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

    written: () => written,

    async end(): Promise<void> {
      await flush();
      await underWay;
    },

    async sync(): Promise<void> {
      await syncing;
      if (syncError !== undefined) throw syncError;
      await handle.sync();
    },

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

/** Above this size a separate thread is worth starting. */
const MANY_BYTES = 16 * 1024 * 1024;

export type StagedFile = {
  path: string;
  hash: string;
  sha256: string;
  size: number;
  mediaType: string;
  dispose(): Promise<void>;
};

export async function stageStream(source: AsyncIterable<Uint8Array>, options: { folder: string; maxBytes: number }): Promise<StagedFile> {
  const path = join(options.folder, randomUUID());
  const dispose = () => rm(path, { force: true });
  const digest = createDigest();
  try {
    const handle = await open(path, "wx", 0o600);
    const writer = createBatchedWriter(handle);
    let thread: Sha256Thread | undefined;
    try {
      for await (const chunk of source) {
        digest.update(chunk);
        if (digest.size() > MANY_BYTES) digest.letSha256(() => (thread = startSha256Thread(path)));
        if (digest.size() > options.maxBytes)
          throw new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${options.maxBytes} bytes that this service takes.`);
        await writer.write(chunk);
        thread?.written(writer.written());
      }
      await writer.end();
      const sha256 = thread?.digest(digest.size());
      await writer.sync();
      if ((await handle.stat()).size !== digest.size())
        throw new ServiceError("INTERNAL", "The disk did not keep all bytes of the upload.");
      return { path, ...(await digest.finish(sha256)), dispose };
    } finally {
      thread?.stop();
      await writer.abandon();
      await handle.close();
    }
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** For a file that was written elsewhere (by a node or the image library): hashed where it lies, and synced. Disposing removes it. */
export async function stageFile(path: string): Promise<StagedFile> {
  const digest = createDigest();
  const handle = await open(path, "r");
  try {
    // The disk writes while the bytes are hashed.
    const synced = handle.sync();
    synced.catch(() => undefined); // awaited below
    for await (const chunk of handle.createReadStream({ highWaterMark: 256 * 1024, autoClose: false })) {
      if (chunk instanceof Uint8Array) digest.update(chunk);
    }
    await synced;
    if ((await handle.stat()).size !== digest.size()) throw new ServiceError("INTERNAL", `The output ${path} changed while it was read.`);
  } finally {
    await handle.close();
  }
  return { path, ...(await digest.finish()), dispose: () => rm(path, { force: true }) };
}

export function createDigest() {
  const blake3 = new Blake3Hasher();
  const sha256 = createHash("sha256");
  let isElsewhere: boolean | undefined;
  const head: Uint8Array[] = [];
  let size = 0;
  return {
    size: () => size,
    update(chunk: Uint8Array) {
      if (size < HEAD_BYTES) head.push(Uint8Array.prototype.slice.call(chunk, 0, HEAD_BYTES - size));
      size += chunk.byteLength;
      blake3.update(chunk);
      if (isElsewhere !== true) sha256.update(chunk);
    },
    /** `take` is called once and may return a thread; from then on that thread computes SHA-256 of the whole file. */
    letSha256(take: () => unknown) {
      isElsewhere ??= take() !== undefined;
    },
    finish: async (elsewhere?: Promise<string>) => ({
      hash: blake3.digest("hex"),
      sha256: elsewhere ? await elsewhere : sha256.digest("hex"),
      size,
      mediaType: await sniffMediaType(Buffer.concat(head)),
    }),
  };
}
