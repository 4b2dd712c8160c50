// Thumbnails on disk: a folder for each content, a file for each edge. Beyond the bound the least recently used are removed.
// Guarantees: a full disk or a lost file costs time, never an answer.

import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readCached, writeCached } from "@/lib/shared/files";
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

  return {
    read: (hash: string, name: string): Promise<Buffer | undefined> => readCached(fileOf(hash, name)),

    async keep(hash: string, name: string, webp: Uint8Array): Promise<void> {
      // Where the disk does not take it, the thumbnail is sent all the same.
      if (!(await writeCached(fileOf(hash, name), join(folders.temp, randomUUID()), webp))) return;
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
