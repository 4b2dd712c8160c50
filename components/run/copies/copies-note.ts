// What became of the copies of a run, kept in this tab's sessionStorage, so that a reload in the middle tells of every one.
// Guarantees: never throws; bounded by the number of copies; another member's is not read. Must never: hold what was sent.

import { type KeptIn, persistedNote } from "@/lib/browser/persisted";
import { textOf, numberOf, isObject } from "@/lib/contract/json/json";
import { isIdempotencyKey } from "@/lib/contract/submission";
import { type CopiesSet, type Copy } from "./copies-state";
import { mostCopies } from "./variation";

const noteIn = (storage: KeptIn) => persistedNote("lightdesk.run.copies", storage);

export function keepCopies(storage: KeptIn, set: CopiesSet | undefined): void {
  if (!set) return noteIn(storage).forget();
  const { memberId, connection, workflowId, name, atMs, copies, ending } = set;
  // Where nothing is kept a reload tells nothing of them; the jobs carry their labels all the same.
  noteIn(storage).set({ memberId, connection, workflowId, name, atMs, copies: copies.map(toNote), isOver: ending !== undefined });
}

/** After a reload: what was in the middle counts as left. */
export function keptCopies(storage: KeptIn, memberId: string): CopiesSet | undefined {
  const note = noteIn(storage).get();
  const [workflowId, atMs] = [textOf(note?.workflowId), numberOf(note?.atMs)];
  if (note?.memberId !== memberId || workflowId === undefined || atMs === undefined || !Array.isArray(note.copies)) return undefined;
  const copies = note.copies.slice(0, mostCopies).flatMap(fromNote);
  const connection = textOf(note.connection);
  if (copies.length === 0) return undefined;
  return {
    id: `kept-${atMs}`,
    memberId,
    workflowId,
    name: textOf(note.name) ?? "",
    atMs,
    copies,
    ending: { kind: note.isOver === true ? "done" : "left" },
    canGoOn: false,
    ...(connection !== undefined && { connection }),
  };
}

function toNote({ key, label, isBegun, outcome }: Copy) {
  if (!outcome) return { key, label, ...(isBegun && { isBegun }) };
  if (outcome.kind === "accepted") return { key, label, jobId: outcome.jobId, isCancelled: outcome.isCancelled };
  return { key, label, kind: outcome.kind, code: outcome.failure.code, message: outcome.failure.message };
}

const kinds = ["invalid", "refused", "unknown", "lost"] as const;

function fromNote(note: unknown): Copy[] {
  if (!isObject(note) || typeof note.key !== "string" || !isIdempotencyKey(note.key) || typeof note.label !== "string") return [];
  const copy = { key: note.key, label: note.label };
  const jobId = textOf(note.jobId);
  if (jobId !== undefined) {
    return [
      {
        ...copy,
        isBegun: true,
        outcome: { kind: "accepted", jobId, nodesRefused: 0, ...(note.isCancelled === true && { isCancelled: true }) },
      },
    ];
  }
  const kind = kinds.find((word) => word === note.kind);
  if (!kind) return [{ ...copy, ...(note.isBegun === true && { isBegun: true }) }];
  return [
    {
      ...copy,
      isBegun: true,
      outcome: { kind, failure: { code: textOf(note.code) ?? "UNKNOWN_ERROR", message: textOf(note.message) ?? "", status: 0 } },
    },
  ];
}
