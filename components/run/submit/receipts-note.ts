// The jobs that this page started, kept in this tab's sessionStorage, so that a reload shows the newest again and leads to the others.
// Guarantees: never throws; bounded as the list is; another member's are not read. Must never: hold what was sent.

import { type KeptIn, persistedNote } from "@/lib/browser/persisted";
import { isObject, numberOf, textOf } from "@/lib/contract/json/json";
import { mostReceipts, type Receipt } from "../run-state";

const noteIn = (storage: KeptIn) => persistedNote("lightdesk.run.receipts", storage);

export function keepReceipts(storage: KeptIn, memberId: string, receipts: readonly Receipt[]): void {
  // Where nothing is kept a reload shows none of them; the jobs are in the list all the same.
  noteIn(storage).set({ memberId, receipts });
}

export function keptReceipts(storage: KeptIn, memberId: string): readonly Receipt[] {
  const note = noteIn(storage).get();
  if (note?.memberId !== memberId || !Array.isArray(note.receipts)) return [];
  return note.receipts.slice(0, mostReceipts).flatMap(fromNote);
}

function fromNote(note: unknown): Receipt[] {
  if (!isObject(note)) return [];
  const [jobId, atMs] = [textOf(note.jobId), numberOf(note.atMs)];
  if (!jobId || atMs === undefined) return [];
  const [connection, workflowId] = [textOf(note.connection), textOf(note.workflowId)];
  return [
    {
      jobId,
      atMs,
      name: textOf(note.name) ?? "",
      nodesRefused: numberOf(note.nodesRefused) ?? 0,
      ...(note.isCancelled === true && { isCancelled: true }),
      ...(note.isDismissed === true && { isDismissed: true }),
      ...(workflowId !== undefined && { workflowId }),
      ...(connection !== undefined && { connection }),
    },
  ];
}
