import { callApi, type CallInit } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { affectsAllCalls, type BatchOutcome, type BulkCallContext, callWithRetry, runInBatches } from "@/lib/browser/bulk/bulk-calls";
import { withQuery } from "@/lib/browser/urls";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { couldHaveStarted, getSubmittedJob, IDEMPOTENCY_HEADER, RERUN_HEADER } from "@/lib/contract/workflow/submission";
import { type Result } from "@/lib/shared/result";
import { createIdempotencyKey } from "@/lib/shared/text";
import { type Outcome, type ResultEntry, type TargetJob, withJobNames } from "./end-jobs";
import { buildResubmission, type MaskedInput } from "./resubmission";

/** `unknown`: the job may have been submitted, and is never resent automatically. `unread`: nothing was sent. */
type RunAgainResult =
  | { kind: "submitted"; id: string }
  | { kind: "masked"; inputs: MaskedInput[] }
  | { kind: "no-graph" | "stopped" }
  | { kind: "unknown"; failure?: ApiFailure }
  | { kind: "unread" | "refused"; failure: ApiFailure };

type RunAgainOptions = {
  createSeed?: () => number;
  call?: <T>(path: `/${string}`, init?: CallInit) => Promise<Result<T, ApiFailure>>;
  isStopped?: () => boolean;
};

/** Resubmits the job's workflow as the service returns it now. */
export async function runAgain(
  id: string,
  connection: string | undefined,
  { createSeed, call = callApi, isStopped }: RunAgainOptions,
): Promise<RunAgainResult> {
  const result = await call<JobDetail>(withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection }));
  if (!result.ok) return { kind: "unread", failure: result.failure };
  const resubmission = buildResubmission(result.value.workflow, createSeed);
  if (resubmission.kind !== "ready") return resubmission;
  if (isStopped?.()) return { kind: "stopped" };
  const headers = { [IDEMPOTENCY_HEADER]: createIdempotencyKey(), [RERUN_HEADER]: encodeURIComponent(id) };
  const init = { method: "POST", json: resubmission.submission, headers };
  const submitResult = await call<unknown>(withQuery("/api/prompt", { connection }), init);
  if (!submitResult.ok) return { kind: mayHaveSubmitted(submitResult.failure) ? "unknown" : "refused", failure: submitResult.failure };
  const newId = getSubmittedJob(submitResult.value);
  return newId === undefined ? { kind: "unknown" } : { kind: "submitted", id: newId };
}

function mayHaveSubmitted(failure: ApiFailure): boolean {
  return failure.status === 0 || failure.code === "CONSOLE_UNREACHABLE" || couldHaveStarted(failure);
}

export async function runJobsAgain(jobs: readonly TargetJob[], context: BulkCallContext): Promise<ResultEntry[]> {
  return withJobNames(jobs, await runInBatches(jobs, 1, ([job]) => rerunJob(job?.id ?? "", context), context));
}

async function rerunJob(id: string, context: BulkCallContext): Promise<BatchOutcome<ResultEntry>> {
  const result = await runAgain(id, context.connection, {
    call: (path, init = {}) => callWithRetry(path, init, context),
    isStopped: () => context.signal.aborted,
  });
  if (result.kind === "submitted") return { entries: [{ id, outcome: "ranAgain", newId: result.id }] };
  const failure = "failure" in result ? result.failure : undefined;
  if (result.kind === "unread" && failure?.code === "CONSOLE_UNREACHABLE")
    return { entries: [{ id, outcome: "unsent" }], shouldStop: true };
  const isMissing = result.kind === "unread" && failure?.status === 404;
  return {
    entries: [{ id, outcome: isMissing ? "missing" : outcomeByKind[result.kind], ...(failure && { failure }) }],
    ...(failure && { shouldStop: affectsAllCalls(failure) }),
  };
}

const outcomeByKind = {
  masked: "secret",
  "no-graph": "noWorkflow",
  stopped: "notDone",
  unknown: "unknown",
  unread: "failed",
  refused: "refused",
} as const satisfies Record<string, Outcome>;
