// Copies of files whose content is identified by its BLAKE3 hash.
// Guarantees: a copy gets its name only when it is complete and on the disk; one with other bytes than expected gets no name.
// Must never: hold a file in memory.

import { createReadStream } from "node:fs";
import { open, rename, rm, stat, writeFile } from "node:fs/promises";
import { Blake3Hasher } from "@napi-rs/blake-hash";

const AT_ONCE_BYTES = 1024 ** 2;

export type Content = { hash: string; size: number };

/** The ending of a copy's name until it is complete. */
const PART = ".part";

export class ChangedContent extends Error {}

export async function hashFile(file: string): Promise<Content> {
  return pass(file, async () => undefined);
}

/** Whether a file exists and has that size. */
export async function isOfSize(file: string, size: number): Promise<boolean> {
  return stat(file).then(
    (found) => found.isFile() && found.size === size,
    () => false,
  );
}

/** Replaces the file named `to` with a copy. Throws ChangedContent if the bytes do not have the hash `expected`. */
export async function copyHashed(from: string, to: string, expected?: string): Promise<Content> {
  const part = to + PART;
  const target = await open(part, "w", 0o600);
  try {
    const content = await pass(from, async (chunk) => {
      for (let written = 0; written < chunk.byteLength;) written += (await target.write(chunk, written)).bytesWritten;
    });
    if (expected !== undefined && content.hash !== expected) throw new ChangedContent(`${from} does not hold what it should`);
    await target.sync();
    await target.close();
    await rename(part, to);
    return content;
  } catch (error) {
    await target.close().catch(() => undefined); // closed above
    await rm(part, { force: true });
    throw error;
  }
}

/** Writes a small file that only its owner can read. */
export async function writeWhole(file: string, text: string): Promise<Content> {
  const part = file + PART;
  await writeFile(part, text, { mode: 0o600, flush: true });
  await rename(part, file);
  return hashFile(file);
}

async function pass(file: string, take: (chunk: Uint8Array) => Promise<void>): Promise<Content> {
  const hasher = new Blake3Hasher();
  let size = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: AT_ONCE_BYTES })) {
    if (!(chunk instanceof Uint8Array)) continue;
    hasher.update(chunk);
    size += chunk.byteLength;
    await take(chunk);
  }
  return { hash: hasher.digest("hex"), size };
}
