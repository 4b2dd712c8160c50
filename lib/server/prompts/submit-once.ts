// Submits a workflow once per idempotency key, and stores the outcome.

import "server-only";
import { createHash } from "node:crypto";
import { type Failure, refusal } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { operations } from "@/lib/contract/operations";
import {
  BATCH_HEADER,
  type BatchRef,
  IDEMPOTENCY_HEADER,
  isIdempotencyKey,
  LABEL_HEADER,
  mayHaveStarted,
  readBatch,
  readLabel,
  readRerun,
  RERUN_HEADER,
  type SubmissionReport,
} from "@/lib/contract/workflow/submission";
import { sleep } from "@/lib/shared/async";
import { codeOf, isFullDisk, isStoreAway } from "@/lib/shared/error-codes";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Parts, type SubmissionOutcome } from "../composition-type";
import { type AuthedContext } from "../context";
import { runOperation } from "../operations/run-operation";
import { readWhole } from "../requests/read-request";
import { type Attempt, type JobLabel, type StoredSubmission } from "../store/jobs/submissions";

const MAX_ANSWER_LENGTH = 64 * 1024;

/** For a submission begun earlier, by this process or by one that has ended. */
function toOutcome({ answer, failure }: StoredSubmission): SubmissionOutcome {
  if (answer !== undefined) return ok(answer);
  if (failure) return failed({ ...failure, status: 0 });
  return failed(refusal("INTERNAL", "The console stopped while it waited for the service's response."));
}

function reportOf(outcome: SubmissionOutcome): SubmissionReport {
  if (outcome.ok) return { state: "accepted", answer: parseJson(outcome.value) };
  const { code, message } = outcome.failure;
  return mayHaveStarted(outcome.failure) ? { state: "unknown", failure: { code, message } } : { state: "refused" };
}

/** What is kept of an answer: only the job's id, if the answer is too long. */
export function toStored(text: string): string {
  return text.length <= MAX_ANSWER_LENGTH ? text : writeExactJson({ prompt_id: objectOf(parseJson(text))?.prompt_id });
}

const AGAIN_MS = 1000;

type Console = Parts<"store" | "log" | "submissionsInFlight">;
type EndedSubmission = { contentHash: string; outcome: SubmissionOutcome };

function flightId(memberId: string, key: string): string {
  return `${memberId} ${key}`;
}

async function storeOutcome(composition: Console, attempt: Attempt, ended: EndedSubmission): Promise<void> {
  try {
    await store(composition, attempt, ended.outcome);
  } catch (err) {
    composition.log.error({ err }, "submission outcome write failed");
    // Without the flight of this attempt the console is being stopped.
    if (mayPass(err) && composition.submissionsInFlight.has(flightId(attempt.memberId, attempt.key)))
      void retryStoreOutcome(composition, attempt, ended);
  }
}

/** Until it is stored the submission counts as under way, so that other consoles wait for it. */
async function retryStoreOutcome(composition: Console, attempt: Attempt, { contentHash, outcome }: EndedSubmission): Promise<void> {
  const flights = composition.submissionsInFlight;
  const id = flightId(attempt.memberId, attempt.key);
  const flight = { contentHash, outcome: Promise.resolve(outcome) };
  flights.set(id, flight);
  const end = await composition.store.peers.beginWork(id);
  try {
    for (let isOver = false; !isOver;) {
      await sleep(AGAIN_MS, { unref: true });
      // The console was stopped.
      if (flights.get(id) !== flight) return;
      try {
        await store(composition, attempt, outcome);
        isOver = true;
      } catch (err) {
        isOver = !mayPass(err);
        if (isOver) composition.log.error({ err }, "submission outcome write failed");
      }
    }
    flights.delete(id);
  } finally {
    await end();
  }
}

/** A disk or a database that fails for a time: locked, out of reach, or in conflict with another writer. */
const passing = /^(SQLITE_(BUSY|LOCKED|IOERR|READONLY|CANTOPEN|PROTOCOL)|40001$|40P01$|55P03$)/;

function mayPass(error: unknown): boolean {
  return isStoreAway(error) || isFullDisk(error) || passing.test(String(codeOf(error)));
}

async function store({ store: { submissions } }: Console, attempt: Attempt, outcome: SubmissionOutcome): Promise<void> {
  if (outcome.ok) await submissions.accepted(attempt, toStored(outcome.value));
  else if (mayHaveStarted(outcome.failure)) await submissions.unknown(attempt, outcome.failure);
  else await submissions.forget(attempt);
}

/** How long the console remembers whether anything was sent with a key. */
export const SUBMISSION_KEPT_MS = 24 * 60 * 60_000;
/** The database may not notice at once that a console was cut off. */
const MAX_WAIT_MS = 60_000;
const LOOK_EVERY_MS = 250;
/** Header of pages loaded before an upgrade. Such a page would look for its submission by it, find none, and send it again. */
const OLDER_HEADER = "x-lightdesk-press";

export async function submitOnce(context: AuthedContext): Promise<Result<Response, Failure>> {
  const key = context.request.headers.get(IDEMPOTENCY_HEADER);
  if (context.request.headers.has(OLDER_HEADER))
    return failed(refusal("PAGE_OUT_OF_DATE", "This page is older than the console. Nothing was sent. Reload the page and try again."));
  if (key === null) return runOperation(operations.submitPrompt, context, ok({}));
  if (!isIdempotencyKey(key)) return failed(refusal("BAD_REQUEST", `${IDEMPOTENCY_HEADER} must be 16 to 64 letters, digits and hyphens.`));
  const body = await readWhole(context);
  if (!body.ok) return body;
  const outcome = await once(context, key, body.value);
  return outcome.ok ? ok(new Response(outcome.value, { headers: { "content-type": "application/json" } })) : outcome;
}

async function once(context: AuthedContext, key: string, body: Uint8Array<ArrayBuffer>): Promise<SubmissionOutcome> {
  const flights = context.composition.submissionsInFlight;
  const id = flightId(context.viewer.memberId, key);
  // The connection is part of the submission: the same graph elsewhere is another job.
  const contentHash = createHash("sha256").update(new URL(context.request.url).search).update("\n").update(body).digest("hex");
  const flying = flights.get(id);
  if (flying) return flying.contentHash === contentHash ? repeated(context, await flying.outcome) : failed(otherContent());
  const flight = { contentHash, outcome: settle(context, key, { body, contentHash }) };
  flights.set(id, flight);
  try {
    return await flight.outcome;
  } finally {
    // Another one has taken its place if the outcome could not be stored.
    if (flights.get(id) === flight) flights.delete(id);
  }
}

const unsent = failed(refusal("SERVICE_UNAVAILABLE", "The console failed before it sent the request. Nothing was sent."));

type RawSubmission = { body: Uint8Array<ArrayBuffer>; contentHash: string };

async function settle(context: AuthedContext, key: string, submission: RawSubmission): Promise<SubmissionOutcome> {
  const { store, now } = context.composition;
  const { memberId } = context.viewer;
  const end = await store.peers.beginWork(flightId(memberId, key));
  try {
    const attempt = { memberId, key, begunAt: now() };
    const times = { now: attempt.begunAt, forgetBefore: attempt.begunAt - SUBMISSION_KEPT_MS };
    if (await store.submissions.begin(attempt, { contentHash: submission.contentHash, ...times }))
      return await send(context, attempt, submission);
  } finally {
    await end();
  }
  const storedOutcome = await findStoredOutcome(context, key);
  // The earlier attempt started nothing: send this one.
  if (!storedOutcome) return settle(context, key, submission);
  return storedOutcome.contentHash === submission.contentHash ? repeated(context, toOutcome(storedOutcome)) : failed(otherContent());
}

/** Waits while another console is still sending it. */
async function findStoredOutcome(
  { composition: { store }, viewer: { memberId }, request: { signal } }: AuthedContext,
  key: string,
): Promise<StoredSubmission | undefined> {
  const lateAt = performance.now() + MAX_WAIT_MS;
  while ((await store.peers.isUnderWay(flightId(memberId, key))) && !signal.aborted && performance.now() < lateAt)
    await sleep(LOOK_EVERY_MS, { signal });
  return store.submissions.find({ memberId, key });
}

async function send(context: AuthedContext, attempt: Attempt, { body, contentHash }: RawSubmission): Promise<SubmissionOutcome> {
  const { url, headers } = context.request;
  // Without the browser's signal: what was sent cannot be taken back, and its answer is still wanted.
  const request = new Request(url, { method: "POST", headers, body });
  let usedId: string | undefined;
  const annotateAudit: AuthedContext["annotateAudit"] = (facts) => {
    usedId = facts.connectionId ?? usedId;
    context.annotateAudit(facts);
  };
  const result = await runOperation(operations.submitPrompt, { ...context, request, annotateAudit }, ok({})).catch(
    async (error: unknown) => {
      // The database failed before the service was chosen: nothing was sent.
      if (usedId === undefined) await storeOutcome(context.composition, attempt, { contentHash, outcome: unsent });
      throw error;
    },
  );
  const outcome: SubmissionOutcome = result.ok ? ok(await result.value.text()) : result;
  const facts = {
    label: readLabel(headers.get(LABEL_HEADER)),
    rerunOf: readRerun(headers.get(RERUN_HEADER)),
    batch: readBatch(headers.get(BATCH_HEADER)),
  };
  if (outcome.ok && usedId !== undefined && Object.values(facts).some((fact) => fact !== undefined))
    await storeLabel(context, usedId, { answer: outcome.value, facts });
  await storeOutcome(context.composition, attempt, { contentHash, outcome });
  return outcome;
}

async function storeLabel(
  { composition: { store, log, now } }: AuthedContext,
  usedId: string,
  received: { answer: string; facts: JobLabel & { batch?: BatchRef } },
): Promise<void> {
  const response = objectOf(parseJson(received.answer));
  const jobId = textOf(response?.prompt_id) ?? textOf(response?.job_id);
  if (jobId === undefined) return;
  try {
    await store.jobLabels.remember(usedId, { jobId, ...received.facts, now: now() });
  } catch (err) {
    log.error({ err }, "job label write failed");
  }
}

function repeated({ annotateAudit }: AuthedContext, outcome: SubmissionOutcome): SubmissionOutcome {
  annotateAudit({ outcome: "the same submission again: nothing was sent" });
  return outcome;
}

function otherContent(): Failure {
  return refusal("CONFLICT", `This ${IDEMPOTENCY_HEADER} was used for another submission.`);
}

/** For a browser that did not get the answer. Sends nothing; waits for a submission under way; shows members only their own. */
export async function readSubmission(context: AuthedContext, key: string): Promise<Result<SubmissionReport, Failure>> {
  const { composition, viewer } = context;
  const flying = composition.submissionsInFlight.get(flightId(viewer.memberId, key));
  if (flying) return ok(reportOf(await flying.outcome));
  const storedOutcome = await findStoredOutcome(context, key);
  return storedOutcome
    ? ok(reportOf(toOutcome(storedOutcome)))
    : failed(refusal("NOT_FOUND", "No submission with this key was sent to a service."));
}
