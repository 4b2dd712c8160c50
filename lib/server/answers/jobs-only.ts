// Members who may see only the jobs of another member's own connection: the operations and files open to them.
// An operation without `reads` in its row is refused; a file is open only if an answer about jobs has named it.

import "server-only";
import { type Failure, refusal } from "@/lib/contract/failure";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { isRead, type Operation } from "@/lib/contract/operation";
import { outputsSchema, previewOutputSchema } from "@/lib/contract/schemas/execution";
import { listOutputs, type OutputView, toPreviewView } from "@/lib/contract/views/outputs-view";
import { type Parts } from "../composition-type";
import { type Connection } from "../store/connections";
import { type ShownFile } from "../store/jobs/job-viewers";
import { type CallInput } from "../upstream/outgoing";

type ConnectionState = Pick<Connection, "id" | "seenOf">;

export function jobsOnly(owner: string): Failure {
  return refusal("JOBS_ONLY", `This is ${owner}'s own connection. You can only view its jobs.`);
}

export function readsJobs(operation: Operation): boolean {
  return isRead(operation) && operation.reads !== undefined;
}

/** Undefined if the call is allowed, and for all other members. */
export async function refusalOf(
  composition: Parts<"store">,
  connection: ConnectionState,
  operation: Operation,
  { query }: CallInput = {},
): Promise<Failure | undefined> {
  const { seenOf } = connection;
  if (seenOf === undefined) return undefined;
  if (!readsJobs(operation)) return jobsOnly(seenOf);
  if (operation.reads !== "jobFiles") return undefined;
  const { filename, subfolder, type, fullpath, workflow } = query ?? {};
  if (fullpath !== undefined || workflow !== undefined) return jobsOnly(seenOf);
  const file = { filename: textOf(filename) ?? "", subfolder: textOf(subfolder) ?? "", type: textOf(type) ?? "" };
  return refusalOfFile(composition, connection, file);
}

export async function refusalOfFile(
  { store }: Parts<"store">,
  { id, seenOf }: ConnectionState,
  file: ShownFile | { asset: string },
): Promise<Failure | undefined> {
  if (seenOf === undefined) return undefined;
  return "filename" in file && (await store.jobViewers.hasShown(id, file)) ? undefined : jobsOnly(seenOf);
}

/** Call before sending a response about jobs: its files may be fetched afterwards. */
export async function recordShownFiles(
  { store, now }: Parts<"store" | "now">,
  { id, seenOf }: ConnectionState,
  response: unknown,
): Promise<void> {
  if (seenOf === undefined) return;
  const files = filesShownIn(response);
  if (files.length > 0) await store.jobViewers.addShown(id, files, now());
}

function filesShownIn(value: unknown): ShownFile[] {
  const rows = rowsOf(value).map(objectOf);
  const views = rows.flatMap((row): (OutputView | undefined)[] => [
    ...listOutputs(outputsSchema.safeParse(row?.outputs).data),
    toPreviewView(previewOutputSchema.safeParse(row?.preview_output).data),
  ]);
  return views.flatMap((view) => view?.file ?? []);
}

/** An answer is one job, a list of jobs, or an object with an entry for each job id. */
function rowsOf(value: unknown): unknown[] {
  const response = objectOf(value) ?? {};
  for (const list of [response.jobs, response.history]) if (Array.isArray(list)) return list;
  return textOf(response.status) === undefined && response.outputs === undefined ? Object.values(response) : [response];
}
