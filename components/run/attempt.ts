// One attempt to run the open workflow: its idempotency key makes the console start one job at most, and a note of it outlives a reload, so that its outcome can be asked for.
// Guarantees: never throws; another member's note is not read. Must never: hold what was sent.

import { writeExactJson } from "@/lib/contract/exact-json";
import { isIdempotencyKey } from "@/lib/contract/submission";
import { numberOf, objectOf, parseJson, textOf } from "@/lib/contract/json";
import { forgetText, keepText, keptText, type TabStorage } from "./tab-storage";

export type Attempt = { key: string; memberId: string; connection?: string; workflowId: string; name: string; atMs: number };

const NOTE = "lightdesk.run.attempt";

export function noteAttempt(storage: TabStorage, attempt: Attempt): void {
  // Where nothing is kept a reload in the middle tells nothing of it; the key still holds.
  keepText(storage, NOTE, writeExactJson(attempt));
}

export function forgetAttempt(storage: TabStorage): void {
  forgetText(storage, NOTE);
}

export function notedAttempt(storage: TabStorage, memberId: string): Attempt | undefined {
  const note = objectOf(parseJson(keptText(storage, NOTE)));
  const [key, workflowId, atMs] = [textOf(note?.key), textOf(note?.workflowId), numberOf(note?.atMs)];
  if (note?.memberId !== memberId || !key || !isIdempotencyKey(key) || !workflowId || atMs === undefined) return undefined;
  const connection = textOf(note.connection);
  return { key, memberId, workflowId, atMs, name: textOf(note.name) ?? "", ...(connection !== undefined && { connection }) };
}
