// Files that can be made again, kept in a folder and removed by age. For servers.
// Guarantees: a file is whole or absent (written aside, then renamed); a full disk, a lost file or a folder that cannot be written costs time,
// never an answer.

import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

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
    // If it cannot be removed now, it stays where it was written aside.
    await rm(aside, { force: true }).catch(() => undefined);
    return false;
  }
}

/** All files of a folder, the least recently used first. */
export async function filesByAge(folder: string): Promise<{ path: string; size: number; usedAt: number }[]> {
  const files: { path: string; size: number; usedAt: number }[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) files.push({ path, size: found.size, usedAt: found.mtimeMs });
  }
  return files.sort((one, other) => one.usedAt - other.usedAt);
}
