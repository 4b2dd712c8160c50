// Unsaved drawings, kept in this tab with their whole history, so that moving within the console loses nothing.
// Guarantees: the latest one is kept whatever its size, earlier ones within a memory budget; dropped ones are reported, never silent;
// while any is kept, the browser warns before the tab is closed or reloaded.

import { askToStay } from "@/components/ui/hooks/use-close-warning";
import { type OpenSession } from "./mask-session";

type Kept = { session: OpenSession; name: string };

const BUDGET = 512 * 1024 * 1024;
const kept = new Map<string, Kept>();

/** Returns the names of the drawings that were dropped. */
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

/** Hands the drawing over to the caller. */
export function takeWork(key: string): OpenSession | undefined {
  const work = kept.get(key);
  kept.delete(key);
  if (kept.size === 0) window.removeEventListener("beforeunload", warn);
  return work?.session;
}

function bytesOf({ session: { opened, drawing } }: Kept): number {
  const { width = 0, height = 0 } = opened.picture?.bitmap ?? {};
  return drawing.coverage.data.length + width * height * 4 + drawing.keptBytes();
}

function warn(event: BeforeUnloadEvent): void {
  askToStay(event);
}
