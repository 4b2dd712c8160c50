// One attempt to run the open workflow. Its idempotency key makes the console start one job at most; a note of it survives a reload,
// so that its outcome can still be asked for.
// Guarantees: never throws; another member's note is not read. Must never: hold what was sent.

import { type KeptIn, persisted } from "@/lib/browser/persisted";
import { type Failure } from "@/lib/contract/failure";
import { number, object, or, type ReadBy, text, where } from "@/lib/contract/json/readers";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { isIdempotencyKey } from "@/lib/contract/workflow/submission";

const attempt = object(
  { key: where(text, isIdempotencyKey), memberId: text, workflowId: text, atMs: number, name: or(text, "") },
  { connection: text },
);
export type Attempt = ReadBy<typeof attempt>;

export type RunOutcome =
  /** `errors`: the service took the job and says that some nodes will not run. `secretPlaces`: where keys or tokens are in what was sent. */
  | { kind: "accepted"; jobId: string; errors: NodeErrors; secretPlaces?: readonly SecretPlace[] }
  /** Nothing was started, and the service says which nodes are wrong. */
  | { kind: "invalid"; failure: Failure; errors: NodeErrors }
  | { kind: "refused"; failure: Failure }
  /** It was sent and no readable answer came: a job may or may not exist. */
  | { kind: "unknown"; failure: Failure }
  /** Reported when asked afterwards: the console forwarded nothing, or the service refused it. */
  | { kind: "lost"; failure: Failure };

const noteIn = (storage: KeptIn) => persisted("lightdesk.run.attempt", attempt, storage);

export function noteAttempt(storage: KeptIn, attempt: Attempt): void {
  // If the browser stores nothing, a reload cannot show the outcome; the key still prevents a second job.
  noteIn(storage).set(attempt);
}

export function forgetAttempt(storage: KeptIn): void {
  noteIn(storage).forget();
}

export function notedAttempt(storage: KeptIn, memberId: string): Attempt | undefined {
  const note = noteIn(storage).get();
  return note?.memberId === memberId ? note : undefined;
}
