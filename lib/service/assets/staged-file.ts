// A file on its way into the store: written to the temp folder and hashed as the bytes pass, never held in memory.
// Guarantees: `stageStream` returns a complete, measured and synced file; if it throws, nothing is left behind.

import { createHash, randomUUID } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { ServiceError } from "../service-error";
import { createBatchedWriter } from "./batched-writer";
import { HEAD_BYTES, sniffMediaType } from "./media-type";
import { type Sha256Thread, startSha256Thread } from "./sha256-thread";

/** Above this size a separate thread is worth starting. */
const MANY_BYTES = 16 * 1024 * 1024;

export type StagedFile = {
  path: string;
  /** BLAKE3, 64 hexadecimal digits. */
  hash: string;
  sha256: string;
  size: number;
  /** Judged by the bytes alone. */
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

/** Computes both hashes, the length and the head of the bytes that pass. */
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
