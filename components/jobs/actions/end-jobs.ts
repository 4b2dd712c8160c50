import { type Tone } from "@/components/ui/status-badge";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { affectsAllCalls, type BatchOutcome, type BulkCallContext, callWithRetry, runInBatches } from "@/lib/browser/bulk/bulk-calls";
import { withQuery } from "@/lib/browser/urls";
import { type StopResult } from "@/lib/contract/console";
import { isTerminalStatus, type JobState, toJobState } from "@/lib/contract/jobs/job-list";
import { type QueueResponse } from "@/lib/contract/schemas/job";
import { couldHaveStarted } from "@/lib/contract/workflow/submission";

/** `rawStatus` and `state` are absent if the job is not on the visible page. */
export type TargetJob = JobNames & { id: string; rawStatus?: string; state?: JobState };

const BATCH_SIZE = 100;
const STOP_BATCH_SIZE = 10;

export function canApply(action: "cancel" | "remove" | "runAgain", { rawStatus, state }: TargetJob): boolean {
  if (rawStatus === undefined || state === undefined || action === "runAgain") return true;
  return action === "remove" ? isTerminalStatus(rawStatus) : state === "pending" || state === "in_progress";
}

/** Stops running jobs and removes the others from the queue, one call at a time. Returns an entry per job. */
export function cancelJobs(jobs: readonly TargetJob[], context: BulkCallContext): Promise<ResultEntry[]> {
  return applyToEligibleJobs("cancel", jobs, context, async (eligibleJobs) => {
    const runningJobs = eligibleJobs.filter(({ state }) => state === "in_progress");
    const pendingJobs = eligibleJobs.filter(({ state }) => state !== "in_progress");
    const pendingEntriesPromise = runInBatches(pendingJobs, BATCH_SIZE, (batch) => cancelPendingBatch(batch, context), context);
    // When the page is closing, all calls are sent at once. Otherwise, they are sent one after another.
    if (!context.isLeaving) await pendingEntriesPromise;
    const stoppedEntries = await runInBatches(runningJobs, STOP_BATCH_SIZE, (batch) => stopBatch(batch, context), context);
    return [...(await pendingEntriesPromise), ...stoppedEntries];
  });
}

/** Removes jobs from the history. The service doesn't report which jobs it removed, so an accepted request counts as removed. */
export function removeJobs(jobs: readonly TargetJob[], context: BulkCallContext): Promise<ResultEntry[]> {
  async function removeBatch(batch: readonly TargetJob[]): Promise<BatchOutcome<ResultEntry>> {
    const result = await post<unknown>("/api/history", { delete: batch.map(({ id }) => id) }, context);
    return result.ok
      ? { entries: batch.map(({ id }) => ({ id, outcome: "removed" })) }
      : handleFailure("remove", batch, result.failure, context);
  }
  return applyToEligibleJobs("remove", jobs, context, (eligibleJobs) => runInBatches(eligibleJobs, BATCH_SIZE, removeBatch, context));
}

type ApplyAction = (eligibleJobs: readonly TargetJob[]) => Promise<ResultEntry[]>;

/** Reports ineligible jobs without sending a request. */
async function applyToEligibleJobs(
  action: "cancel" | "remove",
  jobs: readonly TargetJob[],
  context: BulkCallContext,
  applyAction: ApplyAction,
): Promise<ResultEntry[]> {
  const ineligibleJobs = jobs.filter((job) => !canApply(action, job));
  context.onProgress(ineligibleJobs.length);
  const entries = await applyAction(jobs.filter((job) => canApply(action, job)));
  return withJobNames(jobs, [
    ...entries,
    ...ineligibleJobs.map(({ id }): ResultEntry => ({ id, outcome: action === "cancel" ? "over" : "notEnded" })),
  ]);
}

export function withJobNames(jobs: readonly TargetJob[], entries: readonly ResultEntry[]): ResultEntry[] {
  const jobsById = new Map(jobs.map(({ id, workflow, label, createdMs }) => [id, { workflow, label, createdMs }]));
  return entries.map((entry) => ({ ...jobsById.get(entry.id), ...entry }));
}

async function cancelPendingBatch(batch: readonly TargetJob[], context: BulkCallContext): Promise<BatchOutcome<ResultEntry>> {
  const result = await post<QueueResponse>("/api/queue", { delete: batch.map(({ id }) => id) }, context);
  if (!result.ok) return handleFailure("cancel", batch, result.failure, context);
  const deletedIds = result.value.deleted && new Set(result.value.deleted);
  const missingIds = new Set(result.value.gone);
  const getOutcome = (id: string) =>
    missingIds.has(id) ? "gone" : !deletedIds ? "unconfirmed" : deletedIds.has(id) ? "cancelled" : "tooLate";
  return { entries: batch.map(({ id }) => ({ id, outcome: getOutcome(id) })) };
}

async function stopBatch(batch: readonly TargetJob[], context: BulkCallContext): Promise<BatchOutcome<ResultEntry>> {
  const result = await post<StopResult>("/api/console/jobs/stop", { ids: batch.map(({ id }) => id) }, context);
  if (!result.ok) return handleFailure("stop", batch, result.failure, context);
  const { stopped, stopping, over, unsure = [], together } = result.value;
  const unsureEntries = await lookUpOutcomes(
    "stop",
    batch.filter(({ id }) => unsure.includes(id)),
    undefined,
    context,
  );
  return {
    entries: batch.map(({ id }): ResultEntry => {
      const unsureEntry = unsureEntries.find((entry) => entry.id === id);
      if (unsureEntry) return unsureEntry;
      if (stopped.includes(id)) return { id, outcome: "stopped" };
      if (stopping.includes(id)) return { id, outcome: "stopping" };
      if (over.includes(id)) return { id, outcome: "over" };
      return { id, outcome: "unable", ...(together > 0 && { otherRunningCount: together }) };
    }),
  };
}

function post<T>(path: `/${string}`, json: unknown, context: BulkCallContext) {
  return callWithRetry<T>(withQuery(path, { connection: context.connection }), { method: "POST", json }, context);
}

async function handleFailure(
  endAction: EndAction,
  batch: readonly TargetJob[],
  failure: ApiFailure,
  context: BulkCallContext,
): Promise<BatchOutcome<ResultEntry>> {
  const isOutcomeUnknown = failure.status === 0 || couldHaveStarted(failure);
  const entries = isOutcomeUnknown
    ? await lookUpOutcomes(endAction, batch, failure, context)
    : batch.map(({ id }): ResultEntry => ({ id, outcome: "failed", failure }));
  return { entries, shouldStop: affectsAllCalls(failure) };
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
  /** The number of other running jobs that would stop too, because the service can only stop all jobs at once. */
  otherRunningCount?: number;
};

const successOutcomes: ReadonlySet<Outcome> = new Set(["cancelled", "stopped", "removed", "ranAgain"]);
const failureOutcomes: ReadonlySet<Outcome> = new Set(["refused", "unknown", "unsent", "failed"]);

export function getOutcomeTone(outcome: Outcome): Tone {
  return successOutcomes.has(outcome) ? "ok" : failureOutcomes.has(outcome) ? "bad" : "off";
}

/** Returns true if the action had no effect or is safe to repeat. A job is never submitted twice. */
export function isRetryable({ outcome }: ResultEntry, action: "cancel" | "remove" | "runAgain"): boolean {
  return outcome === "failed" || outcome === "unsent" || outcome === "notDone" || (outcome === "unknown" && action !== "runAgain");
}

/** Returns the first failure, for one-line summaries. */
export function findFailure(entries: readonly ResultEntry[]): ApiFailure | undefined {
  return entries.find(({ failure }) => failure)?.failure;
}

type EndAction = "cancel" | "stop" | "remove";

/** Derives the outcome of jobs without a clear response from their current state. Makes one call per job and never resends. */
async function lookUpOutcomes(
  endAction: EndAction,
  batch: readonly { id: string }[],
  failure: ApiFailure | undefined,
  context: BulkCallContext,
): Promise<ResultEntry[]> {
  const entries: ResultEntry[] = [];
  let isReachable = !context.isLeaving;
  for (const { id } of batch) {
    const jobState = isReachable ? await fetchState(id, context) : undefined;
    // Skips the remaining jobs once the service is unreachable.
    if (jobState === undefined) isReachable = false;
    const outcome = jobState === undefined ? "unknown" : deriveOutcome(endAction, jobState);
    const isDone = outcome !== "unknown" && outcome !== "failed";
    entries.push({ id, outcome, ...(!isDone && failure && { failure }) });
  }
  return entries;
}

/** Returns undefined if the state is unknown. */
async function fetchState(id: string, context: BulkCallContext): Promise<JobState | "missing" | undefined> {
  const path = withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection: context.connection });
  const result = await callWithRetry<{ status?: string }>(path, { cache: "no-store" }, context);
  if (result.ok) return result.value.status === undefined ? undefined : toJobState(result.value.status);
  return result.failure.status === 404 ? "missing" : undefined;
}

function deriveOutcome(endAction: EndAction, jobState: JobState | "missing"): ResultEntry["outcome"] {
  if (endAction === "remove") return jobState === "missing" ? "removed" : "failed";
  if (jobState === "missing") return "gone";
  if (jobState === "cancelled") return endAction === "stop" ? "stopped" : "cancelled";
  if (jobState === "completed" || jobState === "failed") return "over";
  if (jobState === "in_progress" && endAction === "cancel") return "tooLate";
  // A pending job was not cancelled. A running job may be about to stop.
  return jobState === "pending" ? "failed" : "unknown";
}
