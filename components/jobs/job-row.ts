import { type FileName } from "@/lib/browser/urls";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { type JobState, toJobState } from "@/lib/contract/states";
import { toMilliseconds } from "@/lib/contract/times";

/** What a row of the list shows, and no more: it travels to the browser with every page. */
export type JobRow = {
  id: string;
  /** The state as the service said it. */
  word: string;
  state: JobState;
  createdMs?: number;
  startedMs?: number;
  endedMs?: number;
  workflow?: string;
  /** 0 to 1 */
  progress?: number;
  error?: string;
  outputs?: number;
  preview?: FileName;
};

export type JobsView = { rows: JobRow[]; total?: number; hasMore?: boolean };

const SHOWN_ERROR = 140;

export function toJobsView(answer: JobsAnswer): JobsView {
  return { rows: answer.jobs.map(toJobRow), total: answer.pagination.total, hasMore: answer.pagination.has_more };
}

export function toJobRow(job: JobListItem): JobRow {
  const state = toJobState(job.status);
  const row: JobRow = {
    id: job.id,
    word: job.status,
    state,
    createdMs: toMilliseconds(job.create_time),
    startedMs: toMilliseconds(job.execution_start_time),
    endedMs: toMilliseconds(job.execution_end_time),
    workflow: workflowName(job),
    progress: state === "in_progress" ? (job.progress?.value ?? undefined) : undefined,
    error: state === "failed" ? errorLine(job) : undefined,
    outputs: job.outputs_count ?? undefined,
    preview: previewOf(job),
  };
  return withoutUndefined(row);
}

/** The name a console has given, where it has; else the beginning of the workflow's id. */
function workflowName(job: JobListItem): string | undefined {
  return typeof job.workflow_name === "string" && job.workflow_name !== "" ? job.workflow_name : job.workflow_id?.slice(0, 8);
}

/** "LoadImage: file not found". A refusal that arrived as JSON inside the text is named by its type only; the job's page unfolds it. */
function errorLine(job: JobListItem): string | undefined {
  const error = job.execution_error;
  if (!error) return undefined;
  const firstLine = error.exception_message.trim().split("\n")[0] ?? "";
  const said = firstLine.includes("{") || firstLine === "" ? error.exception_type : firstLine;
  const line = [error.node_type, said].filter(Boolean).join(": ");
  return line.length > SHOWN_ERROR ? `${line.slice(0, SHOWN_ERROR - 1)}…` : line || undefined;
}

function previewOf(job: JobListItem): FileName | undefined {
  const preview = job.preview_output;
  return preview?.filename ? { filename: preview.filename, subfolder: preview.subfolder, type: preview.type } : undefined;
}

/** Absent fields are left out: a hundred rows of them are kilobytes. */
function withoutUndefined(row: JobRow): JobRow {
  const { id, word, state, ...rest } = row;
  return { id, word, state, ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) };
}
