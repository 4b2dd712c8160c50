import { asText, isObject, type JsonObject } from "./json/json";
import { parseJson } from "./json/parse-json";
import { truncateText } from "./plain-line";
import { type NodeError, type NodeErrors } from "./schemas/execution";

export function readNodeErrors(value: unknown): NodeErrors | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).flatMap(([nodeId, entry]) => (isObject(entry) ? [[nodeId, parseEntry(entry)] as const] : []));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function parseEntry(entry: Record<string, unknown>): NodeErrors[string] {
  return {
    ...entry,
    class_type: asText(entry.class_type),
    dependent_outputs: Array.isArray(entry.dependent_outputs) ? entry.dependent_outputs.filter((id) => typeof id === "string") : [],
    errors: Array.isArray(entry.errors) ? entry.errors.flatMap((error: unknown) => (isObject(error) ? [parseError(error)] : [])) : [],
  };
}

function parseError(error: Record<string, unknown>): NodeError {
  return {
    ...error,
    type: asText(error.type) ?? "unknown",
    message: asText(error.message) ?? "",
    details: asText(error.details) ?? "",
    extra_info: isObject(error.extra_info) ? error.extra_info : {},
  };
}

export type Failure = {
  code: string;
  message: string;
  /** The HTTP status, or 0 without a response (unreachable or timed out). */
  status: number;
  details?: unknown;
  nodeErrors?: NodeErrors;
  promptError?: JsonObject;
  retryAfterMs?: number;
  requestId?: string;
};

/** The upstream client decides which responses have this code. */
export function isMissingOperation({ code }: Pick<Failure, "code">): boolean {
  return code === "NOT_IMPLEMENTED";
}

export function isNotFound(failure: Pick<Failure, "code" | "status">): boolean {
  return failure.status === 404 || isMissingOperation(failure);
}

const MAX_MESSAGE_LENGTH = 500;

/** A 429 whose code or message mentions money, a plan or a full queue is shown, and the request is not retried. */
const limitCodePattern = /QUEUE|TIER|BILLING|PAYMENT|SUBSCRIPTION|CREDIT|FUNDS|QUOTA|PLATFORM_REFUSED/i;
const limitMessagePattern = /\b(paid|pay|payment|subscription|plan|billing|credits?|funds|queue)\b/i;
const queuePattern = /QUEUE/i;

type ResponseHead = { status: number; headers?: { get(name: string): string | null } };

export function parseFailure(head: ResponseHead, body: string, nowMs = Date.now()): Failure {
  const retryAfterMs = parseRetryAfter(head.headers?.get("retry-after") ?? null, nowMs);
  const parsed = parseJson(body);
  const fields = isObject(parsed) ? readFields(parsed) : { message: toShortText(parsed === undefined ? body : parsed) };
  return {
    code: fields.code ?? getErrorCode(head.status),
    message: truncateText(fields.message ?? createStatusMessage(head.status), MAX_MESSAGE_LENGTH),
    status: head.status,
    ...(fields.details !== undefined && { details: fields.details }),
    ...(fields.nodeErrors && { nodeErrors: fields.nodeErrors }),
    ...(fields.promptError && { promptError: fields.promptError }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(fields.requestId !== undefined && { requestId: fields.requestId }),
  };
}

export function isPlainRateLimit(failure: Pick<Failure, "status" | "code" | "message">): boolean {
  return failure.status === 429 && !limitCodePattern.test(failure.code) && !limitMessagePattern.test(failure.message);
}

/** A 429 has three meanings, which its code and message distinguish. */
export function getCodeByStatus(failure: Pick<Failure, "status" | "code" | "message">): string {
  const { status, code, message } = failure;
  if (status !== 429 || isPlainRateLimit(failure)) return getErrorCode(status);
  return queuePattern.test(code) || (!limitCodePattern.test(code) && queuePattern.test(message)) ? QUEUE_FULL : "PAYMENT_REQUIRED";
}

/** A late validation failure: the job's exception text contains the JSON of a 400 body (first brace to last). */
export function parseLateValidation(exceptionMessage: string): Failure | undefined {
  const start = exceptionMessage.indexOf("{");
  const end = exceptionMessage.lastIndexOf("}");
  if (start < 0 || end <= start) return undefined;
  const text = exceptionMessage.slice(start, end + 1);
  const embedded = parseJson(text);
  if (!isObject(embedded)) return undefined;
  const hasReason = isObject(embedded.error) || asText(embedded.error) !== undefined || readNodeErrors(embedded.node_errors) !== undefined;
  return hasReason ? parseFailure({ status: 400 }, text) : undefined;
}

type FailureFields = Partial<Pick<Failure, "code" | "message" | "details" | "nodeErrors" | "promptError" | "requestId">>;

function readFields(body: JsonObject): FailureFields {
  const errorBody = isObject(body.error) ? body.error : body;
  const nodeErrors = readNodeErrors(body.node_errors);
  const firstNodeError = Object.values(nodeErrors ?? {}).flatMap((entry) => entry.errors)[0];
  return {
    code: toCode(errorBody.code) ?? toCode(errorBody.type) ?? toCode(body.code) ?? (nodeErrors && "prompt_outputs_failed_validation"),
    message:
      toPlainText(errorBody.message) ??
      toPlainText(body.error) ??
      toPlainText(body.message) ??
      toPlainText(body.detail) ??
      toPlainText([firstNodeError?.message, firstNodeError?.details].filter(Boolean).join(": ")),
    details:
      undefinedIfEmpty(errorBody.details) ??
      undefinedIfEmpty(body.invalid_ids) ??
      undefinedIfEmpty(body.accepted) ??
      undefinedIfEmpty(errorBody.extra_info),
    nodeErrors,
    promptError: isObject(body.error) && isObject(body.node_errors) ? body.error : undefined,
    requestId: asText(body.request_id),
  };
}

/** A code has no spaces. Some gateways repeat the HTTP status here as a number. */
function toCode(value: unknown): string | undefined {
  const code = asText(value)?.trim();
  return code && code.length <= 100 && !/\s/.test(code) ? code : undefined;
}

function toPlainText(value: unknown): string | undefined {
  const text = asText(value)?.trim();
  return text === undefined || text.startsWith("<") || /<\/?(html|body|head|div)\b/i.test(text) ? undefined : text;
}

function toShortText(body: unknown): string | undefined {
  const text = toPlainText(body);
  return text !== undefined && text.length <= MAX_MESSAGE_LENGTH ? text : undefined;
}

/** The console's own code for a 429 that mentions a full queue. */
export const QUEUE_FULL = "QUEUE_FULL";

function getErrorCode(status: number): string {
  return status === 0 ? "UPSTREAM_UNREACHABLE" : (codesByStatus.get(status) ?? "UNKNOWN_ERROR");
}

function createStatusMessage(status: number): string {
  return status === 0 ? "The service didn't respond." : `The service responded with status ${status} and no message.`;
}

function undefinedIfEmpty(value: unknown): unknown {
  if (value === undefined || value === null || value === "") return undefined;
  if (isObject(value) && Object.keys(value).length === 0) return undefined;
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

// RFC 9110, 10.2.3: whole seconds or a date. Undefined if it is invalid.
function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : isDate(text) ? Date.parse(text) - nowMs : Number.NaN;
  return Number.isFinite(waitMs) ? Math.max(0, Math.round(waitMs)) : undefined;
}

/** Excludes bare numbers ("-5"), which Date.parse reads as years. */
function isDate(text: string): boolean {
  return /^([A-Za-z]{3,9},|\d{4}-\d{2}-\d{2})/.test(text);
}

/** A failure without its own code gets the first code with its status. */
export const errorStatus = {
  BAD_REQUEST: 400,
  INVALID_QUERY: 400,
  INVALID_BODY: 400,
  INVALID_JSON: 400,
  INVALID_HASH: 400,
  INVALID_IMAGE: 400,
  INVALID_TAG_FILTER: 400,
  INVALID_PREVIEW_ID: 400,
  MISSING_FILE: 400,
  TRUNCATED_UPLOAD: 400,
  UNSUPPORTED_SOURCE: 400,
  UNAUTHORIZED: 401,
  PAYMENT_REQUIRED: 402,
  FORBIDDEN: 403,
  FOREIGN_ORIGIN: 403,
  JOBS_ONLY: 403,
  ROLE_TOO_LOW: 403,
  OWNER_PROTECTED: 403,
  OWN_MEMBERSHIP: 403,
  ROLE_FROM_GROUPS: 403,
  SUSPENDED: 403,
  PASSWORD_SIGN_IN_OFF: 403,
  SIGN_IN_AGAIN: 403,
  READ_ONLY: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  API_KEY_MISSING: 409,
  NO_CONNECTION: 409,
  ASSET_ID_UNAVAILABLE: 409,
  OUTCOME_UNKNOWN: 409,
  PRECONDITION_FAILED: 412,
  FILE_TOO_LARGE: 413,
  STORAGE_QUOTA_EXCEEDED: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  UNPROCESSABLE: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  NOT_IMPLEMENTED: 501,
  UPSTREAM_ERROR: 502,
  UPSTREAM_UNREACHABLE: 502,
  UPSTREAM_UNREADABLE: 502,
  UPSTREAM_TOO_LARGE: 502,
  UPSTREAM_REFUSED_KEY: 502,
  UPSTREAM_NOT_FOUND: 502,
  SERVICE_UNAVAILABLE: 503,
  UPSTREAM_TIMEOUT: 504,
  INSUFFICIENT_STORAGE: 507,
} as const;

export type ErrorCode = keyof typeof errorStatus;

const codesByStatus = new Map<number, string>(
  Object.entries(errorStatus)
    .map(([code, status]) => [status, code] as const)
    .reverse(),
);

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorStatus, code);
}

export function createFailure(code: ErrorCode, message: string, details?: unknown): Failure {
  return { code, message, status: errorStatus[code], ...(details !== undefined && { details }) };
}

/** Bodies aren't decompressed. A compressed body would be stored as is, or rejected as invalid. */
export function findEncodingFailure(headers: Pick<Headers, "get">): Failure | undefined {
  const encoding = headers.get("content-encoding")?.trim();
  if (!encoding || /^identity$/i.test(encoding)) return undefined;
  const message = "Content-Encoding must be identity: send the body uncompressed.";
  return createFailure("UNSUPPORTED_MEDIA_TYPE", message, { field: "Content-Encoding" });
}

/** POST /api/prompt reports an invalid body in ComfyUI's error format. */
export function createBodyPromptError({ code, message }: Pick<Failure, "code" | "message">): NodeError {
  const details = "No prompt provided";
  if (code === "INVALID_BODY" && message.startsWith("prompt: ")) return { type: "no_prompt", message: details, details, extra_info: {} };
  return { type: code === "REQUEST_TIMEOUT" ? "request_timeout" : "invalid_prompt", message, details: "", extra_info: {} };
}

export function createFieldFailure(path: string, message: string): Failure {
  return createFailure("INVALID_BODY", `${path}: ${message}`, [{ path, message }]);
}
