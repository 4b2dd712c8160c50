"use client";
// Where the newest job that this page started stands.
// Guarantees: one question each time for the newest jobs, as details carry the whole graph; nothing is asked once it has ended, but once the
// details of a failed job whose list does not say why.

import { type Motion } from "@/lib/browser/poll-plan";
import { withQuery } from "@/lib/browser/urls";
import { usePoll } from "@/lib/browser/use-poll";
import { type JobErrorView } from "@/lib/contract/job-error-view";
import { type JobView, toJobView } from "@/lib/contract/job-view";
import { type JobDetail, type JobsAnswer } from "@/lib/contract/schemas/job";

/** Others submit too. */
const NEWEST = 20;

export function useStartedJob(jobId: string | undefined, connection: string | undefined): JobView | undefined {
  const isAsked = jobId !== undefined && connection !== undefined;
  // The fragment is never sent: a poll that has ended for one job begins anew for the next.
  const path = isAsked ? (`${withQuery("/api/jobs", { limit: NEWEST, connection })}#${encodeURIComponent(jobId)}` as const) : undefined;
  const find = (jobs: readonly JobView[]) => jobs.find(({ id }) => id === jobId);
  const { value } = usePoll(path, { read: toViews, motion: (jobs) => motionOf(find(jobs)) });
  const job = value && find(value);
  const isSilent = isAsked && job?.state === "failed" && job.error === undefined;
  const details = isSilent ? withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection }) : undefined;
  const { value: error } = usePoll(details, { read: toError, motion: () => "final" });
  return job && error ? { ...job, error } : job;
}

function toError(detail: JobDetail): JobErrorView | undefined {
  return toJobView(detail).error;
}

function toViews({ jobs }: Pick<JobsAnswer, "jobs">): readonly JobView[] {
  return jobs.map((item) => toJobView(item));
}

/** One that no list holds, such as a job that was deleted, is no reason to ask in haste. */
function motionOf(job: JobView | undefined): Motion {
  if (!job) return "background";
  return job.terminal ? "final" : "moving";
}
