// A user's data files: plain files in a folder of their own.
// Guarantees: a write is whole and on the disk, or not there (temp file, sync, then rename or link, then the folder's own sync);
// without overwrite an existing file is never touched, not by two writers at once either.

import { type Dirent } from "node:fs";
import { link, lstat, mkdir, open, readdir, rename, rm, unlink } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { ServiceError } from "../service-error";
import { syncFolder } from "../store/sync-folder";
import { resolveInside } from "./paths";

/** `modified`: milliseconds since 1970. */
export type UserFile = { path: string; size: number; modified: number };
/** A bound on the answer; more than a person keeps by hand. */
const MOST_LISTED = 100_000;

export function createUserFiles(folders: { userdata: string; temp: string }, maxBytes: number) {
  const rootOf = (userId: number) => join(folders.userdata, String(userId));

  return {
    /** Paths are relative to the listed folder; a folder that does not exist is NOT_FOUND. Links and what is no file are left out. */
    async list(userId: number, folder: readonly string[], recurse: boolean): Promise<UserFile[]> {
      const top = await resolveInside(rootOf(userId), folder);
      const files: UserFile[] = [];
      const folders = [""];
      for (let at = folders.pop(); at !== undefined && files.length < MOST_LISTED; at = folders.pop()) {
        const entries = await readFolder(join(top, at));
        if (!entries && at === "" && folder.length > 0) throw new ServiceError("NOT_FOUND", "There is no such folder.");
        for (const entry of entries ?? []) {
          const path = at === "" ? entry.name : `${at}/${entry.name}`;
          if (entry.isDirectory() && recurse) folders.push(path);
          // Whoever was deleted in between is not listed.
          const found = entry.isFile() && (await describe(join(top, path)));
          if (found) files.push({ path, ...found });
        }
      }
      return files.sort((one, other) => (one.path < other.path ? -1 : 1));
    },

    async locate(userId: number, segments: readonly string[]): Promise<string> {
      const path = await resolveInside(rootOf(userId), segments);
      if (!(await describe(path))) throw new ServiceError("NOT_FOUND", "There is no such file.");
      return path;
    },

    async write(userId: number, segments: readonly string[], body: AsyncIterable<Uint8Array>, overwrite: boolean): Promise<UserFile> {
      const target = await resolveInside(rootOf(userId), segments);
      const temporary = join(folders.temp, randomUUID());
      try {
        const size = await writeWhole(temporary, body, maxBytes);
        const written = await describe(temporary);
        await makeParent(target, folders.userdata);
        await place(temporary, target, overwrite);
        await syncFolder(dirname(target));
        return { path: segments.join("/"), size, modified: written?.modified ?? Date.now() };
      } finally {
        await rm(temporary, { force: true });
      }
    },

    async move(userId: number, from: readonly string[], to: readonly string[], overwrite: boolean): Promise<UserFile> {
      const source = await this.locate(userId, from);
      const target = await resolveInside(rootOf(userId), to);
      await makeParent(target, folders.userdata);
      if (source !== target) {
        await place(source, target, overwrite);
        // A link leaves the source. After a rename it is gone, or what has its name on a disk that knows no case is the target itself.
        if (!overwrite || (await isSecondName(source, target))) await rm(source, { force: true });
        await syncFolder(dirname(target));
        await syncFolder(dirname(source));
      }
      const moved = await describe(target);
      if (!moved) throw new ServiceError("NOT_FOUND", "The file was taken away while it was moved.");
      return { path: to.join("/"), ...moved };
    },

    async remove(userId: number, segments: readonly string[]): Promise<void> {
      const path = await this.locate(userId, segments);
      try {
        await unlink(path);
      } catch (error) {
        // Of many at once one deletes it.
        if (hasCode(error, "ENOENT")) throw new ServiceError("NOT_FOUND", "The file was taken away in the meantime.");
        throw error;
      }
      await syncFolder(dirname(path));
    },
  };
}

async function writeWhole(path: string, body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
  const handle = await open(path, "wx", 0o600);
  try {
    let size = 0;
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new ServiceError("FILE_TOO_LARGE", `The file is larger than ${maxBytes} bytes.`);
      for (let written = 0; written < chunk.byteLength;) written += (await handle.write(chunk, written)).bytesWritten;
    }
    await handle.sync();
    return size;
  } finally {
    await handle.close();
  }
}

/** New folders are synced into the ones that hold them. */
async function makeParent(target: string, top: string): Promise<void> {
  try {
    const first = await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let at = dirname(target); at.length >= dirname(first).length && at.startsWith(top); at = dirname(at)) await syncFolder(at);
  } catch (error) {
    if (!hasCode(error, "EEXIST", "ENOTDIR")) throw error;
    throw new ServiceError("BAD_REQUEST", "A file with this name already exists in the path.");
  }
}

/** Takes the source away or, without `overwrite`, leaves it in place for the caller to remove. A folder in the way is no file that could be replaced. */
async function place(source: string, target: string, overwrite: boolean): Promise<void> {
  try {
    await (overwrite ? rename(source, target) : link(source, target));
  } catch (error) {
    if (hasCode(error, "EISDIR", "ENOTEMPTY", "ENOTDIR") || (await isFolder(target)))
      throw new ServiceError("BAD_REQUEST", "A folder of this name exists.");
    if (hasCode(error, "EEXIST")) throw new ServiceError("CONFLICT", "The file exists, and overwrite is false.");
    if (hasCode(error, "ENOENT")) throw new ServiceError("NOT_FOUND", "The file was taken away in the meantime.");
    throw error;
  }
}

/** Undefined where nothing is; an outage is no empty folder. */
async function readFolder(path: string): Promise<Dirent[] | undefined> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/** Undefined where no file is. */
async function describe(path: string): Promise<{ size: number; modified: number } | undefined> {
  try {
    const found = await lstat(path);
    return found.isFile() ? { size: found.size, modified: Math.floor(found.mtimeMs) } : undefined;
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/** Of one file: renaming one of its names to the other succeeds and does nothing. A file that is told twice by one name has one link. */
async function isSecondName(source: string, target: string): Promise<boolean> {
  try {
    const [left, moved] = await Promise.all([source, target].map((path) => lstat(path)));
    return left !== undefined && moved !== undefined && left.nlink > 1 && left.ino === moved.ino && left.dev === moved.dev;
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
}

const isFolder = (path: string) =>
  lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
