import { withQuery } from "@/lib/browser/urls";
import { type ExpectedRun } from "@/lib/contract/jobs/expected-run";
import { type Runner } from "@/lib/contract/runners/runners";
import { type JobsQuery, type JobsResponse } from "@/lib/contract/schemas/job";
import { formatErrorLine, type RunningNode, toJobView, toRunningNode } from "@/lib/contract/views/job-view";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { getWorkflowName, isNameless } from "@/lib/contract/workflow/workflow-name";

/** The fields of a job that the overview shows. */
export type OverviewJob = {
  id: string;
  rawStatus: string;
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

/** The query of each list. Not every job has an image, so more jobs are requested than shown. */
export type OverviewList = "running" | "failed" | "pictures";
export const listQueries: Readonly<Record<OverviewList, Pick<JobsQuery, "status" | "limit">>> = {
  running: { status: ["in_progress"], limit: 4 },
  failed: { status: ["failed"], limit: 4 },
  pictures: { status: ["completed"], limit: 24 },
};
export const MAX_IMAGES = 12;

export function getJobsPath(list: OverviewList, connection: string): `/${string}` {
  return withQuery("/api/jobs", { ...listQueries[list], connection });
}

export function toOverviewJobs({ jobs, pagination, unreadable }: JobsResponse): OverviewJobs {
  const overviewJobs = jobs.map((job): OverviewJob => {
    const { id, rawStatus, progress, expected, startedAtMs, endedAtMs, createdAtMs, error, preview, outputsCount } = toJobView(job);
    const workflowName = job.workflow_id ? getWorkflowName(job) : undefined;
    const name = [
      workflowName === undefined || isNameless(workflowName) ? (job.prompt_excerpt ?? workflowName) : workflowName,
      job.job_label,
    ]
      .filter(Boolean)
      .join(" · ");
    const endedMs = endedAtMs ?? createdAtMs;
    const node = toRunningNode(progress);
    return {
      id,
      rawStatus,
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

/** Returns the runners that accept no jobs although they were not paused. */
export function getUnavailableRunners({ runners }: { runners: Runner[] }): Runner[] {
  return runners.filter(({ state }) => state === "set_aside" || state === "unreachable");
}
