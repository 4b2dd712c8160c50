// Many things in batches, one batch in flight, with a line of receipt for every thing.
// Guarantees: every item has exactly one entry; what was not begun when the work was stopped, or when a refusal would meet all others
// too, is told as not done.

import { type Work } from "./patient-call";

/** `isOver`: what refused this batch would refuse every other. */
export type BatchOutcome<Entry> = { entries: Entry[]; isOver?: boolean };

export async function inBatches<Item extends { id: string }, Entry extends { id: string }>(
  items: readonly Item[],
  size: number,
  act: (batch: readonly Item[]) => Promise<BatchOutcome<Entry>>,
  work: Work,
): Promise<(Entry | { id: string; outcome: "notDone" })[]> {
  const batches = Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
  if (work.isLeaving) return (await Promise.all(batches.map(act))).flatMap(({ entries }) => entries);
  const entries: (Entry | { id: string; outcome: "notDone" })[] = [];
  let isOver = false;
  for (const batch of batches) {
    if (isOver || work.signal.aborted) {
      entries.push(...batch.map(({ id }) => ({ id, outcome: "notDone" as const })));
      continue;
    }
    const outcome = await act(batch);
    entries.push(...outcome.entries);
    isOver = outcome.isOver ?? false;
    work.onDone(batch.length);
  }
  return entries;
}
