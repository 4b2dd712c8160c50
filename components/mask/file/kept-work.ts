// Drawings that were left without being saved, kept in this tab with their whole history, so that going elsewhere in the console loses nothing.
// Guarantees: the latest is kept whatever it weighs, earlier ones within a budget of memory; which had to go is told, never passed over;
// closing or reloading the tab is warned of while any is kept.

import { askToStay } from "@/components/ui/hooks/use-close-warning";
import { type OpenSession } from "./mask-session";

type Kept = { session: OpenSession; name: string };

const BUDGET = 512 * 1024 * 1024;
const kept = new Map<string, Kept>();

/** The names of those that had to go. */
export function keepWork(key: string, work: Kept, budget = BUDGET): string[] {
  kept.delete(key);
  kept.set(key, work);
  window.addEventListener("beforeunload", warn);
  const lost: string[] = [];
  for (const [oldest, { session, name }] of kept) {
    if (kept.size === 1 || [...kept.values()].reduce((sum, one) => sum + bytesOf(one), 0) <= budget) break;
    session.opened.picture?.close();
    kept.delete(oldest);
    lost.push(name);
  }
  return lost;
}

/** The caller owns it from then on. */
export function takeWork(key: string): OpenSession | undefined {
  const work = kept.get(key);
  kept.delete(key);
  if (kept.size === 0) window.removeEventListener("beforeunload", warn);
  return work?.session;
}

function bytesOf({ session: { opened, drawing } }: Kept): number {
  const { width = 0, height = 0 } = opened.picture?.bitmap ?? {};
  return drawing.coverage.data.length + width * height * 4 + drawing.heldBytes();
}

function warn(event: BeforeUnloadEvent): void {
  askToStay(event);
}
