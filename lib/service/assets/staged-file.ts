import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { ServiceError } from "../service-error";
import { HEAD_BYTES, sniffMediaType } from "./media-type";

const BATCH_BYTES = 1024 * 1024;
/** The disk writes while the rest arrives. */
const SYNC_EVERY_BYTES = 64 * 1024 * 1024;

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
  let handle: FileHandle | undefined;
  // A disk reports a failed write to the first sync only, so the outcome of each one counts.
  let synced = Promise.resolve();
  let syncedBytes = 0;
  async function* digested() {
    for await (const chunk of source) {
      digest.update(chunk);
      if (digest.size() > options.maxBytes)
        throw new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${options.maxBytes} bytes that this service takes.`);
      yield chunk;
      if (digest.size() - syncedBytes < SYNC_EVERY_BYTES) continue;
      await synced; // a failing disk ends the upload early
      syncedBytes = digest.size();
      const opened = (handle ??= await open(path, "r"));
      synced = synced.then(() => opened.datasync());
      synced.catch(() => undefined); // awaited below
    }
  }
  const file = createWriteStream(path, { flags: "wx", mode: 0o600, highWaterMark: BATCH_BYTES, flush: true });
  try {
    await pipeline(digested(), file);
    await synced;
    if ((await stat(path)).size !== digest.size()) throw new ServiceError("INTERNAL", "The disk did not keep all bytes of the upload.");
    return { path, ...(await digest.finish()), dispose };
  } catch (error) {
    // `pipeline` may reject before the file is created.
    if (!file.closed) await new Promise<void>((resolve) => file.once("close", () => resolve()));
    await dispose();
    throw error;
  } finally {
    await synced.catch(() => undefined);
    await handle?.close();
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
  const head: Uint8Array[] = [];
  let size = 0;
  return {
    size: () => size,
    update(chunk: Uint8Array) {
      if (size < HEAD_BYTES) head.push(Uint8Array.prototype.slice.call(chunk, 0, HEAD_BYTES - size));
      size += chunk.byteLength;
      blake3.update(chunk);
      sha256.update(chunk);
    },
    finish: async () => ({
      hash: blake3.digest("hex"),
      sha256: sha256.digest("hex"),
      size,
      mediaType: await sniffMediaType(Buffer.concat(head)),
    }),
  };
}
