// What a service answered, on its way to people: names are put on, secrets are taken out, and the ledger of jobs is told.
// Guarantees: the ledger is written later, and from what was masked. Must never: be skipped for an answer that names jobs.

import "server-only";
import { type Operation } from "@/lib/contract/operation";
import { manageBodySchema } from "@/lib/contract/schemas/queue";
import { composition } from "../composition";
import { answeredOf, notesOf } from "../ledger/notes";
import { withNames } from "../workflows/with-names";
import { toBrowser } from "./to-browser";

type From = { connection: { id: string; baseUrl: string }; apiKey: string | undefined };
/** `sent` is the JSON body of the call, where it had one. */
type About = { sent?: unknown; memberId?: string };

export async function passOn<T>(operation: Operation, from: From, value: T, about: About = {}): Promise<T> {
  const { ledger, now, largeAnswers } = composition();
  const passed = toBrowser(await withNames(operation, from.connection.id, value, about.sent), from);
  const atMs = now();
  const { tells } = operation;
  if (tells === "removal") forget(from.connection.id, about.sent);
  else if (tells !== undefined && tells !== "assets" && tells !== "asset" && tells !== "nodes") {
    // A large answer that is only passed on is read elsewhere, for this too.
    const told = largeAnswers.told(value);
    ledger.see(from.connection.id, () => {
      if (told) return told.notes;
      const answered = answeredOf(tells, passed, { ...about, sent: toBrowser(about.sent, from), atMs });
      return answered ? notesOf(answered) : [];
    });
  }
  return passed;
}

/** What was removed may be listed for a moment more, and is read again then. */
function forget(connectionId: string, sent: unknown): void {
  const { ledger } = composition();
  const body = manageBodySchema.safeParse(sent);
  if (!body.success) return;
  if (body.data.clear) ledger.restart(connectionId);
  else ledger.removed(connectionId, body.data.delete ?? []);
}
