import { type JobReach, type JobSearchAnswer } from "@/lib/contract/console-job-search";
import { jobOfEntry, previewOf } from "@/lib/contract/history-entry";
import { toJobView } from "@/lib/contract/job-view";
import { type OutputFile, toPreviewView } from "@/lib/contract/outputs-view";
import { type JobDetail, type JobListItem } from "@/lib/contract/schemas/job";
import { type HistoryAnswer, type HistoryEntry } from "@/lib/contract/schemas/queue";
import { type JobState } from "@/lib/contract/states";
import { workflowName } from "@/lib/contract/workflow-name";

/** What a row of the history shows, and no more: it travels to the browser with every page. */
export type HistoryRow = {
  id: string;
  word: string;
  state: JobState;
  createdMs?: number;
  startedMs?: number;
  endedMs?: number;
  workflow?: string;
  /** What tells a copy of a run from the others. */
  label?: string;
  error?: string;
  outputs: number;
  preview?: OutputFile;
};

const SHOWN_ERROR = 140;

/** `unreadable`: entries of this page that the service sent in a shape that nobody knows. `total` and `reach`: of what was found in the ledger. */
export type HistoryView = { rows: HistoryRow[]; unreadable: number; total?: number; reach?: JobReach };

export function toHistoryView(answer: HistoryAnswer | JobSearchAnswer): HistoryView {
  if (isFound(answer)) {
    const rows = answer.jobs.map((job) => toRow(job, job.outputs_count ?? 0, toPreviewView(job.preview_output)?.file));
    return { rows, unreadable: 0, total: answer.pagination.total, reach: answer.reach };
  }
  return { rows: answer.history.map(toHistoryRow), unreadable: answer.unreadable ?? 0 };
}

const isFound = (answer: HistoryAnswer | JobSearchAnswer): answer is JobSearchAnswer => Array.isArray(answer.jobs);

function toHistoryRow(entry: HistoryEntry): HistoryRow {
  const { job, files } = jobOfEntry(entry);
  return toRow(job, files.length, previewOf(files)?.file);
}

function toRow(job: JobListItem | JobDetail, outputs: number, preview: OutputFile | undefined): HistoryRow {
  const { id, word, state, createdAtMs, startedAtMs, endedAtMs, error } = toJobView(job);
  const line = error && [error.nodeType, error.message.trim().split("\n")[0] || error.type].filter(Boolean).join(": ");
  return {
    id,
    word,
    state,
    outputs,
    ...(createdAtMs !== undefined && { createdMs: createdAtMs }),
    ...(startedAtMs !== undefined && { startedMs: startedAtMs }),
    ...(endedAtMs !== undefined && { endedMs: endedAtMs }),
    ...(job.workflow_id && { workflow: workflowName(job) }),
    ...(job.job_label && { label: job.job_label }),
    ...(line && { error: line.slice(0, SHOWN_ERROR) }),
    ...(preview && { preview }),
  };
}
