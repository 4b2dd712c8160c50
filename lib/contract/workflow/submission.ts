// Submissions of workflows. The idempotency key never reaches a service. Free of zod: browsers load it with the first page.

import { type Failure } from "../failure";
import { object, oneOf, text } from "../json/readers";
import { decodePercent } from "../plain-line";

export const IDEMPOTENCY_HEADER = "idempotency-key";
const key = /^[A-Za-z0-9-]{16,64}$/;

export function isIdempotencyKey(text: string): boolean {
  return key.test(text);
}

/** The console's label for the job of a submission, as encodeURIComponent writes it. Like the key, it never reaches a service. */
export const LABEL_HEADER = "x-lightdesk-label";
const MAX_LABEL = 120;

/** The original job of a rerun, with its id encoded by encodeURIComponent. Never sent to a service either. */
export const RERUN_HEADER = "x-lightdesk-rerun-of";
const MAX_JOB_ID = 200;

export function readRerun(header: string | null): string | undefined {
  const id = readLabel(header);
  return id !== undefined && id.length <= MAX_JOB_ID ? id : undefined;
}

/** Jobs that one person submits together: the id of their batch, and how many it has, as `ID; size=12`. Never sent to a service either. */
export const BATCH_HEADER = "x-lightdesk-batch";
export const MAX_BATCH_SIZE = 1000;
export type BatchRef = { id: string; size: number };

export function writeBatch({ id, size }: BatchRef): string {
  return `${id}; size=${size}`;
}

export function readBatch(header: string | null): BatchRef | undefined {
  const [, id = "", digits] = /^([A-Za-z0-9-]{16,64}); ?size=(\d{1,4})$/.exec(header ?? "") ?? [];
  const size = Number(digits);
  return size >= 1 && size <= MAX_BATCH_SIZE ? { id, size } : undefined;
}

/** One line, short enough for a list; undefined if it is blank. Cut before it is encoded, so that no letter is cut in half. */
function toLabel(text: string): string | undefined {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return Array.from(line).slice(0, MAX_LABEL).join("") || undefined;
}

/** A label is only for people, so no job is refused for a bad one. */
export function readLabel(header: string | null): string | undefined {
  return toLabel(decodePercent(header ?? "") ?? "");
}

/** The outcome of a submission, from GET /api/console/submissions/{key}; an unknown key is a 404. */
export type SubmissionReport =
  { state: "accepted"; answer: unknown } | { state: "refused" } | { state: "unknown"; failure: { code: string; message: string } };

const unanswered = new Set(["INTERNAL", "UPSTREAM_ERROR", "UPSTREAM_TIMEOUT", "UPSTREAM_UNREADABLE", "UPSTREAM_TOO_LARGE"]);

const accepted = object({}, { prompt_id: text, job_id: text });

export function submittedJob(response: unknown): string | undefined {
  const parsed = accepted(response);
  return parsed?.prompt_id ?? parsed?.job_id;
}

const unsent = object({ sent: oneOf([false]) });

export function isUnsent({ details }: Pick<Failure, "details">): boolean {
  return unsent(details) !== undefined;
}

/** The service may have accepted the job despite this failure: it was sent, without a clear answer. */
export function mayHaveStarted(failure: Pick<Failure, "code" | "details">): boolean {
  return unanswered.has(failure.code) || (failure.code === "UPSTREAM_UNREACHABLE" && !isUnsent(failure));
}
