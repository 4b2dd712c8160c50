// Submissions of workflows. The idempotency key is never sent to a service. Doesn't import zod, to keep it out of the first page's scripts.

import { type Failure } from "../failure";
import { object, oneOf, text } from "../json/readers";
import { decodePercent } from "../plain-line";

export const IDEMPOTENCY_HEADER = "idempotency-key";
const keyPattern = /^[A-Za-z0-9-]{16,64}$/;

export function isIdempotencyKey(text: string): boolean {
  return keyPattern.test(text);
}

/** The console's label for a submitted job, encoded by encodeURIComponent. Never sent to a service. */
export const LABEL_HEADER = "x-lightdesk-label";
const MAX_LABEL_LENGTH = 120;

/** The original job of a rerun, with its id encoded by encodeURIComponent. Never sent to a service. */
export const RERUN_HEADER = "x-lightdesk-rerun-of";
const MAX_JOB_ID_LENGTH = 200;

export function parseRerun(header: string | null): string | undefined {
  const id = parseLabel(header);
  return id !== undefined && id.length <= MAX_JOB_ID_LENGTH ? id : undefined;
}

/** Jobs that one user submits together: the id and size of their batch, as `ID; size=12`. Never sent to a service. */
export const BATCH_HEADER = "x-lightdesk-batch";
export const MAX_BATCH_SIZE = 1000;
export type BatchRef = { id: string; size: number };

export function formatBatch({ id, size }: BatchRef): string {
  return `${id}; size=${size}`;
}

export function parseBatch(header: string | null): BatchRef | undefined {
  const [, id = "", digits] = /^([A-Za-z0-9-]{16,64}); ?size=(\d{1,4})$/.exec(header ?? "") ?? [];
  const size = Number(digits);
  return size >= 1 && size <= MAX_BATCH_SIZE ? { id, size } : undefined;
}

/** One short line, or undefined if it is blank. Truncated before encoding, so that no character is split. */
function toLabel(text: string): string | undefined {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return Array.from(line).slice(0, MAX_LABEL_LENGTH).join("") || undefined;
}

/** Labels are only for people, so an invalid one does not reject the job. */
export function parseLabel(header: string | null): string | undefined {
  return toLabel(decodePercent(header ?? "") ?? "");
}

/** The outcome of a submission, from GET /api/console/submissions/{key}. An unknown key is a 404. */
export type SubmissionReport =
  { state: "accepted"; answer: unknown } | { state: "refused" } | { state: "unknown"; failure: { code: string; message: string } };

const unclearCodePattern = /^(INTERNAL|OUTCOME_UNKNOWN|UPSTREAM_(ERROR|TIMEOUT|UNREADABLE|TOO_LARGE))$/;

const readAcceptedResponse = object({}, { prompt_id: text, job_id: text });

export function getSubmittedJob(response: unknown): string | undefined {
  const parsed = readAcceptedResponse(response);
  return parsed?.prompt_id ?? parsed?.job_id;
}

const readUnsentDetails = object({ sent: oneOf([false]) });

export function isUnsent({ details }: Pick<Failure, "details">): boolean {
  return readUnsentDetails(details) !== undefined;
}

/** The service may have accepted the job, because it was sent and no clear response arrived. */
export function couldHaveStarted(failure: Pick<Failure, "code" | "details">): boolean {
  return unclearCodePattern.test(failure.code) || (failure.code === "UPSTREAM_UNREACHABLE" && !isUnsent(failure));
}
