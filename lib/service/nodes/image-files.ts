// Decodes the next job's image while a job runs. At most one image of limited size is read ahead.

import { type Claim, type FilePixels, framesOf, readPixels } from "../images/decode";
import { type RunRequest } from "./run";

export type ImageFiles = {
  /** Call before a run; works off this thread, and need not be awaited. */
  lookAhead(request: Pick<RunRequest, "images" | "nextImage">): Promise<void>;
  read(path: string, claim: Claim): Promise<FilePixels>;
};

const MAX_PIXELS = 1 << 23;
const MOST_READ = 64;

export function createImageFiles(): ImageFiles {
  const ahead = new Map<string, Promise<FilePixels | undefined>>();
  /** Files that were read before: a node that reads such a file again is most likely known from the cache. */
  const known = new Set<string>();

  return {
    async lookAhead({ images, nextImage }) {
      const wanted = new Set(Object.values(images).map(({ path }) => path));
      for (const path of ahead.keys()) if (!wanted.has(path)) ahead.delete(path);
      if (nextImage === undefined || known.has(nextImage) || ahead.has(nextImage)) return;
      const begun = readPixels(nextImage, refuseLarge).catch(() => undefined);
      ahead.set(nextImage, begun);
      await begun;
    },

    async read(path, claim) {
      const begun = ahead.get(path);
      ahead.delete(path);
      known.delete(path);
      known.add(path);
      for (const oldest of known) {
        if (known.size <= MOST_READ) break;
        known.delete(oldest);
      }
      const pixels = await begun;
      if (!pixels) return readPixels(path, claim);
      claim(pixels.size, framesOf(pixels));
      return pixels;
    },
  };
}

const refuseLarge: Claim = ({ width, height }, frames) => {
  if (width * height * frames > MAX_PIXELS) throw new Error("Too large to be kept for a job that has not begun.");
};
