import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Blake3Hasher } from "@napi-rs/blake-hash";

/** Returns the file's bytes and marks it as used. Returns undefined if the file can't be read. */
export async function readCachedFile(file: string): Promise<Buffer | undefined> {
  try {
    const bytes = await readFile(file);
    const now = new Date();
    // If the folder is read-only, files are removed in the order of writing.
    await utimes(file, now, now).catch(() => undefined);
    return bytes;
  } catch {
    return undefined;
  }
}

/** `temporaryPath` must be an unused name on the same disk. Returns false if the file could not be written. */
export async function writeCachedFile(file: string, temporaryPath: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporaryPath, bytes, { flag: "wx", mode: 0o600 });
    await rename(temporaryPath, file);
    return true;
  } catch {
    await rm(temporaryPath, { force: true }).catch(() => undefined);
    return false;
  }
}

export async function listFilesByAge(folder: string): Promise<{ path: string; size: number; usedAt: number }[]> {
  const files: { path: string; size: number; usedAt: number }[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (info?.isFile()) files.push({ path, size: info.size, usedAt: info.mtimeMs });
  }
  return files.sort((a, b) => a.usedAt - b.usedAt);
}

const READ_CHUNK_BYTES = 1024 ** 2;

export type Content = { hash: string; size: number };

const PART_SUFFIX = ".part";

export class ChangedContentError extends Error {}

export async function hashFile(file: string): Promise<Content> {
  return readChunks(file, async () => undefined);
}

export async function hasSize(file: string, size: number): Promise<boolean> {
  return stat(file).then(
    (info) => info.isFile() && info.size === size,
    () => false,
  );
}

/** Replaces `targetPath` with a copy of `sourcePath`. Throws ChangedContentError if the bytes do not match `expectedHash`. */
export async function copyAndHash(sourcePath: string, targetPath: string, expectedHash?: string): Promise<Content> {
  const partPath = targetPath + PART_SUFFIX;
  const target = await open(partPath, "w", 0o600);
  try {
    const content = await readChunks(sourcePath, async (chunk) => {
      for (let offset = 0; offset < chunk.byteLength;) offset += (await target.write(chunk, offset)).bytesWritten;
    });
    if (expectedHash !== undefined && content.hash !== expectedHash)
      throw new ChangedContentError(`${sourcePath} does not match its expected hash`);
    await target.sync();
    await target.close();
    await rename(partPath, targetPath);
    return content;
  } catch (error) {
    await target.close().catch(() => undefined); // closed above
    await rm(partPath, { force: true });
    throw error;
  }
}

export async function writeAtomically(file: string, text: string): Promise<Content> {
  const partPath = file + PART_SUFFIX;
  await writeFile(partPath, text, { mode: 0o600, flush: true });
  await rename(partPath, file);
  return hashFile(file);
}

async function readChunks(file: string, handleChunk: (chunk: Uint8Array) => Promise<void>): Promise<Content> {
  const hasher = new Blake3Hasher();
  let size = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: READ_CHUNK_BYTES })) {
    if (!(chunk instanceof Uint8Array)) continue;
    hasher.update(chunk);
    size += chunk.byteLength;
    await handleChunk(chunk);
  }
  return { hash: hasher.digest("hex"), size };
}
