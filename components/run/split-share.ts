// How much of the page the drawing takes beside the form, remembered in this browser.
// Guarantees: never throws; always a share that leaves both sides room.

import { type MemoryShelf } from "./workflow-memory";

export const shares = { least: 25, most: 65, usual: 46, step: 3 } as const;
const KEY = "lightdesk.run.split";

export function bounded(share: number): number {
  return Math.min(shares.most, Math.max(shares.least, Math.round(share)));
}

export function readShare(shelf: MemoryShelf): number {
  try {
    const kept = Number(shelf().getItem(KEY) ?? Number.NaN);
    return Number.isFinite(kept) ? bounded(kept) : shares.usual;
  } catch {
    return shares.usual;
  }
}

export function keepShare(shelf: MemoryShelf, share: number): void {
  try {
    shelf().setItem(KEY, String(share));
  } catch {
    // Full or forbidden: it holds until the page goes.
  }
}
