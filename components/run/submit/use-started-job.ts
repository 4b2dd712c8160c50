// The state of the newest job that this page started, and its results.
// Guarantees: one request each time for the newest jobs, as details carry the whole graph, and one for files that land while it runs; the
// details once it has ended, for its outputs and for an error that the list does not report; then no more requests. A job that the list
// lacks counts as gone if its details answer 404 too.

import { useFollowCounts, useRefreshCounts } from "@/components/frame/counts-context";
import { type ReceiptEntry } from "@/components/jobs/actions/end-jobs";
import { useCanStop } from "@/components/jobs/actions/job-lines";
import { useJobWork } from "@/components/jobs/actions/use-job-work";
import { type Motion } from "@/lib/browser/poll/poll-plan";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type Outputs } from "@/lib/contract/schemas/execution";
import { type JobDetail, type JobsAnswer } from "@/lib/contract/schemas/job";
import { type JobView, toJobView } from "@/lib/contract/views/job-view";
import { listOutputs, type OutputView } from "@/lib/contract/views/outputs-view";
import { type Receipt } from "./attempt";

/** Other members submit jobs too. */
const NEWEST = 20;

type Detail = { job: JobView; outputs: readonly OutputView[] };
/** `outputs`: absent until some are known. */
export type StartedJob = JobView & { outputs?: readonly OutputView[] };

/** `gone`: the service has no trace of the job any more. */
export type StandingState = Exclude<JobView["state"], "unknown"> | "gone";

export function useStartedJob(receipt: Receipt | undefined, connection: string | undefined) {
  const jobId = receipt?.jobId;
  const isAsked = jobId !== undefined && connection !== undefined;
  // The fragment is never sent. It makes a new poll key, so that polling starts again for the next job.
  const path = isAsked ? (`${withQuery("/api/jobs", { limit: NEWEST, connection })}#${encodeURIComponent(jobId)}` as const) : undefined;
  const find = (jobs: readonly JobView[]) => jobs.find(({ id }) => id === jobId);
  const { value, refresh, failure: outage } = usePoll(path, { read: toViews, motion: (jobs) => motionOf(find(jobs)) });
  const listed = value && find(value);
  const hasEnded = listed?.terminal === true && listed.state !== "cancelled";
  const isUnlisted = value !== undefined && !listed;
  // A cache key of its own: the job's page keeps more of the same answer under the plain path.
  const details =
    isAsked && (hasEnded || isUnlisted)
      ? (`${withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection })}#started` as const)
      : undefined;
  const { value: detail, failure } = usePoll(details, { read: toDetail, motion: ({ job }) => motionOf(job) });
  // Keeps what has landed on screen until the details arrive.
  const isLanding = isAsked && (listed?.state === "in_progress" || (hasEnded && !detail));
  const landing = isLanding ? withQuery(`/api/console/jobs/${encodeURIComponent(jobId)}/landed`, { connection }) : undefined;
  const { value: landed } = usePoll(landing, { read: toLanded, motion: () => "moving" });
  const isGone = isUnlisted && failure?.status === 404;
  const job = isGone ? undefined : toStarted(listed, detail, landed);
  // Some services forget a job that is cancelled while it waits.
  const forgotten = receipt?.isCancelled ? "cancelled" : "gone";
  const state: StandingState = isGone ? forgotten : !job || job.state === "unknown" ? "pending" : job.state;
  const canStop = useCanStop(connection, state === "in_progress");
  useFollowCounts(receipt && `${receipt.jobId} ${state}`);
  // Whether the job still runs is unknown while the service is unreachable.
  return { job, state, canStop, isAway: outage !== undefined && !job?.terminal, refresh };
}

function toStarted(
  listed: JobView | undefined,
  detail: Detail | undefined,
  landed: readonly OutputView[] | undefined,
): StartedJob | undefined {
  const job = listed ?? detail?.job;
  if (!job || job.state === "cancelled") return job;
  if (!job.terminal || !detail?.job.terminal) return landed?.length ? { ...job, outputs: landed } : job;
  const error = job.error ?? detail.job.error;
  return { ...job, outputs: detail.outputs, ...(error && { error }) };
}

function toLanded({ outputs }: { outputs: Outputs }): readonly OutputView[] {
  return listOutputs(outputs);
}

function toDetail(detail: JobDetail): Detail {
  return { job: toJobView(detail), outputs: listOutputs(detail.outputs) };
}

function toViews({ jobs }: Pick<JobsAnswer, "jobs">): readonly JobView[] {
  return jobs.map((item) => toJobView(item));
}

/** A job that is in no list, for example a deleted one, does not make the page ask more often. */
function motionOf(job: JobView | undefined): Motion {
  if (!job) return "background";
  return job.terminal ? "final" : "moving";
}

type Choices = {
  connection: string | undefined;
  /** The jobs that were cancelled before they ran. Called even after the page was left, as some services forget such jobs. */
  onCancelled: (jobIds: readonly string[]) => void;
  refresh: () => Promise<unknown>;
};

/** Cancels and stops jobs that this page started. */
export function useEndJobs({ connection, onCancelled, refresh }: Choices) {
  const refreshCounts = useRefreshCounts();
  const tell = (entries: readonly ReceiptEntry[]) =>
    onCancelled(entries.flatMap(({ id, outcome }) => (outcome === "cancelled" ? [id] : [])));
  return useJobWork({
    connection,
    onDone: (_act, entries) => {
      tell(entries);
      void refreshCounts();
      void refresh();
    },
    onLeft: tell,
  });
}
