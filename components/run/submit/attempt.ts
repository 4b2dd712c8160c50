// One attempt to run the open workflow: its idempotency key makes the console start one job at most, and a note of it outlives a reload, so that its outcome can be asked for.
// Guarantees: never throws; another member's note is not read. Must never: hold what was sent.

import { type KeptIn, persisted } from "@/lib/browser/persisted";
import { isIdempotencyKey } from "@/lib/contract/submission";
import { number, object, or, type ReadBy, text, where } from "@/lib/contract/json/readers";

const attempt = object(
  { key: where(text, isIdempotencyKey), memberId: text, workflowId: text, atMs: number, name: or(text, "") },
  { connection: text },
);
export type Attempt = ReadBy<typeof attempt>;

const noteIn = (storage: KeptIn) => persisted("lightdesk.run.attempt", attempt, storage);

export function noteAttempt(storage: KeptIn, attempt: Attempt): void {
  // Where nothing is kept a reload in the middle tells nothing of it; the key still holds.
  noteIn(storage).set(attempt);
}

export function forgetAttempt(storage: KeptIn): void {
  noteIn(storage).forget();
}

export function notedAttempt(storage: KeptIn, memberId: string): Attempt | undefined {
  const note = noteIn(storage).get();
  return note?.memberId === memberId ? note : undefined;
}
