// Access checks for members who may only view the jobs of another member's own connection.
// Operations without `reads` are rejected. A file may be fetched only if a job response has listed it.

import "server-only";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { asObject, asText } from "@/lib/contract/json/json";
import { isRead, type Operation } from "@/lib/contract/operation";
import { outputsSchema, previewOutputSchema } from "@/lib/contract/schemas/execution";
import { listOutputs, type OutputView, toPreviewView } from "@/lib/contract/views/outputs-view";
import { type Dependencies } from "../composition-type";
import { type Connection } from "../store/connections";
import { type ShownFile } from "../store/jobs/job-viewers";
import { type CallInput } from "../upstream/build-request";

type ConnectionAccess = Pick<Connection, "id" | "seenOf">;

export function createJobsOnlyFailure(owner: string): Failure {
  return createFailure("JOBS_ONLY", `This is ${owner}'s own connection. You can only view its jobs.`);
}

export function isJobRead(operation: Operation): boolean {
  return isRead(operation) && operation.reads !== undefined;
}

/** Returns undefined if the call is allowed, as it always is for members with full access. */
export async function checkJobsOnlyOperation(
  composition: Dependencies<"store">,
  connection: ConnectionAccess,
  operation: Operation,
  { query }: CallInput = {},
): Promise<Failure | undefined> {
  const { seenOf } = connection;
  if (seenOf === undefined) return undefined;
  if (!isJobRead(operation)) return createJobsOnlyFailure(seenOf);
  if (operation.reads !== "jobFiles") return undefined;
  const { filename, subfolder, type, fullpath, workflow } = query ?? {};
  if (fullpath !== undefined || workflow !== undefined) return createJobsOnlyFailure(seenOf);
  const file = { filename: asText(filename) ?? "", subfolder: asText(subfolder) ?? "", type: asText(type) ?? "" };
  return checkJobsOnlyFile(composition, connection, file);
}

export async function checkJobsOnlyFile(
  { store }: Dependencies<"store">,
  { id, seenOf }: ConnectionAccess,
  file: ShownFile | { asset: string },
): Promise<Failure | undefined> {
  if (seenOf === undefined) return undefined;
  return "filename" in file && (await store.jobViewers.hasShownFile(id, file)) ? undefined : createJobsOnlyFailure(seenOf);
}

/** Call before sending a response about jobs. The member may then fetch the files in it. */
export async function recordShownFiles(
  { store, now }: Dependencies<"store" | "now">,
  { id, seenOf }: ConnectionAccess,
  response: unknown,
): Promise<void> {
  if (seenOf === undefined) return;
  const files = collectFiles(response);
  if (files.length > 0) await store.jobViewers.recordShownFiles(id, files, now());
}

function collectFiles(value: unknown): ShownFile[] {
  const rows = getJobRows(value).map(asObject);
  const views = rows.flatMap((row): (OutputView | undefined)[] => [
    ...listOutputs(outputsSchema.safeParse(row?.outputs).data),
    toPreviewView(previewOutputSchema.safeParse(row?.preview_output).data),
  ]);
  return views.flatMap((view) => view?.file ?? []);
}

/** A response is one job, a list of jobs, or an object with an entry per job id. */
function getJobRows(value: unknown): unknown[] {
  const response = asObject(value) ?? {};
  for (const rows of [response.jobs, response.history]) if (Array.isArray(rows)) return rows;
  return asText(response.status) === undefined && response.outputs === undefined ? Object.values(response) : [response];
}
