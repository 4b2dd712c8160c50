// The jobs that this page started, kept in this tab's sessionStorage, so that a reload shows the newest again and links to the others.
// Guarantees: never throws; bounded like the list; another member's note is not read. Must never: hold what was sent.

import { type KeptIn, persisted } from "@/lib/browser/persisted";
import { isTrue, list, number, object, or, text } from "@/lib/contract/json/readers";
import { mostReceipts, type Receipt } from "../run-state";

const receipt = object(
  { jobId: text, atMs: number, name: or(text, ""), nodesRefused: or(number, 0) },
  { isCancelled: isTrue, isDismissed: isTrue, workflowId: text, connection: text },
);
const note = object({ memberId: text, receipts: list(receipt, mostReceipts) });
const noteIn = (storage: KeptIn) => persisted("lightdesk.run.receipts", note, storage);

export function keepReceipts(storage: KeptIn, memberId: string, receipts: readonly Receipt[]): void {
  // If the browser stores nothing, a reload shows none of them; the jobs are still in the list.
  noteIn(storage).set({ memberId, receipts });
}

export function keptReceipts(storage: KeptIn, memberId: string): readonly Receipt[] {
  const kept = noteIn(storage).get();
  return kept?.memberId === memberId ? kept.receipts : [];
}
