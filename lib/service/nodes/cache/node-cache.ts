// What nodes pass on, kept in a worker's memory so that the same work for the same user is not done twice.
// At the bound the oldest goes first; a restart forgets everything. Files are not kept here: stored-outputs.ts finds what a node put out in
// every worker and after a restart, as long as its bytes are there.

import { createLru } from "@/lib/shared/lru";
import { isRaster, type NodeValue } from "../values";

export type NodeCache = { get(key: string): readonly NodeValue[] | undefined; put(key: string, values: readonly NodeValue[]): void };

export function createNodeCache(maxBytes: number): NodeCache {
  const entries = createLru<string, readonly NodeValue[]>({ max: maxBytes, sizeOf: bytesOf });
  return {
    get: (key) => entries.get(key),
    put(key, values) {
      // One large result does not evict all others.
      if (bytesOf(values) > maxBytes / 2) entries.delete(key);
      else entries.set(key, values);
    },
  };
}

const OVERHEAD = 200;

function bytesOf(values: readonly NodeValue[]): number {
  const frames = new Set(values.filter(isRaster).flatMap((raster) => raster.frames));
  const texts = values.filter((value) => typeof value === "string");
  return [OVERHEAD, ...[...frames].map((frame) => frame.byteLength), ...texts.map((text) => text.length * 2)].reduce(
    (sum, bytes) => sum + bytes,
    0,
  );
}
