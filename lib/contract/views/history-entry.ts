// An entry of the history, turned into a job.
// Guarantees: never throws; the same word for an ending as in the list of jobs. Free of zod: browsers load it with the first page.

import { type JobDetail } from "../schemas/job";
import { type HistoryEntry } from "../schemas/queue";
import { listOutputs, type OutputView } from "./outputs-view";

/** `files`: every file that the job put out, with the one to show first in front. */
export function jobOfEntry(entry: HistoryEntry): { job: JobDetail; files: OutputView[] } {
  const job: JobDetail = {
    id: entry.prompt_id,
    status: wordOf(entry),
    create_time: entry.create_time,
    workflow_id: entry.workflow_id,
    workflow_name: entry.workflow_name,
    job_label: entry.job_label,
    submitted_by: entry.submitted_by,
    submitted_token: entry.submitted_token,
    prompt_excerpt: entry.prompt_excerpt,
    execution_status: entry.status,
  };
  return { job, files: listOutputs(entry.outputs).filter(({ file }) => file !== undefined) };
}

/** Files that are kept come before temporary ones. Only pictures and videos count. */
export function previewOf(files: readonly OutputView[]): OutputView | undefined {
  const visual = files.filter(({ kind }) => kind === "image" || kind === "video");
  return visual.find(({ temporary }) => !temporary) ?? visual[0];
}

/** A cancelled job is listed as an error that was interrupted. */
function wordOf({ status }: HistoryEntry): string {
  if (status?.status_str === "success") return "completed";
  const wasInterrupted = status?.messages.some(([event]) => event === "execution_interrupted");
  if (wasInterrupted) return "cancelled";
  return status?.status_str === "error" ? "failed" : (status?.status_str ?? "unknown");
}
