// How much of the page the drawing takes beside the form, remembered in this browser.
// Guarantees: always a share that leaves both sides room.

import { persisted } from "@/lib/browser/persisted";

export const shares = { least: 25, most: 65, usual: 46, step: 3 } as const;

export function bounded(share: number): number {
  return Math.min(shares.most, Math.max(shares.least, Math.round(share)));
}

export const keptShare = persisted("lightdesk.run.split", (kept) => (typeof kept === "number" ? bounded(kept) : shares.usual));
