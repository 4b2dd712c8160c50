// Watches the jobs and app runs that this page submits, until they end.

import { type ApiResponse, callApi, onResponse } from "@/lib/browser/api";
import { liveState } from "@/lib/browser/live/live-state";
import { watchPath } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type AppRun } from "@/lib/contract/apps/app";
import { type QueueView } from "@/lib/contract/console";
import { getExpectedProgress } from "@/lib/contract/jobs/expected-run";
import { isTerminalStatus, type JobState, toJobState } from "@/lib/contract/jobs/job-list";
import { asObject, asText } from "@/lib/contract/json/json";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";

/** `app`: set for runs of this app, whose job some members may not see. `batch`: shared by the jobs that were submitted together. */
export type FollowedJob = { id: string; connection: string; app?: string; batch: string; atMs: number };
type JobsFollower = {
  jobs?: readonly FollowedJob[];
  currentConnection: () => string | undefined;
  onSubmitted: (job: FollowedJob) => void;
  /** `unknown`: the job was removed, or the app run was never submitted. */
  onEnded: (job: FollowedJob, state: JobState) => void;
  /** Receives the first running job, and the progress of the first job that reports it. */
  onActivity?: (activity: JobActivity) => void;
};
export type JobActivity = { runningId?: string; share?: number };

export const MAX_FOLLOWED_JOBS = 1_000;
/** New jobs are not checked sooner, because a list that was read before the submission does not contain them. */
const CHECK_INTERVAL_MS = 2_000;

/** The open jobs of a list, with the progress of running ones. */
type OpenJobs = { ids: ReadonlySet<string>; running: ReadonlyMap<string, number | undefined>; isTruncated: boolean };
const unknownJobs: OpenJobs = { ids: new Set(), running: new Map(), isTruncated: true };

export function followJobs({ jobs = [], currentConnection, onSubmitted, onEnded, onActivity }: JobsFollower): () => void {
  const openJobsById = new Map(jobs.map((job) => [job.id, job]));
  const lists = new Map<string, { openJobs: OpenJobs; stop: () => void }>();
  let isChecking = false;

  function watchList(job: FollowedJob): void {
    const path = getListPath(job);
    if (lists.has(path)) return;
    const stop = watchPath<QueueView | RunsResponse>(path, (message) => {
      const list = lists.get(path);
      if (list) list.openJobs = "response" in message ? toOpenJobs(message.response) : unknownJobs;
      reportActivity();
      void checkEnded();
    });
    lists.set(path, { openJobs: unknownJobs, stop });
  }
  function unfollow(job: FollowedJob): boolean {
    if (!openJobsById.delete(job.id)) return false;
    const path = getListPath(job);
    if (![...openJobsById.values()].some((other) => getListPath(other) === path)) {
      lists.get(path)?.stop();
      lists.delete(path);
    }
    return true;
  }
  function reportActivity(): void {
    const running = new Map([...lists.values()].flatMap(({ openJobs }) => [...openJobs.running]));
    const runningIds = [...openJobsById.keys()].filter((id) => running.has(id));
    onActivity?.({ runningId: runningIds[0], share: runningIds.map((id) => running.get(id)).find((progress) => progress !== undefined) });
  }
  /** Checks jobs that may have ended. If the list is truncated or unknown, unlisted jobs may still be queued, so checking stops at the first open one. */
  async function checkEnded(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    await checkJobs().finally(() => (isChecking = false));
    reportActivity();
  }
  async function checkJobs(): Promise<void> {
    const pathsWithOpenJobs = new Set<string>();
    // Without a stream, the lists of a hidden tab are not updated.
    const isUpToDate = document.visibilityState === "visible" || liveState.getState().isLive;
    for (const job of [...openJobsById.values()]) {
      const path = getListPath(job);
      const { ids, isTruncated } = (isUpToDate && lists.get(path)?.openJobs) || unknownJobs;
      if (ids.has(job.id) || Date.now() - job.atMs < CHECK_INTERVAL_MS || (isTruncated && pathsWithOpenJobs.has(path))) continue;
      const state = await fetchEndState(job);
      if (state === undefined) pathsWithOpenJobs.add(path);
      else if (unfollow(job)) onEnded(job, state);
    }
  }

  const unsubscribe = onResponse(({ path, method, action, value }) => {
    const job = method === "POST" ? toSubmittedJob({ path, action, value }, currentConnection()) : undefined;
    if (!job) return;
    onSubmitted(job);
    const [oldestJob] = openJobsById.values();
    if (oldestJob && openJobsById.size >= MAX_FOLLOWED_JOBS) unfollow(oldestJob);
    openJobsById.set(job.id, job);
    watchList(job);
  });
  for (const job of jobs) watchList(job);
  // Repeated, since a read may fail and the list may not change again.
  const timer = setInterval(() => void checkEnded(), CHECK_INTERVAL_MS);
  return () => {
    unsubscribe();
    clearInterval(timer);
    for (const job of [...openJobsById.values()]) unfollow(job);
  };
}

function toSubmittedJob(
  { path, action, value }: Pick<ApiResponse, "path" | "action" | "value">,
  currentConnection?: string,
): FollowedJob | undefined {
  const [, app] = /^\/api\/apps\/([^/?]+)\/runs(?:\?|$)/.exec(path) ?? [];
  const isPrompt = /^\/api\/prompt(\?|$)/.test(path);
  const id = asText(isPrompt ? asObject(value)?.prompt_id : app !== undefined ? asObject(asObject(value)?.run)?.id : undefined);
  const connection = new URLSearchParams(path.split("?")[1]).get("connection") ?? currentConnection;
  if (id === undefined || (isPrompt && connection === undefined)) return undefined;
  return {
    id,
    connection: connection ?? "",
    batch: action ?? id,
    atMs: Date.now(),
    ...(app !== undefined && { app: decodeURIComponent(app) }),
  };
}

/** The list that contains the job while it is pending or running. */
function getListPath({ app, connection }: FollowedJob): `/${string}` {
  return app === undefined ? withQuery("/api/console/queue", { connection }) : `/api/apps/${encodeURIComponent(app)}/runs`;
}

type RunsResponse = { runs: readonly AppRun[]; next?: string };
const hasRunEnded = ({ state }: Pick<AppRun, "state">) => !["sending", "pending", "in_progress"].includes(state);

function toOpenJobs(response: QueueView | RunsResponse): OpenJobs {
  if ("runs" in response) {
    const runs = response.runs.filter((run) => !hasRunEnded(run));
    const running = runs.filter(({ state }) => state === "in_progress");
    const toEntry = ({ id, progress }: AppRun) => [id, progress] as const;
    return { ids: new Set(runs.map(({ id }) => id)), running: new Map(running.map(toEntry)), isTruncated: response.next !== undefined };
  }
  const { running, pending, total = 0 } = response;
  const jobs = [...running, ...pending];
  const progressEntries = running.map((job) => {
    const { expected, startedAtMs, progress: { value } = {} } = toJobView(job);
    return [job.id, expected && startedAtMs !== undefined ? getExpectedProgress(expected, Date.now() - startedAtMs) : value] as const;
  });
  return { ids: new Set(jobs.map(({ id }) => id)), running: new Map(progressEntries), isTruncated: total > jobs.length };
}

/** Undefined if the job hasn't ended or its state is unknown. */
async function fetchEndState(job: FollowedJob): Promise<JobState | undefined> {
  const { id, connection, app } = job;
  if (app !== undefined) {
    const result = await callApi<{ run: AppRun }>(`${getListPath(job)}/${encodeURIComponent(id)}`);
    if (!result.ok) return result.failure.status === 404 ? "unknown" : undefined;
    const { run } = result.value;
    return hasRunEnded(run) ? toJobState(run.state) : undefined;
  }
  const jobResult = await callApi<JobDetail>(withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection }));
  if (!jobResult.ok) return jobResult.failure.status === 404 ? "unknown" : undefined;
  return isTerminalStatus(jobResult.value.status) ? toJobState(jobResult.value.status) : undefined;
}
