// The jobs that this page started, kept in this tab's sessionStorage, so that a reload shows the newest again and leads to the others.
// Guarantees: never throws; bounded as the list is; another member's are not read. Must never: hold what was sent.

import { writeExactJson } from "@/lib/contract/exact-json";
import { isObject, numberOf, objectOf, parseJson, textOf } from "@/lib/contract/json";
import { mostReceipts, type Receipt } from "./run-state";
import { keepText, keptText, type TabStorage } from "./tab-storage";

const KEY = "lightdesk.run.receipts";

export function keepReceipts(storage: TabStorage, memberId: string, receipts: readonly Receipt[]): void {
  // Where nothing is kept a reload shows none of them; the jobs are in the list all the same.
  keepText(storage, KEY, writeExactJson({ memberId, receipts }));
}

export function keptReceipts(storage: TabStorage, memberId: string): readonly Receipt[] {
  const note = objectOf(parseJson(keptText(storage, KEY)));
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
