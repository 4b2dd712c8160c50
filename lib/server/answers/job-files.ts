// Which operations read only jobs, and the files that their answers show.
// Guarantees: pure; every operation without the mark in its row reads more than jobs.

import "server-only";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { isRead, type Operation } from "@/lib/contract/operation";
import { outputsSchema, previewOutputSchema } from "@/lib/contract/schemas/execution";
import { listOutputs, type OutputView, toPreviewView } from "@/lib/contract/views/outputs-view";
import { type ShownFile } from "../store/jobs/job-viewers";

export function readsJobs(operation: Operation): boolean {
  return isRead(operation) && operation.reads !== undefined;
}

/** The files shown by an answer about jobs: their outputs, in any of the shapes such an answer has. */
export function filesShownIn(value: unknown): ShownFile[] {
  const rows = rowsOf(value).map(objectOf);
  const views = rows.flatMap((row): (OutputView | undefined)[] => [
    ...listOutputs(outputsSchema.safeParse(row?.outputs).data),
    toPreviewView(previewOutputSchema.safeParse(row?.preview_output).data),
  ]);
  return views.flatMap((view) => view?.file ?? []);
}

/** An answer is one job, a list of jobs, or an object with an entry for each job id. */
function rowsOf(value: unknown): unknown[] {
  const answer = objectOf(value) ?? {};
  for (const list of [answer.jobs, answer.history]) if (Array.isArray(list)) return list;
  return textOf(answer.status) === undefined && answer.outputs === undefined ? Object.values(answer) : [answer];
}
