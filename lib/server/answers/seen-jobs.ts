// What is open to a member who sees the jobs of another member's own connection: reads of its jobs, and the files that these have shown.
// Guarantees: whatever is not named here is refused, with one sentence; a file is handed out only where an answer about a job has shown it to
// such a member, in whichever process. Must never: let anything pass that changes something.

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

/** Why a member who only sees the jobs may not make this call; undefined where it may be made, and for all others. */
export async function refusalOf({ id, seenOf }: Seen, operation: Operation, { query }: CallInput = {}): Promise<Failure | undefined> {
  if (seenOf === undefined) return undefined;
  if (!readsJobs(operation)) return jobsOnly(seenOf);
  if (operation.name !== "view") return undefined;
  const { filename, subfolder, type, fullpath, workflow } = query ?? {};
  const isPlain = fullpath === undefined && workflow === undefined;
  const file = { filename: textOf(filename) ?? "", subfolder: textOf(subfolder) ?? "", type: textOf(type) ?? "" };
  return isPlain ? refusalOfFile({ id, seenOf }, file) : jobsOnly(seenOf);
}

export async function refusalOfFile({ id, seenOf }: Seen, file: ShownFile): Promise<Failure | undefined> {
  if (seenOf === undefined) return undefined;
  return (await composition().store.jobViewers.wasShown(id, file)) ? undefined : jobsOnly(seenOf);
}

/** Before an answer about jobs leaves: its files may be fetched from now on. */
export async function noteShownFiles({ id, seenOf }: Seen, files: readonly ShownFile[]): Promise<void> {
  if (seenOf === undefined || files.length === 0) return;
  const { store, now } = composition();
  await store.jobViewers.noteShown(id, files, now());
}
