import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { ServiceError } from "../service-error";
import { HEAD_BYTES, sniffMediaType } from "./media-type";
import { type Sha256Thread, startSha256Thread } from "./sha256-thread";

const BATCH_BYTES = 1024 * 1024;
/** The file is flushed in these steps while more bytes arrive. */
const SYNC_INTERVAL_BYTES = 64 * 1024 * 1024;
/** Below this size, a thread for SHA-256 isn't worthwhile. */
const MIN_THREAD_BYTES = 16 * 1024 * 1024;

export type StagedFile = {
  path: string;
  hash: string;
  sha256: string;
  size: number;
  mediaType: string;
  dispose(): Promise<void>;
};

type StageOptions = { folder: string; maxBytes: number; startThread?: typeof startSha256Thread };

export async function stageStream(source: AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedFile> {
  const { startThread = startSha256Thread } = options;
  const path = join(options.folder, randomUUID());
  const dispose = () => rm(path, { force: true });
  const digest = createDigest();
  let handle: FileHandle | undefined;
  // A disk reports a failed write to the first sync only, so every sync must be checked.
  let lastSync = Promise.resolve();
  let syncedBytes = 0;
  let thread: Sha256Thread | undefined;
  async function* digestChunks() {
    for await (const chunk of source) {
      digest.update(chunk);
      if (digest.size() > MIN_THREAD_BYTES) digest.delegateSha256(() => (thread = startThread(path)));
      if (digest.size() > options.maxBytes)
        throw new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${options.maxBytes} bytes that this service accepts.`);
      yield chunk;
      thread?.reportWritten(file.bytesWritten);
      if (digest.size() - syncedBytes < SYNC_INTERVAL_BYTES) continue;
      await lastSync; // a failing disk ends the upload early
      syncedBytes = digest.size();
      const fileHandle = (handle ??= await open(path, "r"));
      lastSync = lastSync.then(() => fileHandle.datasync());
      lastSync.catch(() => undefined); // awaited below
    }
  }
  const file = createWriteStream(path, { flags: "wx", mode: 0o600, highWaterMark: BATCH_BYTES, flush: true });
  try {
    await pipeline(digestChunks(), file);
    const sha256 = thread?.digest(digest.size());
    await lastSync;
    if ((await stat(path)).size !== digest.size()) throw new ServiceError("INTERNAL", "The disk did not store all bytes of the upload.");
    return { path, ...(await digest.finish(sha256?.catch(() => hashFileSha256(path)))), dispose };
  } catch (error) {
    // `pipeline` may reject before the file is created.
    if (!file.closed) await new Promise<void>((resolve) => file.once("close", () => resolve()));
    await dispose();
    throw error;
  } finally {
    thread?.stop();
    await lastSync.catch(() => undefined);
    await handle?.close();
  }
}

/** The fallback if the thread failed. */
async function hashFileSha256(path: string): Promise<string> {
  const sha256 = createHash("sha256");
  await pipeline(createReadStream(path), sha256);
  return sha256.digest("hex");
}

/** Hashes and syncs an existing file in place, for files of a node or the image library. `dispose` removes it. */
export async function stageFile(path: string): Promise<StagedFile> {
  const digest = createDigest();
  const handle = await open(path, "r");
  try {
    // Flushes while the bytes are hashed.
    const pendingSync = handle.sync();
    pendingSync.catch(() => undefined); // awaited below
    for await (const chunk of handle.createReadStream({ highWaterMark: 256 * 1024, autoClose: false })) {
      if (chunk instanceof Uint8Array) digest.update(chunk);
    }
    await pendingSync;
    if ((await handle.stat()).size !== digest.size()) throw new ServiceError("INTERNAL", `The output ${path} changed while it was read.`);
  } finally {
    await handle.close();
  }
  return { path, ...(await digest.finish()), dispose: () => rm(path, { force: true }) };
}

export function createDigest() {
  const blake3 = new Blake3Hasher();
  const sha256 = createHash("sha256");
  let isDelegated: boolean | undefined;
  const head: Uint8Array[] = [];
  let size = 0;
  return {
    size: () => size,
    update(chunk: Uint8Array) {
      if (size < HEAD_BYTES) head.push(Uint8Array.prototype.slice.call(chunk, 0, HEAD_BYTES - size));
      size += chunk.byteLength;
      blake3.update(chunk);
      if (isDelegated !== true) sha256.update(chunk);
    },
    /** `startThread` is called once. If it returns a thread, that thread hashes the whole file. */
    delegateSha256(startThread: () => Sha256Thread | undefined) {
      isDelegated ??= startThread() !== undefined;
    },
    finish: async (delegatedSha256?: Promise<string>) => ({
      hash: blake3.digest("hex"),
      sha256: delegatedSha256 ? await delegatedSha256 : sha256.digest("hex"),
      size,
      mediaType: await sniffMediaType(Buffer.concat(head)),
    }),
  };
}
