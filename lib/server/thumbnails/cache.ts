// Thumbnails on disk, bounded: one file each, the least recently used go first. And one making for many askers.
// Guarantees: a file is whole or absent (written aside, then renamed); a full disk or a lost file costs speed, not an answer.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeExactJson } from "@/lib/contract/exact-json";
import { type Failure } from "@/lib/contract/failure";
import { ok, type Result } from "@/lib/shared/result";

type Made = Result<Uint8Array, Failure>;
export type ThumbnailCache = {
  /** `make` runs once for all who ask meanwhile; a failure is not remembered. */
  get(name: readonly string[], make: () => Promise<Made>): Promise<Made>;
};

const WRITES_BETWEEN_SWEEPS = 200;

export function createThumbnailCache({ folder, mostBytes = 512 * 1024 ** 2 }: { folder: string; mostBytes?: number }): ThumbnailCache {
  const making = new Map<string, Promise<Made>>();
  let writes = 0;

  async function readOrMake(file: string, make: () => Promise<Made>): Promise<Made> {
    const kept = await readKept(file);
    if (kept) return ok(kept);
    const made = await make();
    if (made.ok && (await keep(folder, file, made.value))) {
      writes += 1;
      if (writes % WRITES_BETWEEN_SWEEPS === 0) await sweep(folder, mostBytes);
    }
    return made;
  }

  return {
    get(name, make) {
      const key = createHash("sha256").update(writeExactJson(name)).digest("hex");
      const running = making.get(key);
      if (running) return running;
      const started = readOrMake(join(folder, key.slice(0, 2), `${key.slice(2)}.webp`), make).finally(() => making.delete(key));
      making.set(key, started);
      return started;
    },
  };
}

async function readKept(file: string): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readFile(file);
    const now = new Date();
    await utimes(file, now, now);
    return bytes;
  } catch {
    // Absent, or swept at this moment: it is made again.
    return undefined;
  }
}

/** False where the disk does not take it: the thumbnail is answered all the same. */
async function keep(folder: string, file: string, bytes: Uint8Array): Promise<boolean> {
  const aside = join(folder, `${randomUUID()}.part`);
  try {
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(aside, bytes, { flag: "wx" });
    await rename(aside, file);
    return true;
  } catch {
    await rm(aside, { force: true });
    return false;
  }
}

async function sweep(folder: string, mostBytes: number): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  const files: { path: string; size: number; usedAt: number }[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) files.push({ path, size: found.size, usedAt: found.mtimeMs });
  }
  let total = files.reduce((sum, file) => sum + file.size, 0);
  for (const file of files.sort((one, other) => one.usedAt - other.usedAt)) {
    if (total <= mostBytes) return;
    await rm(file.path, { force: true });
    total -= file.size;
  }
}
