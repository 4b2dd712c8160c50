// One attempt to run the open workflow: its idempotency key makes the console start one job at most, and a note of it outlives a reload, so that its outcome can be asked for.
// Guarantees: never throws; another member's note is not read. Must never: hold what was sent.

import { type KeptIn, persistedNote } from "@/lib/browser/persisted";
import { isIdempotencyKey } from "@/lib/contract/submission";
import { numberOf, textOf } from "@/lib/contract/json/json";

export type Attempt = { key: string; memberId: string; connection?: string; workflowId: string; name: string; atMs: number };

const noteIn = (storage: KeptIn) => persistedNote("lightdesk.run.attempt", storage);

export function noteAttempt(storage: KeptIn, attempt: Attempt): void {
  // Where nothing is kept a reload in the middle tells nothing of it; the key still holds.
  noteIn(storage).set(attempt);
}

export function forgetAttempt(storage: KeptIn): void {
  noteIn(storage).forget();
}

export function notedAttempt(storage: KeptIn, memberId: string): Attempt | undefined {
  const note = noteIn(storage).get();
  const [key, workflowId, atMs] = [textOf(note?.key), textOf(note?.workflowId), numberOf(note?.atMs)];
  if (note?.memberId !== memberId || !key || !isIdempotencyKey(key) || !workflowId || atMs === undefined) return undefined;
  const connection = textOf(note.connection);
  return { key, memberId, workflowId, atMs, name: textOf(note.name) ?? "", ...(connection !== undefined && { connection }) };
}
