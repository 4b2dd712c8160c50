import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Blake3Hasher } from "@napi-rs/blake-hash";

/** The file's bytes, and it counts as used now; undefined if it is absent, or was removed just now. */
export async function readCached(file: string): Promise<Buffer | undefined> {
  try {
    const bytes = await readFile(file);
    const now = new Date();
    // If the folder accepts no times, files are removed in the order in which they were written.
    await utimes(file, now, now).catch(() => undefined);
    return bytes;
  } catch {
    return undefined;
  }
}

/** `aside`: a name of its own on the same disk. False if the disk did not take the file. */
export async function writeCached(file: string, aside: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(aside, bytes, { flag: "wx", mode: 0o600 });
    await rename(aside, file);
    return true;
  } catch {
    await rm(aside, { force: true }).catch(() => undefined);
    return false;
  }
}

export async function filesByAge(folder: string): Promise<{ path: string; size: number; usedAt: number }[]> {
  const files: { path: string; size: number; usedAt: number }[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (info?.isFile()) files.push({ path, size: info.size, usedAt: info.mtimeMs });
  }
  return files.sort((file, other) => file.usedAt - other.usedAt);
}

const READ_CHUNK_BYTES = 1024 ** 2;

export type Content = { hash: string; size: number };

const PART = ".part";

export class ChangedContent extends Error {}

export async function hashFile(file: string): Promise<Content> {
  return pass(file, async () => undefined);
}

export async function isOfSize(file: string, size: number): Promise<boolean> {
  return stat(file).then(
    (info) => info.isFile() && info.size === size,
    () => false,
  );
}

/** Replaces the file named `to` with a copy. Throws ChangedContent if the bytes do not have the hash `expected`. */
export async function copyHashed(from: string, to: string, expected?: string): Promise<Content> {
  const part = to + PART;
  const target = await open(part, "w", 0o600);
  try {
    const content = await pass(from, async (chunk) => {
      for (let offset = 0; offset < chunk.byteLength;) offset += (await target.write(chunk, offset)).bytesWritten;
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

export async function writeWhole(file: string, text: string): Promise<Content> {
  const part = file + PART;
  await writeFile(part, text, { mode: 0o600, flush: true });
  await rename(part, file);
  return hashFile(file);
}

async function pass(file: string, take: (chunk: Uint8Array) => Promise<void>): Promise<Content> {
  const hasher = new Blake3Hasher();
  let size = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: READ_CHUNK_BYTES })) {
    if (!(chunk instanceof Uint8Array)) continue;
    hasher.update(chunk);
    size += chunk.byteLength;
    await take(chunk);
  }
  return { hash: hasher.digest("hex"), size };
}
