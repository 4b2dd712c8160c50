// Acts on many things in batches, one batch in flight, and reports the outcome of each thing.
// Guarantees: every item has exactly one entry; items that were not begun, because the work was stopped or a refusal would meet all others
// too, are reported as not done.

import { type Work } from "./patient-call";

/** `isOver`: every other batch would be refused for the same reason. */
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
