// Submits a workflow once per idempotency key, and stores the outcome.

import "server-only";
import { createHash } from "node:crypto";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, asText } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { operations } from "@/lib/contract/operations";
import {
  BATCH_HEADER,
  type BatchRef,
  couldHaveStarted,
  IDEMPOTENCY_HEADER,
  isIdempotencyKey,
  LABEL_HEADER,
  parseBatch,
  parseLabel,
  parseRerun,
  RERUN_HEADER,
  type SubmissionReport,
} from "@/lib/contract/workflow/submission";
import { sleep } from "@/lib/shared/async";
import { getErrorCode, isFullDisk, isStoreUnavailable } from "@/lib/shared/error-codes";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Dependencies, type SubmissionOutcome } from "../composition-type";
import { type AuthedContext } from "../context";
import { runOperation } from "../operations/run-operation";
import { readBody } from "../requests/read-request";
import { type Attempt, type JobLabel, type StoredSubmission } from "../store/jobs/submissions";

const MAX_RESPONSE_LENGTH = 64 * 1024;

/** The outcome of an earlier submission, by this process or by one that has ended. */
function toOutcome({ answer, failure }: StoredSubmission): SubmissionOutcome {
  if (answer !== undefined) return ok(answer);
  if (failure) return failed({ ...failure, status: 0 });
  return failed(
    createFailure(
      "OUTCOME_UNKNOWN",
      `It is unknown whether the service received this submission. Check the jobs. To submit it again, use a new ${IDEMPOTENCY_HEADER}.`,
    ),
  );
}

function toReport(outcome: SubmissionOutcome): SubmissionReport {
  if (outcome.ok) return { state: "accepted", answer: parseJson(outcome.value) };
  const { code, message } = outcome.failure;
  return couldHaveStarted(outcome.failure) ? { state: "unknown", failure: { code, message } } : { state: "refused" };
}

/** If the response is too long, only the job's id is stored. */
export function toStoredResponse(text: string): string {
  return text.length <= MAX_RESPONSE_LENGTH ? text : writeExactJson({ prompt_id: asObject(parseJson(text))?.prompt_id });
}

const RETRY_DELAY_MS = 1000;

type SubmissionDependencies = Dependencies<"store" | "log" | "submissionsInFlight">;
type EndedSubmission = { contentHash: string; outcome: SubmissionOutcome };

function toFlightId(memberId: string, key: string): string {
  return `${memberId} ${key}`;
}

async function storeOutcome(composition: SubmissionDependencies, attempt: Attempt, submission: EndedSubmission): Promise<void> {
  try {
    await writeOutcome(composition, attempt, submission.outcome);
  } catch (err) {
    composition.log.error({ err }, "submission outcome write failed");
    // If this attempt is no longer in flight, the console is stopping.
    if (isTemporary(err) && composition.submissionsInFlight.has(toFlightId(attempt.memberId, attempt.key)))
      void retryStoreOutcome(composition, attempt, submission);
  }
}

/** Until the outcome is stored, the submission counts as active, so that other consoles wait for it. */
async function retryStoreOutcome(
  composition: SubmissionDependencies,
  attempt: Attempt,
  { contentHash, outcome }: EndedSubmission,
): Promise<void> {
  const flights = composition.submissionsInFlight;
  const id = toFlightId(attempt.memberId, attempt.key);
  const flight = { contentHash, outcome: Promise.resolve(outcome) };
  flights.set(id, flight);
  const endWork = await composition.store.peers.startWork(id);
  try {
    for (let isDone = false; !isDone;) {
      await sleep(RETRY_DELAY_MS, { unref: true });
      // The console is stopping.
      if (flights.get(id) !== flight) return;
      try {
        await writeOutcome(composition, attempt, outcome);
        isDone = true;
      } catch (err) {
        isDone = !isTemporary(err);
        if (isDone) composition.log.error({ err }, "submission outcome write failed");
      }
    }
    flights.delete(id);
  } finally {
    await endWork();
  }
}

/** Temporary failures of a disk or a database: locked, unreachable, or in conflict with another writer. */
const temporaryErrorPattern = /^(SQLITE_(BUSY|LOCKED|IOERR|READONLY|CANTOPEN|PROTOCOL)|40001$|40P01$|55P03$)/;

function isTemporary(error: unknown): boolean {
  return isStoreUnavailable(error) || isFullDisk(error) || temporaryErrorPattern.test(String(getErrorCode(error)));
}

async function writeOutcome(
  { store: { submissions } }: SubmissionDependencies,
  attempt: Attempt,
  outcome: SubmissionOutcome,
): Promise<void> {
  if (outcome.ok) await submissions.recordResponse(attempt, toStoredResponse(outcome.value));
  else if (couldHaveStarted(outcome.failure)) await submissions.recordFailure(attempt, outcome.failure);
  else await submissions.remove(attempt);
}

/** How long idempotency keys are stored. */
export const SUBMISSION_RETENTION_MS = 24 * 60 * 60_000;
/** The database may notice with a delay that a console has disconnected. */
const MAX_WAIT_MS = 60_000;
const CHECK_INTERVAL_MS = 250;

export async function submitOnce(context: AuthedContext): Promise<Result<Response, Failure>> {
  const key = context.request.headers.get(IDEMPOTENCY_HEADER);
  if (key === null) return runOperation(operations.submitPrompt, context, ok({}));
  if (!isIdempotencyKey(key))
    return failed(createFailure("BAD_REQUEST", `${IDEMPOTENCY_HEADER} must be 16 to 64 letters, digits and hyphens.`));
  const body = await readBody(context);
  if (!body.ok) return body;
  const outcome = await submitInFlight(context, key, body.value);
  return outcome.ok ? ok(new Response(outcome.value, { headers: { "content-type": "application/json" } })) : outcome;
}

async function submitInFlight(context: AuthedContext, key: string, body: Uint8Array<ArrayBuffer>): Promise<SubmissionOutcome> {
  const flights = context.composition.submissionsInFlight;
  const id = toFlightId(context.viewer.memberId, key);
  // Includes the connection, because the same graph elsewhere is another job.
  const contentHash = createHash("sha256").update(new URL(context.request.url).search).update("\n").update(body).digest("hex");
  const activeFlight = flights.get(id);
  if (activeFlight)
    return activeFlight.contentHash === contentHash ? annotateRepeat(context, await activeFlight.outcome) : failed(createConflictFailure());
  const flight = { contentHash, outcome: submitOrWait(context, key, { body, contentHash }) };
  flights.set(id, flight);
  try {
    return await flight.outcome;
  } finally {
    // If the outcome could not be stored, another flight has replaced this one.
    if (flights.get(id) === flight) flights.delete(id);
  }
}

const unsentOutcome = failed(createFailure("SERVICE_UNAVAILABLE", "The console failed before it sent the request. Nothing was sent."));

type RawSubmission = { body: Uint8Array<ArrayBuffer>; contentHash: string };

async function submitOrWait(context: AuthedContext, key: string, submission: RawSubmission): Promise<SubmissionOutcome> {
  const { store, now } = context.composition;
  const { memberId } = context.viewer;
  const endWork = await store.peers.startWork(toFlightId(memberId, key));
  try {
    const attempt = { memberId, key, startedAt: now() };
    const times = { now: attempt.startedAt, forgetBefore: attempt.startedAt - SUBMISSION_RETENTION_MS };
    if (await store.submissions.start(attempt, { contentHash: submission.contentHash, ...times }))
      return await send(context, attempt, submission);
  } finally {
    await endWork();
  }
  const storedSubmission = await findStoredSubmission(context, key);
  // The earlier attempt started nothing, so send this one.
  if (!storedSubmission) return submitOrWait(context, key, submission);
  return storedSubmission.contentHash === submission.contentHash
    ? annotateRepeat(context, toOutcome(storedSubmission))
    : failed(createConflictFailure());
}

/** Waits while another console is still sending the submission. */
async function findStoredSubmission(
  { composition: { store }, viewer: { memberId }, request: { signal } }: AuthedContext,
  key: string,
): Promise<StoredSubmission | undefined> {
  const deadlineMs = performance.now() + MAX_WAIT_MS;
  while ((await store.peers.isInProgress(toFlightId(memberId, key))) && !signal.aborted && performance.now() < deadlineMs)
    await sleep(CHECK_INTERVAL_MS, { signal });
  return store.submissions.find({ memberId, key });
}

async function send(context: AuthedContext, attempt: Attempt, { body, contentHash }: RawSubmission): Promise<SubmissionOutcome> {
  const { url, headers } = context.request;
  // Without the browser's signal: a sent submission can't be undone, and its outcome is still needed.
  const request = new Request(url, { method: "POST", headers, body });
  let connectionId: string | undefined;
  const annotateAudit: AuthedContext["annotateAudit"] = (details) => {
    connectionId = details.connectionId ?? connectionId;
    context.annotateAudit(details);
  };
  const result = await runOperation(operations.submitPrompt, { ...context, request, annotateAudit }, ok({})).catch(
    async (error: unknown) => {
      // The database failed before the service was chosen, so nothing was sent.
      if (connectionId === undefined) await storeOutcome(context.composition, attempt, { contentHash, outcome: unsentOutcome });
      throw error;
    },
  );
  const outcome: SubmissionOutcome = result.ok ? ok(await result.value.text()) : result;
  const labels = {
    label: parseLabel(headers.get(LABEL_HEADER)),
    rerunOf: parseRerun(headers.get(RERUN_HEADER)),
    batch: parseBatch(headers.get(BATCH_HEADER)),
  };
  if (outcome.ok && connectionId !== undefined && Object.values(labels).some((value) => value !== undefined))
    await storeLabel(context, connectionId, { responseText: outcome.value, labels });
  await storeOutcome(context.composition, attempt, { contentHash, outcome });
  return outcome;
}

async function storeLabel(
  { composition: { store, log, now } }: AuthedContext,
  connectionId: string,
  { responseText, labels }: { responseText: string; labels: JobLabel & { batch?: BatchRef } },
): Promise<void> {
  const response = asObject(parseJson(responseText));
  const jobId = asText(response?.prompt_id) ?? asText(response?.job_id);
  if (jobId === undefined) return;
  try {
    await store.jobLabels.record(connectionId, { jobId, ...labels, now: now() });
  } catch (err) {
    log.error({ err }, "job label write failed");
  }
}

function annotateRepeat({ annotateAudit }: AuthedContext, outcome: SubmissionOutcome): SubmissionOutcome {
  annotateAudit({ outcome: "the same submission again: nothing was sent" });
  return outcome;
}

function createConflictFailure(): Failure {
  return createFailure("CONFLICT", `This ${IDEMPOTENCY_HEADER} was used for another submission.`);
}

/** For a browser that missed the response. Sends nothing, waits for an active submission, and returns only the member's own. */
export async function readSubmission(context: AuthedContext, key: string): Promise<Result<SubmissionReport, Failure>> {
  const { composition, viewer } = context;
  const activeFlight = composition.submissionsInFlight.get(toFlightId(viewer.memberId, key));
  if (activeFlight) return ok(toReport(await activeFlight.outcome));
  const storedSubmission = await findStoredSubmission(context, key);
  return storedSubmission
    ? ok(toReport(toOutcome(storedSubmission)))
    : failed(createFailure("NOT_FOUND", "No submission with this key was sent to a service."));
}
