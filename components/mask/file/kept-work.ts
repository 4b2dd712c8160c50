// Drawings that were left without being saved, kept in this tab with their whole history, so that going elsewhere in the console loses nothing.
// Guarantees: at most two, the latest; closing or reloading the tab is warned of while any is kept.

import { type OpenSession } from "./mask-session";

const MOST_KEPT = 2;
const kept = new Map<string, OpenSession>();

export function keepWork(key: string, session: OpenSession): void {
  kept.delete(key);
  kept.set(key, session);
  for (const [oldest, { opened }] of kept) {
    if (kept.size <= MOST_KEPT) break;
    opened.picture?.close();
    kept.delete(oldest);
  }
  window.addEventListener("beforeunload", warn);
}

/** It is the taker's from then on. */
export function takeWork(key: string): OpenSession | undefined {
  const session = kept.get(key);
  kept.delete(key);
  if (kept.size === 0) window.removeEventListener("beforeunload", warn);
  return session;
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
