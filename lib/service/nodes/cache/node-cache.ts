// What nodes pass on, kept in a worker's memory so that the same work for the same user is not done twice.
// At the bound the oldest goes first; a restart forgets everything. Files are not kept here: stored-outputs.ts finds what a node put out in
// every worker and after a restart, as long as its bytes are there.

import { isRaster, type NodeValue } from "../values";

export type NodeCache = { get(key: string): readonly NodeValue[] | undefined; put(key: string, values: readonly NodeValue[]): void };

export function createNodeCache(maxBytes: number): NodeCache {
  const entries = new Map<string, { values: readonly NodeValue[]; bytes: number }>();
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
      return entry.values;
    },
    put(key, values) {
      drop(key);
      const bytes = bytesOf(values);
      if (bytes > maxBytes / 2) return;
      entries.set(key, { values, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) break;
        drop(oldest);
      }
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
