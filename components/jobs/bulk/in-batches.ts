import { type Work } from "./bulk-call";
import { type ReceiptEntry } from "./receipt-entry";

/** `isOver`: what refused this batch would refuse every other. */
export type BatchOutcome = { entries: ReceiptEntry[]; isOver?: boolean };

/** One batch in flight. What was not begun when the work was stopped is told as not done. */
export async function inBatches<Job extends { id: string }>(
  jobs: readonly Job[],
  size: number,
  act: (batch: readonly Job[]) => Promise<BatchOutcome>,
  work: Work,
): Promise<ReceiptEntry[]> {
  const batches = Array.from({ length: Math.ceil(jobs.length / size) }, (_, index) => jobs.slice(index * size, (index + 1) * size));
  if (work.isLeaving) return (await Promise.all(batches.map(act))).flatMap(({ entries }) => entries);
  const entries: ReceiptEntry[] = [];
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
