// The state of the newest job that this page started, and its results.
// Watches the list of the newest jobs, since details contain the full graph. The details are read once the job has ended, for its outputs and
// for an error that the list does not report. A job that the list lacks counts as missing if its details return 404 too.

import { useState } from "react";
import { useRefreshCounts } from "@/components/frame/counts-context";
import { type ResultEntry } from "@/components/jobs/actions/end-jobs";
import { useCanStop } from "@/components/jobs/actions/job-lines";
import { useJobWork } from "@/components/jobs/actions/use-job-work";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type JobDetail, type JobsResponse } from "@/lib/contract/schemas/job";
import { type JobView, listLiveOutputs, toJobView } from "@/lib/contract/views/job-view";
import { listOutputs, type OutputView } from "@/lib/contract/views/outputs-view";
import { type SubmittedJob } from "./attempt";

const LIST_LIMIT = 20;

type Detail = { job: JobView; outputs: readonly OutputView[] };
/** `outputs` is absent until some are available. */
export type StartedJob = JobView & { outputs?: readonly OutputView[] };

/** `gone`: the service no longer has the job. */
export type DisplayedJobState = Exclude<JobView["state"], "unknown"> | "gone";

export function useStartedJob(submittedJob: SubmittedJob | undefined, connection: string | undefined) {
  const jobId = submittedJob?.jobId;
  const isPolled = jobId !== undefined && connection !== undefined;
  // The fragment is never sent. It makes a new cache key, so that the list is read again for the next job.
  const path = isPolled
    ? (`${withQuery("/api/jobs", { limit: LIST_LIMIT, connection })}#${encodeURIComponent(jobId)}` as const)
    : undefined;
  const findJob = (jobs: readonly StartedJob[]) => jobs.find(({ id }) => id === jobId);
  const { value, refresh, failure: outage } = useLive(path, { read: toViews, isFinal: (jobs) => findJob(jobs)?.terminal === true });
  const listedJob = value && findJob(value);
  const hasEnded = listedJob?.terminal === true && listedJob.state !== "cancelled";
  const isUnlisted = value !== undefined && !listedJob;
  // A separate cache key, since the job's page stores more of the same response under the plain path.
  const detailPath =
    isPolled && (hasEnded || isUnlisted)
      ? (`${withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection })}#started` as const)
      : undefined;
  const { value: detail, failure } = useLive(detailPath, { read: toDetail, isFinal: ({ job }) => job.terminal });
  // Finished rows have no outputs, so the last live ones stay until the details load.
  const [lastOutputs, setLastOutputs] = useState<{ id: string; outputs: readonly OutputView[] }>();
  if (listedJob?.outputs && listedJob.outputs !== lastOutputs?.outputs) setLastOutputs({ id: listedJob.id, outputs: listedJob.outputs });
  const liveOutputs = hasEnded && lastOutputs?.id === jobId ? lastOutputs?.outputs : listedJob?.outputs;
  const isMissing = isUnlisted && failure?.status === 404;
  const job = isMissing ? undefined : toStartedJob(listedJob, detail, liveOutputs);
  // Some services forget a job that is cancelled while pending.
  const missingState = submittedJob?.isCancelled ? "cancelled" : "gone";
  const state: DisplayedJobState = isMissing ? missingState : !job || job.state === "unknown" ? "pending" : job.state;
  const canStop = useCanStop(connection, state === "in_progress");
  // Whether the job still runs is unknown while the service is unreachable.
  return { job, state, canStop, isUnavailable: outage !== undefined && !job?.terminal, refresh };
}

function toStartedJob(
  listedJob: StartedJob | undefined,
  detail: Detail | undefined,
  liveOutputs: readonly OutputView[] | undefined,
): StartedJob | undefined {
  const job = listedJob ?? detail?.job;
  if (!job || job.state === "cancelled") return job;
  if (!job.terminal || !detail?.job.terminal) return liveOutputs?.length ? { ...job, outputs: liveOutputs } : job;
  const error = job.error ?? detail.job.error;
  return { ...job, outputs: detail.outputs, ...(error && { error }) };
}

function toDetail(detail: JobDetail): Detail {
  return { job: toJobView(detail), outputs: listOutputs(detail.outputs) };
}

function toViews({ jobs }: Pick<JobsResponse, "jobs">): readonly StartedJob[] {
  return jobs.map((item) => {
    const [job, outputs] = [toJobView(item), listLiveOutputs(item)];
    return job.terminal || outputs.length === 0 ? job : { ...job, outputs };
  });
}

type EndJobsOptions = {
  connection: string | undefined;
  /** Receives the jobs that were cancelled before they ran. Called even after the page was left, since some services forget such jobs. */
  onCancelled: (jobIds: readonly string[]) => void;
  refresh: () => Promise<unknown>;
};

export function useEndJobs({ connection, onCancelled, refresh }: EndJobsOptions) {
  const refreshCounts = useRefreshCounts();
  const reportCancelled = (entries: readonly ResultEntry[]) =>
    onCancelled(entries.flatMap(({ id, outcome }) => (outcome === "cancelled" ? [id] : [])));
  return useJobWork({
    connection,
    onDone: (_action, entries) => {
      reportCancelled(entries);
      void refreshCounts();
      void refresh();
    },
    onUnfinished: reportCancelled,
  });
}
