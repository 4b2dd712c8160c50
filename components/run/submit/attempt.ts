// One attempt to run the open workflow, sent once under an idempotency key. If the response is lost, the outcome is looked up. An entry in
// this tab's sessionStorage survives a reload.
// Guarantees: a lookup sends nothing. A missing response is "unknown", neither success nor failure. Another member's entry is ignored.
// Must never store the submission.

import { callApi } from "@/lib/browser/api";
import { type BrowserStorage, createPersistedValue } from "@/lib/browser/persisted-value";
import { withQuery } from "@/lib/browser/urls";
import { type Failure, readNodeErrors } from "@/lib/contract/failure";
import { asObject } from "@/lib/contract/json/json";
import { filter, isTrue, list, number, object, type ReaderOutput, text, withFallback } from "@/lib/contract/json/readers";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { readSecretLocations, type SecretLocation } from "@/lib/contract/secrets/secret-locations";
import {
  BATCH_HEADER,
  type BatchRef,
  couldHaveStarted,
  formatBatch,
  getSubmittedJob,
  IDEMPOTENCY_HEADER,
  isIdempotencyKey,
  LABEL_HEADER,
  RERUN_HEADER,
  type SubmissionReport,
} from "@/lib/contract/workflow/submission";
import { ACTION_HEADER } from "@/lib/shared/headers";
import { type Result } from "@/lib/shared/result";
import { findMissingClassErrors } from "../form/problems";
import { type Submission } from "./submission";

const attemptReader = object(
  { key: filter(text, isIdempotencyKey), memberId: text, workflowId: text, atMs: number, name: withFallback(text, "") },
  { connection: text },
);
export type Attempt = ReaderOutput<typeof attemptReader>;

export type RunOutcome =
  /**
   * `errors`: the service accepted the job and reports that some nodes will not run. `secretPlaces`: where keys or tokens are in what was
   * sent.
   */
  | { kind: "accepted"; jobId: string; errors: NodeErrors; secretPlaces?: readonly SecretLocation[] }
  /** Nothing was started; `errors` names the invalid nodes. */
  | { kind: "invalid"; failure: Failure; errors: NodeErrors }
  | { kind: "refused"; failure: Failure }
  /** Sent, but the response was unreadable: a job may or may not exist. */
  | { kind: "unknown"; failure: Failure }
  /** The lookup found that the console forwarded nothing, or that the service refused it. */
  | { kind: "lost"; failure: Failure };

const getAttemptStorage = (storage: BrowserStorage) => createPersistedValue("lightdesk.run.attempt", attemptReader, storage);

export function storeAttempt(storage: BrowserStorage, attempt: Attempt): void {
  // Without storage, a reload can't show the outcome, but the idempotency key still prevents a second job.
  getAttemptStorage(storage).set(attempt);
}

export function deleteAttempt(storage: BrowserStorage): void {
  getAttemptStorage(storage).remove();
}

export function readStoredAttempt(storage: BrowserStorage, memberId: string): Attempt | undefined {
  const storedAttempt = getAttemptStorage(storage).get();
  return storedAttempt?.memberId === memberId ? storedAttempt : undefined;
}

/** `label`: identifies the job within its batch. `rerunOf`: the job that the workflow was opened from. */
type SubmissionMetadata = { label?: string; batch?: BatchRef; rerunOf?: string };

export type SubmitApi = {
  /** `key`: the attempt's idempotency key. */
  sendPrompt: (submission: Submission, key: string, metadata?: SubmissionMetadata) => Promise<Result<unknown, Failure>>;
  /** The outcome of an attempt without a response. */
  reportSubmission: (key: string) => Promise<Result<SubmissionReport, Failure>>;
};

export function createSubmitApi(connection: string | undefined): SubmitApi {
  return {
    sendPrompt: (submission, key, { label, batch, rerunOf } = {}) => {
      const headers = {
        [IDEMPOTENCY_HEADER]: key,
        ...(label !== undefined && { [LABEL_HEADER]: encodeURIComponent(label) }),
        ...(batch && { [ACTION_HEADER]: batch.id, [BATCH_HEADER]: formatBatch(batch) }),
        ...(rerunOf !== undefined && { [RERUN_HEADER]: encodeURIComponent(rerunOf) }),
      };
      return callApi(withQuery("/api/prompt", { connection }), { method: "POST", json: submission, headers });
    },
    reportSubmission: (key) => callApi(`/api/console/submissions/${key}`, { cache: "no-store" }),
  };
}

export function classifyResult(result: Result<unknown, Failure>, graph: Submission["prompt"]): RunOutcome {
  if (result.ok) return classifyResponse(result.value);
  const { failure } = result;
  const errors = hasErrors(failure.nodeErrors) ? failure.nodeErrors : findMissingClassErrors(graph, failure);
  if (errors) return { kind: "invalid", failure, errors };
  const isOutcomeUnknown = failure.status === 0 || failure.code === "CONSOLE_UNREACHABLE" || couldHaveStarted(failure);
  return { kind: isOutcomeUnknown ? "unknown" : "refused", failure };
}

function classifyResponse(value: unknown): RunOutcome {
  const jobId = getSubmittedJob(value);
  if (jobId !== undefined) {
    const secretPlaces = readSecretLocations(asObject(value)?.held_secrets);
    const errors = readNodeErrors(asObject(value)?.node_errors) ?? {};
    return { kind: "accepted", jobId, errors, ...(secretPlaces.length > 0 && { secretPlaces }) };
  }
  return { kind: "unknown", failure: { code: "UPSTREAM_UNREADABLE", message: "The response contains no job id.", status: 200 } };
}

function hasErrors(errors: NodeErrors | undefined): errors is NodeErrors {
  return errors !== undefined && Object.keys(errors).length > 0;
}

export async function sendAttempt(
  api: Pick<SubmitApi, "sendPrompt" | "reportSubmission">,
  attempt: Attempt,
  { submission, graph, rerunOf }: { submission: Submission; graph: Submission["prompt"]; rerunOf?: string },
): Promise<RunOutcome> {
  const outcome = classifyResult(await api.sendPrompt(submission, attempt.key, { rerunOf }), graph);
  return outcome.kind === "unknown" && outcome.failure.code === "CONSOLE_UNREACHABLE" ? lookUpOutcome(api, attempt) : outcome;
}

export async function lookUpOutcome(api: Pick<SubmitApi, "reportSubmission">, attempt: Attempt): Promise<RunOutcome> {
  const report = await api.reportSubmission(attempt.key);
  if (report.ok) {
    if (report.value.state === "accepted") return classifyResponse(report.value.answer);
    if (report.value.state === "unknown") return { kind: "unknown", failure: { status: 0, ...report.value.failure } };
    return { kind: "lost", failure: { code: "NOT_FOUND", message: "", status: 404 } };
  }
  return { kind: report.failure.status === 404 ? "lost" : "unknown", failure: report.failure };
}

// Stores the jobs that this page started. After a reload, the page shows the newest one and links to the others.

export type SubmittedJob = {
  jobId: string;
  name: string;
  atMs: number;
  nodesRefused: number;
  /** Cancelled before it ran. Some services forget such jobs. */
  isCancelled?: boolean;
  isDismissed?: boolean;
  workflowId?: string;
  connection?: string;
  /** Where the sent workflow contains a key. Lost on reload. */
  secretPlaces?: readonly SecretLocation[];
};

export const MAX_SUBMITTED_JOBS = 5;

const submittedJobReader = object(
  { jobId: text, atMs: number, name: withFallback(text, ""), nodesRefused: withFallback(number, 0) },
  { isCancelled: isTrue, isDismissed: isTrue, workflowId: text, connection: text },
);
const submittedJobsReader = object({ memberId: text, receipts: list(submittedJobReader, MAX_SUBMITTED_JOBS) });
const getSubmittedJobsStorage = (storage: BrowserStorage) => createPersistedValue("lightdesk.run.receipts", submittedJobsReader, storage);

export function storeSubmittedJobs(storage: BrowserStorage, memberId: string, submittedJobs: readonly SubmittedJob[]): void {
  // Without storage, a reload shows none of them; the jobs are still in the list.
  getSubmittedJobsStorage(storage).set({ memberId, receipts: submittedJobs });
}

export function readSubmittedJobs(storage: BrowserStorage, memberId: string): readonly SubmittedJob[] {
  const submittedJobs = getSubmittedJobsStorage(storage).get();
  return submittedJobs?.memberId === memberId ? submittedJobs.receipts : [];
}
