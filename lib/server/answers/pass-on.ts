// Prepares a service's answer for people: adds names, masks secrets, and reports the answer to the ledger of jobs.
// Guarantees: the ledger is written later, and from the masked value. Must never: be skipped for an answer that names jobs.

import "server-only";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { type Role } from "@/lib/contract/people/roles";
import { manageBodySchema } from "@/lib/contract/schemas/queue";
import { composition } from "../composition";
import { type Target } from "../composition-type";
import { answeredOf, notesOf } from "../ledger/notes";
import { withNames } from "../workflows/with-names";
import { filesShownIn, readsJobs } from "./job-files";
import { noteTotal, withLiveProgress } from "./landed";
import { noteShownFiles } from "./seen-jobs";
import { toBrowser } from "./to-browser";
import { withSecretPlaces } from "./with-secret-places";

type From = {
  connection: { id: string; baseUrl: string; seenOf?: string };
  apiKey: string | undefined;
  fingerprint: string | undefined;
  target: Target;
  viewer: { memberId: string; role: Role; credential: { kind: string; name?: string } };
};
/** `sent` is the JSON body of the call, if it had one. */
type About = { sent?: unknown };

export async function passOn<T>(operation: Operation, from: From, value: T, about: About = {}): Promise<T> {
  const { ledger, now, largeAnswers } = composition();
  const { memberId, credential } = from.viewer;
  const token = credential.kind === "token" ? credential.name : undefined;
  const { tells } = operation;
  // A large answer was already read in the worker thread, which also noted its secrets and files.
  const digest = largeAnswers.digestOf(value);
  const sent = toBrowser(about.sent, from);
  const masked = toBrowser(await withNames(operation, from.connection.id, value, about.sent), from);
  const placed = await withSecretPlaces(operation, from.connection.id, masked, from.viewer, { sent, digested: digest?.secretPlaces });
  if (tells === "submission") noteTotal(from, textOf(objectOf(placed)?.prompt_id), objectOf(objectOf(sent)?.prompt));
  const passed = withLiveProgress(operation, from, placed);
  if (from.connection.seenOf !== undefined && readsJobs(operation))
    await noteShownFiles(from.connection, digest?.files ?? filesShownIn(passed));
  const atMs = now();
  if (tells === "removal") forget(from.connection.id, about.sent);
  else if (tells !== undefined && tells !== "assets" && tells !== "asset" && tells !== "nodes") {
    ledger.see(from.connection.id, () => {
      if (digest) return digest.notes;
      const answered = answeredOf(tells, passed, { sent, memberId, token, atMs });
      return answered ? notesOf(answered) : [];
    });
  }
  return passed;
}

/** A removed job may still be listed for a moment; it is then read again. */
function forget(connectionId: string, sent: unknown): void {
  const { ledger } = composition();
  const body = manageBodySchema.safeParse(sent);
  if (!body.success) return;
  if (body.data.clear) ledger.restart(connectionId);
  else ledger.removed(connectionId, body.data.delete ?? []);
}
