// Processes upstream responses: masks secrets, adds names and live progress, and indexes jobs.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { isObject, objectOf, textOf } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { manageBodySchema } from "@/lib/contract/schemas/queue";
import { placesInJob, placesInWorkflow, type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { composition } from "../composition";
import { type Target } from "../composition-type";
import { answeredOf, notesOf } from "../ledger/notes";
import { type ShownFile } from "../store/jobs/job-viewers";
import { type CallInput } from "../upstream/outgoing";
import { withNames } from "../workflows/with-names";
import { filesShownIn, readsJobs } from "./job-files";
import { noteTotal, withLiveProgress } from "./landed";
import { toBrowser } from "./to-browser";

type Asker = { memberId: string; role: Role };
/** `sent`: the submitted body, masked. `digested`: the places in a large answer, found in the thread that read it. */
type Found = { sent?: unknown; digested?: readonly SecretPlace[] };

async function withSecretPlaces<T>(operation: Operation, connectionId: string, value: T, asker: Asker, found: Found): Promise<T>;
async function withSecretPlaces(
  { tells }: Operation,
  connectionId: string,
  value: unknown,
  asker: Asker,
  { sent, digested }: Found,
): Promise<unknown> {
  if ((tells !== "job" && tells !== "submission") || !isObject(value)) return value;
  const places = tells === "submission" ? placesInWorkflow(sent) : (digested ?? placesInJob(value));
  const isShown = places.length > 0 && (tells === "submission" || (await isOwner(connectionId, value.id, asker)));
  // Adds the field only if there are places to tell, and removes one that the service sent under this name.
  if (!isShown && !("held_secrets" in value)) return value;
  return { ...value, held_secrets: isShown ? places : undefined };
}

async function isOwner(connectionId: string, id: unknown, { memberId, role }: Asker): Promise<boolean> {
  const target = textOf(id);
  if (target === undefined) return false;
  const submitter = (await composition().store.audit.whoDid("submitPrompt", [target], connectionId)).get(target);
  return submitter ? submitter.memberId === memberId : hasRole(role, "operator");
}

export function jobsOnly(owner: string): Failure {
  return { code: "JOBS_ONLY", message: `This is ${owner}'s own connection: you can see its jobs, and nothing else.`, status: 403 };
}

type Seen = { id: string; seenOf?: string };

/** The refusal for a member who may see only the jobs. Undefined if the call is allowed, and for all other members. */
export async function refusalOf({ id, seenOf }: Seen, operation: Operation, { query }: CallInput = {}): Promise<Failure | undefined> {
  if (seenOf === undefined) return undefined;
  if (!readsJobs(operation)) return jobsOnly(seenOf);
  if (operation.reads !== "jobFiles") return undefined;
  const { filename, subfolder, type, fullpath, workflow } = query ?? {};
  const isPlain = fullpath === undefined && workflow === undefined;
  const file = { filename: textOf(filename) ?? "", subfolder: textOf(subfolder) ?? "", type: textOf(type) ?? "" };
  return isPlain ? refusalOfFile({ id, seenOf }, file) : jobsOnly(seenOf);
}

export async function refusalOfFile({ id, seenOf }: Seen, file: ShownFile): Promise<Failure | undefined> {
  if (seenOf === undefined) return undefined;
  return (await composition().store.jobViewers.wasShown(id, file)) ? undefined : jobsOnly(seenOf);
}

/** Called before an answer about jobs is sent: its files may be fetched from then on. */
export async function noteShownFiles({ id, seenOf }: Seen, files: readonly ShownFile[]): Promise<void> {
  if (seenOf === undefined || files.length === 0) return;
  const { store, now } = composition();
  await store.jobViewers.noteShown(id, files, now());
}

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
