import { type JobReach, type QueueView } from "@/lib/contract/console";
import { type ExpectedRun } from "@/lib/contract/jobs/expected-run";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { type JobWaitReason } from "@/lib/contract/runners/runners";
import { type HistoryResponse, type JobDetail, type JobListItem, type JobsResponse, type SearchMatch } from "@/lib/contract/schemas/job";
import { choosePreview, formatErrorLine, type RunningNode, toHistoryJob, toJobView, toRunningNode } from "@/lib/contract/views/job-view";
import { type OutputFile, type OutputView } from "@/lib/contract/views/outputs-view";
import { getWorkflowName } from "@/lib/contract/workflow/workflow-name";

/** A row of a job list, from any response. Every page sends its rows to the browser, so add fields sparingly. */
export type JobRow = {
  id: string;
  rawStatus: string;
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
  label?: string;
  submittedBy?: string;
  submittedToken?: string;
  /** 0 to 1 */
  progress?: number;
  expected?: ExpectedRun;
  runningNode?: RunningNode;
  error?: string;
  outputs?: number;
  preview?: OutputFile;
  /** The version of a running job's newest preview image. */
  livePreview?: number;
  /** Selects the icon to show without an image. */
  previewKind?: "video" | "audio";
  /** Position in the queue: 1 is next. Undefined for running jobs. */
  position?: number;
  /** Why the job is pending although a slot may be free. */
  waiting?: JobWaitReason;
};

/** `hasOlderJobs`: whether the service has older jobs. `reach`: set if the rows come from the job index. */
export type JobsView = {
  rows: JobRow[];
  total?: number;
  hasMore?: boolean;
  /** The offset of the next page, if this page is shorter than requested. */
  nextOffset?: number;
  hasOlderJobs?: boolean;
  unreadable?: number;
  reach?: JobReach;
};

/** Accepts any list of jobs, or the history as the service reports it. */
export function toJobsView(response: (JobsResponse & { reach?: JobReach }) | HistoryResponse): JobsView {
  if (!isJobsResponse(response)) return toHistoryView(response);
  return {
    rows: response.jobs.map(toJobRow),
    total: response.pagination.total,
    hasMore: response.pagination.has_more,
    hasOlderJobs: response.is_cut,
    unreadable: response.unreadable,
    reach: response.reach,
  };
}

/** Omits undefined fields, which saves kilobytes for a hundred rows. */
export function toJobRow(job: JobListItem | JobDetail): JobRow {
  const {
    id,
    rawStatus,
    state,
    createdAtMs,
    startedAtMs,
    endedAtMs,
    progress,
    expected,
    error,
    outputsCount,
    preview,
    waits: waiting,
  } = toJobView(job);
  const errorText = error && formatErrorLine(error);
  const node = toRunningNode(progress);
  return {
    id,
    rawStatus,
    state,
    ...(createdAtMs !== undefined && { createdMs: createdAtMs }),
    ...(startedAtMs !== undefined && { startedMs: startedAtMs }),
    ...(endedAtMs !== undefined && { endedMs: endedAtMs }),
    ...(job.workflow_id && { workflow: getWorkflowName(job), workflowId: job.workflow_id }),
    ...(job.prompt_excerpt && { excerpt: job.prompt_excerpt }),
    ...(job.search_match && { match: job.search_match }),
    ...(job.job_label && { label: job.job_label }),
    ...(job.submitted_by && { submittedBy: job.submitted_by }),
    ...(job.submitted_token && { submittedToken: job.submitted_token }),
    ...(progress?.value !== undefined && { progress: progress.value }),
    ...(expected && { expected }),
    ...(node && { runningNode: node }),
    ...(errorText && { error: errorText }),
    ...(outputsCount !== undefined && { outputs: outputsCount }),
    ...toPreviewFields(preview),
    ...(progress?.previewVersion !== undefined && { livePreview: progress.previewVersion }),
    ...(waiting && { waiting }),
  };
}

function toPreviewFields(preview: OutputView | undefined): Pick<JobRow, "preview" | "previewKind"> {
  if (!preview?.file) return {};
  const { file, kind } = preview;
  return { preview: file, ...((kind === "video" || kind === "audio") && { previewKind: kind }) };
}

function toHistoryView(response: HistoryResponse): JobsView {
  const rows = response.history.map((entry) => {
    const { job, files } = toHistoryJob(entry);
    return { ...toJobRow(job), outputs: files.length, ...toPreviewFields(choosePreview(files)) };
  });
  return { rows, unreadable: response.unreadable, nextOffset: response.next_offset };
}

const isJobsResponse = (response: JobsResponse | HistoryResponse): response is JobsResponse => Array.isArray(response.jobs);

export type QueueList = {
  running: JobRow[];
  pending: JobRow[];
  pendingTotal: number;
  /** True if the service reports no order, so that jobs are sorted by submission. */
  isSortedBySubmission: boolean;
  canStop: boolean;
  unreadable?: number;
};

/** Keeps the service's order of waiting jobs, if it reports one. */
export function toQueueList({ running, pending, source, canStop, total, unreadable }: QueueView): QueueList {
  const pendingRows = pending.map((job) => ({
    ...toJobRow(job),
    ...(job.position !== undefined && { position: job.position }),
  }));
  return {
    running: running.map(toJobRow).sort(compareBySubmission),
    pending:
      source === "queue" ? pendingRows : pendingRows.sort(compareBySubmission).map((row, index) => ({ ...row, position: index + 1 })),
    pendingTotal: Math.max(pending.length, (total ?? 0) - running.length),
    isSortedBySubmission: source === "jobs",
    canStop,
    ...(unreadable && { unreadable }),
  };
}

function compareBySubmission(job: JobRow, other: JobRow): number {
  return (job.createdMs ?? 0) - (other.createdMs ?? 0);
}
