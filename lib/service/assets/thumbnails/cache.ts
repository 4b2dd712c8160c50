// Thumbnails on disk: a folder for each content, a file for each edge. Beyond the bound the least recently used are removed.
// Guarantees: a file is complete or absent (written under another name, then renamed); a full disk or a lost file costs time, never an
// answer.

import { mkdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { telemetry } from "@/lib/shared/telemetry";
import { type Named } from "../blob-store";
import { evictOldest } from "../evict";
import { sweepCacheFolder } from "../sweep-cache";

export function createThumbnailCache(folders: { thumbnails: string; temp: string }, mostBytes: number) {
  const folderOf = (hash: string) => join(folders.thumbnails, hash.slice(0, 2), hash.slice(2));
  const fileOf = (hash: string, name: string) => join(folderOf(hash), `${name}.webp`);
  /** An upper bound: files that others remove are counted until the next look at the disk. */
  let bytes: number | undefined;
  let evicting: Promise<void> | undefined;

  telemetry().metrics?.read("lightdesk_service_thumbnail_cache_bytes", () => bytes);

  const forget = (hash: string) => rm(folderOf(hash), { recursive: true, force: true });

  async function find(file: string): Promise<Buffer | undefined> {
    try {
      const found = await readFile(file);
      const now = new Date();
      await utimes(file, now, now);
      return found;
    } catch {
      return undefined; // absent, or evicted just now: it is made again
    }
  }

  return {
    async read(hash: string, name: string): Promise<Buffer | undefined> {
      const found = await find(fileOf(hash, name));
      telemetry().metrics?.count("lightdesk_service_thumbnails_total", { result: found ? "kept" : "made" });
      return found;
    },

    async keep(hash: string, name: string, webp: Uint8Array): Promise<void> {
      const file = fileOf(hash, name);
      const aside = join(folders.temp, randomUUID());
      try {
        await writeFile(aside, webp, { flag: "wx", mode: 0o600 });
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await rename(aside, file);
      } catch {
        await rm(aside, { force: true });
        return; // the disk did not take it; the thumbnail is sent all the same
      }
      if (bytes !== undefined) bytes += webp.byteLength;
      if (bytes === undefined || bytes > mostBytes) {
        evicting ??= evictOldest(folders.thumbnails, mostBytes)
          .then((left) => void (bytes = left))
          .catch(() => undefined) // tried again with the next one
          .finally(() => (evicting = undefined));
        await evicting;
      }
    },

    forget,

    /** Removes thumbnails whose original is gone. Returns the number of these originals. */
    sweep: (named: Named) => sweepCacheFolder(folders.thumbnails, named, forget),
  };
}
