import { type JobReach, type JobSearchAnswer, type QueueView } from "@/lib/contract/console";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { type JobWaits } from "@/lib/contract/runners/runners";
import { type HistoryAnswer, type JobDetail, type JobListItem, type JobsAnswer, type SearchMatch } from "@/lib/contract/schemas/job";
import { errorLine, jobOfEntry, previewOf, type RunningNode, runningNode, toJobView } from "@/lib/contract/views/job-view";
import { type OutputFile, type OutputView } from "@/lib/contract/views/outputs-view";
import { workflowName } from "@/lib/contract/workflow/workflow-name";

/** A job as every list shows it, from any answer. It is sent to the browser with every page, so it holds only this. */
export type JobRow = {
  id: string;
  /** The state in the service's words. */
  word: string;
  state: JobState;
  createdMs?: number;
  startedMs?: number;
  endedMs?: number;
  workflow?: string;
  workflowId?: string;
  /** The beginning of the prompt, if the workflow has no name. */
  excerpt?: string;
  /** Where the search terms occur. */
  match?: SearchMatch;
  /** Tells a copy of a run from the others. */
  label?: string;
  /** The member who submitted it here. */
  by?: string;
  /** The name of the token that submitted the job. */
  token?: string;
  /** 0 to 1 */
  progress?: number;
  runningNode?: RunningNode;
  error?: string;
  outputs?: number;
  preview?: OutputFile;
  /** Selects the icon that is shown without a picture. */
  previewKind?: "video" | "audio";
  /** Its place in the queue: 1 is next. A running job has none. */
  position?: number;
  /** Why the job waits although a slot may be free. */
  waits?: JobWaits;
};

/** `isCut`: the service has older jobs. `unreadable`: rows of unknown shape. `reach`: for rows found in the ledger. */
export type JobsView = {
  rows: JobRow[];
  total?: number;
  hasMore?: boolean;
  /** Where the next page begins, if this one is shorter than requested. */
  nextOffset?: number;
  isCut?: boolean;
  unreadable?: number;
  reach?: JobReach;
};

export function toJobsView(answer: JobsAnswer & { reach?: JobReach }): JobsView {
  return {
    rows: answer.jobs.map(toJobRow),
    total: answer.pagination.total,
    hasMore: answer.pagination.has_more,
    isCut: answer.is_cut,
    unreadable: answer.unreadable,
    reach: answer.reach,
  };
}

/** Absent fields are left out, which saves kilobytes for a hundred rows. */
export function toJobRow(job: JobListItem | JobDetail): JobRow {
  const { id, word, state, createdAtMs, startedAtMs, endedAtMs, progress, error, outputsCount, preview, waits } = toJobView(job);
  const line = error && errorLine(error);
  const node = runningNode(progress);
  return {
    id,
    word,
    state,
    ...(createdAtMs !== undefined && { createdMs: createdAtMs }),
    ...(startedAtMs !== undefined && { startedMs: startedAtMs }),
    ...(endedAtMs !== undefined && { endedMs: endedAtMs }),
    ...(job.workflow_id && { workflow: workflowName(job), workflowId: job.workflow_id }),
    ...(job.prompt_excerpt && { excerpt: job.prompt_excerpt }),
    ...(job.search_match && { match: job.search_match }),
    ...(job.job_label && { label: job.job_label }),
    ...(job.submitted_by && { by: job.submitted_by }),
    ...(job.submitted_token && { token: job.submitted_token }),
    ...(progress?.value !== undefined && { progress: progress.value }),
    ...(node && { runningNode: node }),
    ...(line && { error: line }),
    ...(outputsCount !== undefined && { outputs: outputsCount }),
    ...previewPart(preview),
    ...(waits && { waits }),
  };
}

function previewPart(preview: OutputView | undefined): Pick<JobRow, "preview" | "previewKind"> {
  if (!preview?.file) return {};
  const { file, kind } = preview;
  return { preview: file, ...((kind === "video" || kind === "audio") && { previewKind: kind }) };
}

/** The history as the service reports it, or the ended jobs that a search found. */
export function toHistoryView(answer: HistoryAnswer | JobSearchAnswer): JobsView {
  if (isFound(answer)) return toJobsView(answer);
  const rows = answer.history.map((entry) => {
    const { job, files } = jobOfEntry(entry);
    return { ...toJobRow(job), outputs: files.length, ...previewPart(previewOf(files)) };
  });
  return { rows, unreadable: answer.unreadable, nextOffset: answer.next_offset };
}

const isFound = (answer: HistoryAnswer | JobSearchAnswer): answer is JobSearchAnswer => Array.isArray(answer.jobs);

export type QueueList = {
  running: JobRow[];
  pending: JobRow[];
  /** May be more than are listed. */
  pendingTotal: number;
  /** The service reports no order of its own, so the order of submission is shown. */
  isBySubmission: boolean;
  /** Running jobs can be stopped. */
  canStop: boolean;
  /** The number of jobs of unknown shape. */
  unreadable?: number;
};

/** Waiting jobs are in the service's order, where it reports one. */
export function toQueueList({ running, pending, source, canStop, total, unreadable }: QueueView): QueueList {
  const waiting = pending.map((job) => ({
    ...toJobRow(job),
    ...(job.position !== undefined && { position: job.position }),
  }));
  return {
    running: running.map(toJobRow).sort(bySubmission),
    pending: source === "queue" ? waiting : waiting.sort(bySubmission).map((row, index) => ({ ...row, position: index + 1 })),
    pendingTotal: Math.max(pending.length, (total ?? 0) - running.length),
    isBySubmission: source === "jobs",
    canStop,
    ...(unreadable && { unreadable }),
  };
}

function bySubmission(one: JobRow, other: JobRow): number {
  return (one.createdMs ?? 0) - (other.createdMs ?? 0);
}
