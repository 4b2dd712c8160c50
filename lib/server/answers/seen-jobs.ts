// What a member may read who sees the jobs of another member's own connection: its jobs, and the files that these jobs have shown.
// Guarantees: every operation not allowed here is refused with the same sentence; a file is served only if an answer about a job has shown
// it to such a member, in any process. Must never: allow a call that changes something.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { textOf } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { composition } from "../composition";
import { type ShownFile } from "../store/jobs/job-viewers";
import { type CallInput } from "../upstream/outgoing";
import { readsJobs } from "./job-files";

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
