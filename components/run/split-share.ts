// How much of the page the drawing takes beside the form, remembered in this browser.
// Guarantees: never throws; always a share that leaves both sides room.

import { type MemoryStorage } from "./workflow-memory";

export const shares = { least: 25, most: 65, usual: 46, step: 3 } as const;
const KEY = "lightdesk.run.split";

export function bounded(share: number): number {
  return Math.min(shares.most, Math.max(shares.least, Math.round(share)));
}

export function readShare(storage: MemoryStorage): number {
  try {
    const kept = Number(storage().getItem(KEY) ?? Number.NaN);
    return Number.isFinite(kept) ? bounded(kept) : shares.usual;
  } catch {
    return shares.usual;
  }
}

export function keepShare(storage: MemoryStorage, share: number): void {
  try {
    storage().setItem(KEY, String(share));
  } catch {
    // Full or forbidden: it holds until the page goes.
  }
}
