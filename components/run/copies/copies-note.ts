// The outcomes of a run's copies, kept in this tab's sessionStorage, so that after a reload in the middle every outcome can still be shown.
// Guarantees: never throws; bounded by the number of copies; another member's note is not read. Must never: hold what was sent.

import { type KeptIn, persisted } from "@/lib/browser/persisted";
import { anyText, isTrue, list, number, object, oneOf, or, type ReadBy, text, where } from "@/lib/contract/json/readers";
import { isIdempotencyKey } from "@/lib/contract/workflow/submission";
import { type CopiesSet, type Copy } from "./copies-state";
import { mostCopies } from "./variation";

const copyNote = object(
  { key: where(anyText, isIdempotencyKey), label: anyText },
  { isBegun: isTrue, jobId: text, isCancelled: isTrue, kind: oneOf(["invalid", "refused", "unknown", "lost"]), code: text, message: text },
);
const note = object(
  { memberId: text, workflowId: text, atMs: number, name: or(text, ""), copies: list(copyNote, mostCopies) },
  { connection: text, isOver: isTrue },
);
const noteIn = (storage: KeptIn) => persisted("lightdesk.run.copies", note, storage);

export function keepCopies(storage: KeptIn, set: CopiesSet | undefined): void {
  if (!set) return noteIn(storage).forget();
  const { memberId, connection, workflowId, name, atMs, copies, ending } = set;
  // If the browser stores nothing, a reload loses the outcomes; the jobs still carry their labels.
  noteIn(storage).set({ memberId, connection, workflowId, name, atMs, copies: copies.map(toNote), ...(ending && { isOver: true }) });
}

/** After a reload, a set that was still being sent counts as left. */
export function keptCopies(storage: KeptIn, memberId: string): CopiesSet | undefined {
  const kept = noteIn(storage).get();
  if (kept?.memberId !== memberId || kept.copies.length === 0) return undefined;
  const { copies, isOver, ...set } = kept;
  return { id: `kept-${set.atMs}`, ...set, copies: copies.map(fromNote), ending: { kind: isOver ? "done" : "left" }, canGoOn: false };
}

type CopyNote = ReadBy<typeof copyNote>;

function toNote({ key, label, isBegun, outcome }: Copy): CopyNote {
  if (!outcome) return { key, label, ...(isBegun && { isBegun }) };
  if (outcome.kind === "accepted") return { key, label, jobId: outcome.jobId, ...(outcome.isCancelled && { isCancelled: true }) };
  return { key, label, kind: outcome.kind, code: outcome.failure.code, message: outcome.failure.message };
}

function fromNote({ key, label, isBegun, jobId, isCancelled, kind, code = "UNKNOWN_ERROR", message = "" }: CopyNote): Copy {
  if (jobId !== undefined) {
    return { key, label, isBegun: true, outcome: { kind: "accepted", jobId, nodesRefused: 0, ...(isCancelled && { isCancelled }) } };
  }
  if (kind) return { key, label, isBegun: true, outcome: { kind, failure: { code, message, status: 0 } } };
  return { key, label, ...(isBegun && { isBegun }) };
}
