// A file on its way into the store: written to the temp folder and hashed while the bytes pass, never held in memory.
// Guarantees: what `stageStream` returns is complete, measured and synced; when it throws, nothing is left behind.

import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { ServiceError } from "../service-error";
import { createBatchedWriter } from "./batched-writer";
import { HEAD_BYTES, sniffMediaType } from "./media-type";

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
    try {
      for await (const chunk of source) {
        digest.update(chunk);
        if (digest.size() > options.maxBytes)
          throw new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${options.maxBytes} bytes that this service takes.`);
        await writer.write(chunk);
      }
      await writer.end();
      await handle.sync();
      if ((await handle.stat()).size !== digest.size())
        throw new ServiceError("INTERNAL", "The disk did not keep all bytes of the upload.");
    } finally {
      await writer.abandon();
      await handle.close();
    }
    return { path, ...(await digest.finish()), dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** A file that a node wrote: hashed where it lies. Disposing removes it. */
export async function stageFile(path: string): Promise<StagedFile> {
  const digest = createDigest();
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    if (chunk instanceof Uint8Array) digest.update(chunk);
  }
  const { size } = await stat(path);
  if (size !== digest.size()) throw new ServiceError("INTERNAL", `The output ${path} changed while it was read.`);
  return { path, ...(await digest.finish()), dispose: () => rm(path, { force: true }) };
}

/** Both hashes, the length and the head of bytes that pass. */
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
