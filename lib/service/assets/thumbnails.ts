// WebP previews by content and edge, made once and kept on disk; whoever asks for one that is being made waits for the same work.
// Guarantees: at most two pictures are decoded at once, none above the pixel limit; a preview is never larger than its original.

import { rmSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
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
      const webp = await shrink(source, edge);
      await writeFile(temporary, webp);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(temporary, target);
      return target;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
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

    /** Also those that are being made at this moment. */
    async forget(hash: string): Promise<void> {
      const open = [...making].filter(([target]) => dirname(target) === folderOf(hash));
      await Promise.allSettled(open.map(([, work]) => work));
      await rm(folderOf(hash), { recursive: true, force: true });
    },

    /** What a crash left of originals that are gone. Returns how many went. */
    async sweep(isNamed: (hash: string) => boolean): Promise<number> {
      let removed = 0;
      for (const shard of await readdir(folders.thumbnails)) {
        for (const rest of await readdir(join(folders.thumbnails, shard))) {
          if (isNamed(shard + rest)) continue;
          rmSync(join(folders.thumbnails, shard, rest), { recursive: true, force: true });
          removed += 1;
        }
      }
      return removed;
    },
  };
}

/** In memory, as it is small: what the disk says to it is then told apart from what is wrong with the picture. */
async function shrink(source: string, edge: number): Promise<Buffer> {
  try {
    return await sharp(source, { limitInputPixels: MOST_PIXELS, failOn: "none" })
      .rotate()
      .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer();
  } catch (error) {
    throw new ServiceError("UNPROCESSABLE", "No preview can be made of this file.", error instanceof Error ? error.message : undefined);
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
