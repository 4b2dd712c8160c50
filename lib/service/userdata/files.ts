// A user's data files: plain files in a folder of their own.
// Guarantees: a write is whole or not there (temp file, sync, then rename or link); without overwrite an existing file is never touched.

import { link, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { ServiceError } from "../service-error";
import { resolveInside } from "./paths";

export type UserFile = { path: string; size: number; modified: number };
const MOST_LISTED = 10_000;

export function createUserFiles(folders: { userdata: string; temp: string }, maxBytes: number) {
  const rootOf = (userId: number) => join(folders.userdata, String(userId));

  return {
    /** Paths are relative to the listed folder; a folder that does not exist is NOT_FOUND. */
    async list(userId: number, folder: readonly string[], recurse: boolean): Promise<UserFile[]> {
      const top = await resolveInside(rootOf(userId), folder);
      const files: UserFile[] = [];
      const open = [""];
      for (let at = open.shift(); at !== undefined && files.length < MOST_LISTED; at = open.shift()) {
        const entries = await readdir(join(top, at), { withFileTypes: true }).catch(() => undefined);
        if (!entries && at === "" && folder.length > 0) throw new ServiceError("NOT_FOUND", "There is no such folder.");
        for (const entry of (entries ?? []).sort((a, b) => (a.name < b.name ? -1 : 1))) {
          const path = at === "" ? entry.name : `${at}/${entry.name}`;
          if (entry.isDirectory() && recurse) open.push(path);
          if (entry.isFile()) files.push({ path, ...(await describe(join(top, path))) });
        }
      }
      return files;
    },

    async locate(userId: number, segments: readonly string[]): Promise<string> {
      const path = await resolveInside(rootOf(userId), segments);
      const found = await stat(path).catch(() => undefined);
      if (!found?.isFile()) throw new ServiceError("NOT_FOUND", "There is no such file.");
      return path;
    },

    async write(userId: number, segments: readonly string[], body: AsyncIterable<Uint8Array>, overwrite: boolean): Promise<UserFile> {
      const target = await resolveInside(rootOf(userId), segments);
      const temporary = join(folders.temp, randomUUID());
      try {
        await writeWhole(temporary, body, maxBytes);
        await makeParent(target);
        await place(temporary, target, overwrite);
      } finally {
        await rm(temporary, { force: true });
      }
      return { path: segments.join("/"), ...(await describe(target)) };
    },

    async move(userId: number, from: readonly string[], to: readonly string[], overwrite: boolean): Promise<UserFile> {
      const source = await this.locate(userId, from);
      const target = await resolveInside(rootOf(userId), to);
      await makeParent(target);
      if (source !== target) {
        await place(source, target, overwrite);
        await rm(source, { force: true });
      }
      return { path: to.join("/"), ...(await describe(target)) };
    },

    async remove(userId: number, segments: readonly string[]): Promise<void> {
      await rm(await this.locate(userId, segments));
    },
  };
}

async function writeWhole(path: string, body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    let size = 0;
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new ServiceError("FILE_TOO_LARGE", `The file is larger than ${maxBytes} bytes.`);
      for (let written = 0; written < chunk.byteLength;) written += (await handle.write(chunk, written)).bytesWritten;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function makeParent(target: string): Promise<void> {
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  } catch {
    throw new ServiceError("CONFLICT", "A file stands where a folder of this path would be.");
  }
}

/** Leaves the source in place or takes it away; the caller removes what is left. */
async function place(source: string, target: string, overwrite: boolean): Promise<void> {
  if ((await stat(target).catch(() => undefined))?.isDirectory()) throw new ServiceError("CONFLICT", "A folder of this name exists.");
  if (overwrite) return rename(source, target);
  try {
    await link(source, target);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw new ServiceError("CONFLICT", "The file exists, and overwrite is false.");
    throw error;
  }
}

async function describe(path: string): Promise<{ size: number; modified: number }> {
  const { size, mtimeMs } = await stat(path);
  return { size, modified: Math.floor(mtimeMs) };
}
