// What nodes put out, kept in a worker's memory so that the same work for the same user is not done twice.
// The oldest goes first when the bound is reached; a restart forgets everything. Nothing is written to disk: what a user
// deletes must not live on in a cache.

import { type SavedFile } from "./definition";
import { isRaster, type NodeValue } from "./values";

export type CacheEntry = { values: readonly NodeValue[]; texts?: string[]; files: readonly SavedFile[] };

export type NodeCache = { get(key: string): CacheEntry | undefined; put(key: string, entry: CacheEntry): void };

export function createNodeCache(maxBytes: number): NodeCache {
  const entries = new Map<string, CacheEntry & { bytes: number }>();
  let total = 0;

  const drop = (key: string) => {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry;
    },
    put(key, entry) {
      drop(key);
      const bytes = bytesOf(entry);
      if (bytes > maxBytes / 2) return;
      entries.set(key, { ...entry, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) break;
        drop(oldest);
      }
    },
  };
}

const OVERHEAD = 200;

function bytesOf({ values, files, texts = [] }: CacheEntry): number {
  const frames = new Set(values.filter(isRaster).flatMap((raster) => raster.frames));
  const literals = [...values.filter((value) => typeof value === "string"), ...texts];
  return [
    OVERHEAD,
    ...[...frames].map((frame) => frame.byteLength),
    ...files.map(({ content }) => content.byteLength),
    ...literals.map((text) => text.length * 2),
  ].reduce((sum, bytes) => sum + bytes, 0);
}
