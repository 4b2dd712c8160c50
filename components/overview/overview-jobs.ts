import { withQuery } from "@/lib/browser/urls";
import { type ExpectedRun } from "@/lib/contract/jobs/expected-run";
import { type Runner } from "@/lib/contract/runners/runners";
import { type JobsAnswer, type JobsQuery } from "@/lib/contract/schemas/job";
import { formatErrorLine, type RunningNode, toJobView, toRunningNode } from "@/lib/contract/views/job-view";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { getWorkflowName, isNameless } from "@/lib/contract/workflow/workflow-name";

/** The fields of a job that the overview shows. */
export type OverviewJob = {
  id: string;
  word: string;
  name?: string;
  /** 0 to 1 */
  progress?: number;
  expected?: ExpectedRun;
  runningNode?: RunningNode;
  outputs?: number;
  startedMs?: number;
  endedMs?: number;
  error?: string;
  preview?: OutputFile;
};
/** `unreadable`: the number of unreadable entries. */
export type OverviewJobs = { jobs: OverviewJob[]; total?: number; unreadable?: number };

/** The requests of each part. Not every job has a picture, so more are requested than shown. */
export type Question = "running" | "failed" | "pictures";
export const questions: Readonly<Record<Question, Pick<JobsQuery, "status" | "limit">>> = {
  running: { status: ["in_progress"], limit: 4 },
  failed: { status: ["failed"], limit: 4 },
  pictures: { status: ["completed"], limit: 24 },
};
export const MAX_PICTURES = 12;

export function jobsPath(question: Question, connection: string): `/${string}` {
  return withQuery("/api/jobs", { ...questions[question], connection });
}

export function toOverviewJobs({ jobs, pagination, unreadable }: JobsAnswer): OverviewJobs {
  const overviewJobs = jobs.map((job): OverviewJob => {
    const { id, word, progress, expected, startedAtMs, endedAtMs, createdAtMs, error, preview, outputsCount } = toJobView(job);
    const workflowLabel = job.workflow_id ? getWorkflowName(job) : undefined;
    const name = [
      workflowLabel === undefined || isNameless(workflowLabel) ? (job.prompt_excerpt ?? workflowLabel) : workflowLabel,
      job.job_label,
    ]
      .filter(Boolean)
      .join(" · ");
    const endedMs = endedAtMs ?? createdAtMs;
    const node = toRunningNode(progress);
    return {
      id,
      word,
      ...(name !== "" && { name }),
      ...(progress?.value !== undefined && { progress: progress.value }),
      ...(expected && { expected }),
      ...(node && { runningNode: node }),
      ...(outputsCount && { outputs: outputsCount }),
      ...(startedAtMs !== undefined && { startedMs: startedAtMs }),
      ...(endedMs !== undefined && { endedMs }),
      ...(error && { error: formatErrorLine(error) }),
      ...(preview?.file && { preview: preview.file }),
    };
  });
  return { jobs: overviewJobs, ...(pagination.total !== undefined && { total: pagination.total }), ...(unreadable && { unreadable }) };
}

/** Runners that accept no jobs although they were not paused. Used by the page and its live updates. */
export function unavailableRunners({ runners }: { runners: Runner[] }): Runner[] {
  return runners.filter(({ state }) => state === "set_aside" || state === "unreachable");
}
