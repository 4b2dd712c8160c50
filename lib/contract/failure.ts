// Any refusal of a service, in any of the nine shapes that deployments send, as one value.
// Guarantees: never throws whatever the body holds; the message is at most 500 characters of plain text.
// Must never: interpret HTML, or pass a body through as a message when it is markup.

import { type NodeErrors, nodeErrorsSchema } from "./schemas/node-errors";

export type Failure = {
  code: string;
  message: string;
  /** HTTP status of the answer; 0 where there was none (unreachable, timed out). */
  status: number;
  details?: unknown;
  nodeErrors?: NodeErrors;
  retryAfterMs?: number;
};

const LONGEST_MESSAGE = 500;

/** Codes and types of a 429 that mean money, plan or a full queue: shown, never retried. */
const refusals = new Set([
  "QUEUE_LIMIT",
  "FREE_TIER_UNAVAILABLE",
  "FREE_TIER_EXHAUSTED",
  "FREE_TIER_NOT_ALLOWED",
  "BILLING_UNAVAILABLE",
  "PLATFORM_REFUSED",
  "PAYMENT_REQUIRED",
  "CLOUD_SUBSCRIPTION_REQUIRED",
  "SUBSCRIPTION_INACTIVE",
  "queue_full",
]);

export type AnswerHead = { status: number; headers?: { get(name: string): string | null } };

export function parseFailure(head: AnswerHead, body: string, nowMs = Date.now()): Failure {
  const retryAfterMs = parseRetryAfter(head.headers?.get("retry-after") ?? null, nowMs);
  const parsed = parseJson(body);
  const found = isRecord(parsed) ? fromObject(parsed) : { message: typeof parsed === "string" ? parsed : fromText(body) };
  return {
    code: found.code || codeOfStatus(head.status),
    message: clip(found.message || messageOfStatus(head.status)),
    status: head.status,
    ...(found.details !== undefined && { details: found.details }),
    ...(found.nodeErrors && { nodeErrors: found.nodeErrors }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** True only for a plain rate limit: a 429 that speaks of plan, payment or queue must not be repeated. */
export function isPlainRateLimit(failure: Failure): boolean {
  return failure.status === 429 && !refusals.has(failure.code) && !/\b(paid|pay|payment|subscription|plan|billing|credits?)\b/i.test(failure.message);
}

/** A late validation failure: the job's exception text embeds the JSON of a 400 body (first brace to last). */
export function parseLateValidation(exceptionMessage: string): Failure | undefined {
  const first = exceptionMessage.indexOf("{");
  const last = exceptionMessage.lastIndexOf("}");
  if (first < 0 || last <= first) return undefined;
  const embedded = parseJson(exceptionMessage.slice(first, last + 1));
  if (!isRecord(embedded) || (embedded.error === undefined && embedded.node_errors === undefined)) return undefined;
  return parseFailure({ status: 400 }, JSON.stringify(embedded));
}

type Found = { code?: string; message?: string; details?: unknown; nodeErrors?: NodeErrors };

function fromObject(body: Record<string, unknown>): Found {
  const nodeErrors = readNodeErrors(body.node_errors);
  const inner = isRecord(body.error) ? body.error : body;
  const code = text(inner.code) ?? text(inner.type);
  const message = text(inner.message) ?? text(body.error) ?? text(body.message) ?? text(body.detail);
  const details = notEmpty(inner.details) ?? notEmpty(body.invalid_ids) ?? notEmpty(body.accepted) ?? notEmpty(inner.extra_info);
  return { code, message, details, nodeErrors };
}

function readNodeErrors(value: unknown): NodeErrors | undefined {
  const parsed = nodeErrorsSchema.safeParse(value);
  return parsed.success && Object.keys(parsed.data).length > 0 ? parsed.data : undefined;
}

function fromText(body: string): string | undefined {
  const trimmed = body.trim();
  if (trimmed === "" || trimmed.startsWith("<") || trimmed.length > LONGEST_MESSAGE) return undefined;
  return trimmed;
}

function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(waitMs) ? Math.max(0, Math.round(waitMs)) : undefined;
}

function parseJson(textBody: string): unknown {
  try {
    return JSON.parse(textBody) as unknown;
  } catch {
    return undefined;
  }
}

const statusCodes: Readonly<Record<number, string>> = {
  0: "UPSTREAM_UNREACHABLE",
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  402: "PAYMENT_REQUIRED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "CONFLICT",
  413: "FILE_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  422: "UNPROCESSABLE",
  429: "RATE_LIMITED",
  500: "INTERNAL",
  501: "NOT_IMPLEMENTED",
  503: "SERVICE_UNAVAILABLE",
};

function codeOfStatus(status: number): string {
  return statusCodes[status] ?? "UNKNOWN_ERROR";
}

function messageOfStatus(status: number): string {
  return status === 0 ? "The service gave no answer." : `The service answered ${status} without saying why.`;
}

function clip(message: string): string {
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function notEmpty(value: unknown): unknown {
  if (value === undefined || value === null || value === "") return undefined;
  if (isRecord(value) && Object.keys(value).length === 0) return undefined;
  return value;
}
