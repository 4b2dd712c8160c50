"use client";

import { useSyncExternalStore } from "react";
import { type Size } from "@/components/ui/viewport";

/** In how many pixels files came that were looked at in full, by their address: what else tells of them in this tab says it too. */
const sizes = new Map<string, Size>();
const listeners = new Set<() => void>();
const MOST = 1000;

export function noteSize(src: string, size: Size): void {
  const known = sizes.get(src);
  if (known?.width === size.width && known.height === size.height) return;
  const [oldest] = sizes.keys();
  if (sizes.size >= MOST && oldest !== undefined) sizes.delete(oldest);
  sizes.set(src, size);
  for (const notify of listeners) notify();
}

export function useSeenSize(src: string | undefined): Size | undefined {
  const read = () => (src === undefined ? undefined : sizes.get(src));
  return useSyncExternalStore(subscribe, read, () => undefined);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
