// The values that a run still needs, and the bounds on the pixels and texts alive at once.
// A value is released with its last reader. Pixels are claimed before they exist: beyond the bound the node fails, not the process.

import { type Size } from "@/lib/service/images/raster";
import { NodeFailure } from "../definition";
import { checkKeptTexts, sumOfTexts } from "../text-bounds";
import { isRaster, type NodeValue, pixelsIn } from "../values";

export type KeptValues = {
  get(id: string): readonly NodeValue[] | undefined;
  /** Throws if too many texts would be kept at once. */
  keep(id: string, values: readonly NodeValue[]): void;
  /** One reader of this node is done. */
  release(id: string): void;
  /** Adds to what the running node will hold; `settle` ends that once the node's values are kept. */
  claim(size: Size, frames: number): void;
  settle(): void;
  entries(): IterableIterator<[string, readonly NodeValue[]]>;
};

export function createKeptValues(readers: ReadonlyMap<string, number>, maxPixels: number): KeptValues {
  const kept = new Map<string, readonly NodeValue[]>();
  const left = new Map(readers);
  let claimed = 0;
  let keptTextBytes = 0;

  const alive = () => {
    const rasters = new Set([...kept.values()].flat().filter(isRaster));
    return [...rasters].reduce((sum, raster) => sum + pixelsIn(raster), 0);
  };
  return {
    get: (id) => kept.get(id),
    keep(id, values) {
      if ((left.get(id) ?? 0) <= 0) return;
      const texts = keptTextBytes + sumOfTexts(values);
      checkKeptTexts(texts);
      keptTextBytes = texts;
      kept.set(id, values);
    },
    release(id) {
      const count = (left.get(id) ?? 0) - 1;
      left.set(id, count);
      if (count > 0) return;
      keptTextBytes -= sumOfTexts(kept.get(id) ?? []);
      kept.delete(id);
    },
    claim({ width, height }, frames) {
      claimed += width * height * frames;
      const wanted = alive() + claimed;
      if (wanted > maxPixels) throw new NodeFailure("OOMError", tooMany(wanted, maxPixels));
    },
    settle() {
      claimed = 0;
    },
    entries: () => kept.entries(),
  };
}

function tooMany(wanted: number, maxPixels: number): string {
  const mega = (pixels: number) => `${(pixels / 1e6).toFixed(1)} megapixels`;
  return `The job would hold ${mega(wanted)} at once; this service allows ${mega(maxPixels)}. Use smaller images or smaller batches.`;
}
