import { type Tone } from "@/components/ui/status-badge";
import { affectsAllCalls, type BatchOutcome, callWithRetry, runInBatches, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type StopResult } from "@/lib/contract/console";
import { isTerminalWord, type JobState, toJobState } from "@/lib/contract/jobs/job-list";
import { type QueueAnswer } from "@/lib/contract/schemas/job";
import { couldHaveStarted } from "@/lib/contract/workflow/submission";

/** `word` and `state` are absent if the job is not on the visible page. */
export type TargetJob = JobNames & { id: string; word?: string; state?: JobState };

const BATCH_SIZE = 100;
const STOP_BATCH_SIZE = 10;

export function canApply(action: "cancel" | "remove" | "runAgain", { word, state }: TargetJob): boolean {
  if (word === undefined || state === undefined || action === "runAgain") return true;
  return action === "remove" ? isTerminalWord(word) : state === "pending" || state === "in_progress";
}

/** Stops running jobs and removes the others from the queue, one call at a time. Returns an entry per job. */
export function cancelJobs(jobs: readonly TargetJob[], work: Work): Promise<ResultEntry[]> {
  return applyToFitting("cancel", jobs, work, async (fittingJobs) => {
    const running = fittingJobs.filter(({ state }) => state === "in_progress");
    const waiting = fittingJobs.filter(({ state }) => state !== "in_progress");
    const fromQueue = runInBatches(waiting, BATCH_SIZE, (batch) => cancelWaiting(batch, work), work);
    // When the page is closing, all calls are sent at once, otherwise one after another.
    if (!work.isLeaving) await fromQueue;
    const stopped = await runInBatches(running, STOP_BATCH_SIZE, (batch) => stop(batch, work), work);
    return [...(await fromQueue), ...stopped];
  });
}

/** Removes jobs from the history. The service doesn't name removed jobs, so an accepted request counts as removed. */
export function removeJobs(jobs: readonly TargetJob[], work: Work): Promise<ResultEntry[]> {
  async function removeBatch(batch: readonly TargetJob[]): Promise<BatchOutcome<ResultEntry>> {
    const result = await post<unknown>("/api/history", { delete: batch.map(({ id }) => id) }, work);
    return result.ok
      ? { entries: batch.map(({ id }) => ({ id, outcome: "removed" })) }
      : handleRefusal("remove", batch, result.failure, work);
  }
  return applyToFitting("remove", jobs, work, (fittingJobs) => runInBatches(fittingJobs, BATCH_SIZE, removeBatch, work));
}

type EndJobs = (fittingJobs: readonly TargetJob[]) => Promise<ResultEntry[]>;

/** Jobs in the wrong state get an outcome without a request. */
async function applyToFitting(
  action: "cancel" | "remove",
  jobs: readonly TargetJob[],
  work: Work,
  endJobs: EndJobs,
): Promise<ResultEntry[]> {
  const otherJobs = jobs.filter((job) => !canApply(action, job));
  work.onDone(otherJobs.length);
  const entries = await endJobs(jobs.filter((job) => canApply(action, job)));
  return withJobNames(jobs, [
    ...entries,
    ...otherJobs.map(({ id }): ResultEntry => ({ id, outcome: action === "cancel" ? "over" : "notEnded" })),
  ]);
}

export function withJobNames(jobs: readonly TargetJob[], entries: readonly ResultEntry[]): ResultEntry[] {
  const jobsById = new Map(jobs.map(({ id, workflow, label, createdMs }) => [id, { workflow, label, createdMs }]));
  return entries.map((entry) => ({ ...jobsById.get(entry.id), ...entry }));
}

async function cancelWaiting(batch: readonly TargetJob[], work: Work): Promise<BatchOutcome<ResultEntry>> {
  const result = await post<QueueAnswer>("/api/queue", { delete: batch.map(({ id }) => id) }, work);
  if (!result.ok) return handleRefusal("cancel", batch, result.failure, work);
  const deleted = result.value.deleted && new Set(result.value.deleted);
  const missingIds = new Set(result.value.gone);
  const getOutcome = (id: string) => (missingIds.has(id) ? "gone" : !deleted ? "unconfirmed" : deleted.has(id) ? "cancelled" : "tooLate");
  return { entries: batch.map(({ id }) => ({ id, outcome: getOutcome(id) })) };
}

async function stop(batch: readonly TargetJob[], work: Work): Promise<BatchOutcome<ResultEntry>> {
  const result = await post<StopResult>("/api/console/jobs/stop", { ids: batch.map(({ id }) => id) }, work);
  if (!result.ok) return handleRefusal("stop", batch, result.failure, work);
  const { stopped, stopping, over, unsure = [], together } = result.value;
  const results = await lookUpOutcomes(
    "stop",
    batch.filter(({ id }) => unsure.includes(id)),
    undefined,
    work,
  );
  return {
    entries: batch.map(({ id }): ResultEntry => {
      const result = results.find((entry) => entry.id === id);
      if (result) return result;
      if (stopped.includes(id)) return { id, outcome: "stopped" };
      if (stopping.includes(id)) return { id, outcome: "stopping" };
      if (over.includes(id)) return { id, outcome: "over" };
      return { id, outcome: "unable", ...(together > 0 && { together }) };
    }),
  };
}

function post<T>(path: `/${string}`, json: unknown, work: Work) {
  return callWithRetry<T>(withQuery(path, { connection: work.connection }), { method: "POST", json }, work);
}

async function handleRefusal(
  ending: EndAction,
  batch: readonly TargetJob[],
  failure: ApiFailure,
  work: Work,
): Promise<BatchOutcome<ResultEntry>> {
  const isUnclear = failure.status === 0 || couldHaveStarted(failure);
  const entries = isUnclear
    ? await lookUpOutcomes(ending, batch, failure, work)
    : batch.map(({ id }): ResultEntry => ({ id, outcome: "failed", failure }));
  return { entries, isOver: affectsAllCalls(failure) };
}

export const outcomes = [
  "cancelled",
  "stopped",
  "removed",
  "ranAgain",
  "stopping",
  "unconfirmed",
  "tooLate",
  "gone",
  "over",
  "notEnded",
  "unable",
  "secret",
  "noWorkflow",
  "missing",
  "refused",
  "unknown",
  "unsent",
  "failed",
  "notDone",
] as const;
export type Outcome = (typeof outcomes)[number];

type JobNames = { workflow?: string; label?: string; createdMs?: number };

export type ResultEntry = JobNames & {
  id: string;
  outcome: Outcome;
  newId?: string;
  failure?: ApiFailure;
  /** The number of other running jobs that would stop too, since the service can only stop all. */
  together?: number;
};

const doneOutcomes: ReadonlySet<Outcome> = new Set(["cancelled", "stopped", "removed", "ranAgain"]);
const badOutcomes: ReadonlySet<Outcome> = new Set(["refused", "unknown", "unsent", "failed"]);

export function getOutcomeTone(outcome: Outcome): Tone {
  return doneOutcomes.has(outcome) ? "ok" : badOutcomes.has(outcome) ? "bad" : "off";
}

/** True if the action certainly had no effect or is safe to repeat. A job is never submitted twice. */
export function isRetryable({ outcome }: ResultEntry, action: "cancel" | "remove" | "runAgain"): boolean {
  return outcome === "failed" || outcome === "unsent" || outcome === "notDone" || (outcome === "unknown" && action !== "runAgain");
}

/** The first failure, for a line with one sentence. */
export function findFailure(entries: readonly ResultEntry[]): ApiFailure | undefined {
  return entries.find(({ failure }) => failure)?.failure;
}

type EndAction = "cancel" | "stop" | "remove";

/** Derives the outcome of jobs without a clear response from their current state: one call per job, without resending. */
async function lookUpOutcomes(
  ending: EndAction,
  batch: readonly { id: string }[],
  failure: ApiFailure | undefined,
  work: Work,
): Promise<ResultEntry[]> {
  const entries: ResultEntry[] = [];
  let isRequested = !work.isLeaving;
  for (const { id } of batch) {
    const jobState = isRequested ? await fetchState(id, work) : undefined;
    // Once the service is unreachable, the remaining jobs are not requested.
    if (jobState === undefined) isRequested = false;
    const outcome = jobState === undefined ? "unknown" : deriveOutcome(ending, jobState);
    const isDone = outcome !== "unknown" && outcome !== "failed";
    entries.push({ id, outcome, ...(!isDone && failure && { failure }) });
  }
  return entries;
}

/** Undefined if unknown. */
async function fetchState(id: string, work: Work): Promise<JobState | "missing" | undefined> {
  const path = withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection: work.connection });
  const result = await callWithRetry<{ status?: string }>(path, { cache: "no-store" }, work);
  if (result.ok) return result.value.status === undefined ? undefined : toJobState(result.value.status);
  return result.failure.status === 404 ? "missing" : undefined;
}

function deriveOutcome(ending: EndAction, jobState: JobState | "missing"): ResultEntry["outcome"] {
  if (ending === "remove") return jobState === "missing" ? "removed" : "failed";
  if (jobState === "missing") return "gone";
  if (jobState === "cancelled") return ending === "stop" ? "stopped" : "cancelled";
  if (jobState === "completed" || jobState === "failed") return "over";
  if (jobState === "in_progress" && ending === "cancel") return "tooLate";
  // A pending job was not cancelled; a running one may be about to stop.
  return jobState === "pending" ? "failed" : "unknown";
}
