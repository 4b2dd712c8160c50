"use client";
// Where the newest job that this page started stands, and what it has made.
// Guarantees: one question each time for the newest jobs, as details carry the whole graph; the details once it has ended, for its outputs and
// for an error that the list does not tell; then nothing is asked any more.

import { type Motion } from "@/lib/browser/poll-plan";
import { withQuery } from "@/lib/browser/urls";
import { usePoll } from "@/lib/browser/use-poll";
import { type JobErrorView } from "@/lib/contract/job-error-view";
import { type JobView, toJobView } from "@/lib/contract/job-view";
import { listOutputs, type OutputView } from "@/lib/contract/outputs-view";
import { type JobDetail, type JobsAnswer } from "@/lib/contract/schemas/job";

/** Others submit too. */
const NEWEST = 20;

type Ended = { error?: JobErrorView; outputs: readonly OutputView[] };
/** `outputs`: absent until they are known. */
export type StartedJob = JobView & { outputs?: readonly OutputView[] };

export function useStartedJob(jobId: string | undefined, connection: string | undefined): StartedJob | undefined {
  const isAsked = jobId !== undefined && connection !== undefined;
  // The fragment is never sent: a poll that has ended for one job begins anew for the next.
  const path = isAsked ? (`${withQuery("/api/jobs", { limit: NEWEST, connection })}#${encodeURIComponent(jobId)}` as const) : undefined;
  const find = (jobs: readonly JobView[]) => jobs.find(({ id }) => id === jobId);
  const { value } = usePoll(path, { read: toViews, motion: (jobs) => motionOf(find(jobs)) });
  const job = value && find(value);
  const hasEnded = isAsked && job?.terminal === true && job.state !== "cancelled";
  const details = hasEnded ? withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection }) : undefined;
  const { value: ended } = usePoll(details, { read: toEnded, motion: () => "final" });
  if (!job || !ended || !hasEnded) return job;
  const error = job.error ?? ended.error;
  return { ...job, outputs: ended.outputs, ...(error && { error }) };
}

function toEnded(detail: JobDetail): Ended {
  const { error } = toJobView(detail);
  return { outputs: listOutputs(detail.outputs), ...(error && { error }) };
}

function toViews({ jobs }: Pick<JobsAnswer, "jobs">): readonly JobView[] {
  return jobs.map((item) => toJobView(item));
}

/** One that no list holds, such as a job that was deleted, is no reason to ask in haste. */
function motionOf(job: JobView | undefined): Motion {
  if (!job) return "background";
  return job.terminal ? "final" : "moving";
}
