// WebP previews by content and edge, made once and kept on disk; whoever asks for one that is being made waits for the same work.
// Guarantees: at most two pictures are decoded at once, none above the pixel limit; a preview is never larger than its original.

import { mkdir, rename, rm, stat } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import sharp from "sharp";
import { ServiceError } from "../service-error";
import { MOST_PIXELS } from "./image-limits";

const AT_ONCE = 2;

export type Thumbnails = ReturnType<typeof createThumbnails>;

export function createThumbnails(folders: { thumbnails: string; temp: string }) {
  const making = new Map<string, Promise<string>>();
  const queue: (() => void)[] = [];
  let busy = 0;

  const folderOf = (hash: string) => join(folders.thumbnails, hash.slice(0, 2), hash.slice(2));

  async function make(source: string, target: string, edge: number): Promise<string> {
    if (busy >= AT_ONCE) await new Promise<void>((resolve) => queue.push(resolve));
    busy += 1;
    const temporary = join(folders.temp, randomUUID());
    try {
      await sharp(source, { limitInputPixels: MOST_PIXELS, failOn: "none" })
        .rotate()
        .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
        .webp({ quality: 80 })
        .toFile(temporary);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(temporary, target);
      return target;
    } catch (error) {
      await rm(temporary, { force: true });
      throw new ServiceError("UNPROCESSABLE", "No preview can be made of this file.", error instanceof Error ? error.message : undefined);
    } finally {
      busy -= 1;
      queue.shift()?.();
    }
  }

  return {
    /** Path of the WebP file. */
    async get(hash: string, source: string, edge: number): Promise<string> {
      const target = join(folderOf(hash), `${edge}.webp`);
      const known = making.get(target);
      if (known) return known;
      if (await exists(target)) return target;
      const work = making.get(target) ?? make(source, target, edge).finally(() => making.delete(target));
      making.set(target, work);
      return work;
    },

    forget: (hash: string) => rm(folderOf(hash), { recursive: true, force: true }),
  };
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
