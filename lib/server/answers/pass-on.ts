// What a service answered, on its way to people: names are put on, secrets are taken out, and the ledger of jobs is told.
// Guarantees: the ledger is written later, and from what was masked. Must never: be skipped for an answer that names jobs.

import "server-only";
import { isObject, objectOf, textOf } from "@/lib/contract/json";
import { type Operation, type Subject } from "@/lib/contract/operation";
import { type JobDetail, type JobsAnswer, type JobStatus } from "@/lib/contract/schemas/job";
import { type HistoryAnswer, manageBodySchema } from "@/lib/contract/schemas/queue";
import { composition } from "../composition";
import { type Answered } from "../ledger/notes";
import { withNames } from "../workflows/with-names";
import { toBrowser } from "./to-browser";

type From = { connection: { id: string; baseUrl: string }; apiKey: string | undefined };
/** `sent` is the JSON body of the call, where it had one. */
type About = { sent?: unknown; memberId?: string };

export async function passOn<T>(operation: Operation, from: From, value: T, about: About = {}): Promise<T> {
  const { ledger, now } = composition();
  const passed = toBrowser(await withNames(operation, from.connection.id, value, about.sent), from);
  const atMs = now();
  const { tells } = operation;
  if (tells === "removal") forget(from.connection.id, about.sent);
  else if (tells !== undefined && tells !== "assets" && tells !== "asset")
    ledger.see(from.connection.id, () => answered(tells, passed, { ...about, sent: toBrowser(about.sent, from), atMs }));
  return passed;
}

function answered(tells: Subject, value: unknown, { sent, memberId, atMs }: About & { atMs: number }): Answered | undefined {
  if (tells === "jobs" && isJobs(value)) return { tells, value };
  if (tells === "history" && isHistory(value)) return { tells, value };
  if (tells === "job" && isJob(value)) return { tells, value };
  if (tells === "jobStatus" && isStatus(value)) return { tells, value };
  const jobId = textOf(objectOf(value)?.prompt_id) ?? textOf(objectOf(value)?.job_id);
  const isSubmission = tells === "submission" && jobId !== undefined && memberId !== undefined;
  return isSubmission ? { tells, jobId, sent, memberId, atMs } : undefined;
}

// The schema of the operation has made the value: this tells only which.
const isJobs = (value: unknown): value is JobsAnswer => isObject(value) && Array.isArray(value.jobs);
const isHistory = (value: unknown): value is HistoryAnswer => isObject(value) && Array.isArray(value.history);
const isJob = (value: unknown): value is JobDetail => isObject(value) && typeof value.status === "string";
const isStatus = (value: unknown): value is JobStatus => isObject(value) && typeof value.status === "string";

/** What was removed may be listed for a moment more, and is read again then. */
function forget(connectionId: string, sent: unknown): void {
  const { ledger } = composition();
  const body = manageBodySchema.safeParse(sent);
  if (!body.success) return;
  if (body.data.clear) ledger.restart(connectionId);
  else ledger.removed(connectionId, body.data.delete ?? []);
}
