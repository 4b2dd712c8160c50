// The rows of the last few lists that somebody looked at, so that the way back shows them at once.
// Must never: keep anything on the server, where every member would share it.

import { type ChunkStore } from "./chunk-store";

type Kept = { store: ChunkStore; atMs: number };
const MOST = 3;
const stores = new Map<string, Kept>();

export function keptStore(key: string): Kept | undefined {
  return stores.get(key);
}

export function keepStore(key: string, kept: Kept): void {
  if (typeof window === "undefined") return;
  stores.delete(key);
  stores.set(key, kept);
  for (const oldest of [...stores.keys()].slice(0, -MOST)) stores.delete(oldest);
}
