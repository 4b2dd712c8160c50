// The console's error answer as a value, read without a schema library: this is part of every page's first load.
// Guarantees: never throws whatever the body holds; an answer that is not the console's own envelope still gets a code.
// Must never: show a body as a message when it is markup.

import { type Failure } from "@/lib/contract/failure";
import { type NodeErrors } from "@/lib/contract/schemas/node-errors";

/** What a browser sees beyond the console's own codes. */
export const CONSOLE_UNREACHABLE = "CONSOLE_UNREACHABLE";
export const ABORTED = "ABORTED";

export type ApiFailure = Failure & { requestId?: string };

export function readFailure(status: number, retryAfter: string | null, body: string): ApiFailure {
  const envelope = parseObject(body);
  const seconds = retryAfter === null || retryAfter.trim() === "" ? Number.NaN : Number(retryAfter);
  const nodeErrors = readNodeErrors(envelope?.node_errors);
  return {
    code: text(envelope?.code) ?? codeWithoutEnvelope(status),
    message: text(envelope?.message) ?? "",
    status,
    ...(envelope?.details !== undefined && envelope.details !== null && { details: envelope.details }),
    ...(nodeErrors && { nodeErrors }),
    ...(Number.isFinite(seconds) && { retryAfterMs: Math.max(0, seconds * 1000) }),
    ...(text(envelope?.request_id) && { requestId: text(envelope?.request_id) }),
  };
}

/** For what threw before any answer came: the network between this browser and the console, or a page that went away. */
export function failureOfThrown(cause: unknown): ApiFailure {
  const isAborted = cause instanceof DOMException && cause.name === "AbortError";
  return { code: isAborted ? ABORTED : CONSOLE_UNREACHABLE, message: "", status: 0 };
}

export function isFailure(value: unknown): value is ApiFailure {
  return isRecord(value) && typeof value.code === "string" && typeof value.message === "string" && typeof value.status === "number";
}

/** A proxy in front of the console may answer with a page of its own. */
function codeWithoutEnvelope(status: number): string {
  if (status === 401) return "UNAUTHORIZED";
  if (status === 404) return "NOT_FOUND";
  if (status === 413) return "FILE_TOO_LARGE";
  if (status === 429) return "RATE_LIMITED";
  return status >= 502 && status <= 504 ? CONSOLE_UNREACHABLE : "INTERNAL";
}

function readNodeErrors(value: unknown): NodeErrors | undefined {
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value).flatMap(([nodeId, entry]) => {
    if (!isRecord(entry)) return [];
    const errors = (Array.isArray(entry.errors) ? entry.errors : []).filter(isRecord).map((error) => ({
      type: text(error.type) ?? "unknown",
      message: text(error.message) ?? "",
      details: text(error.details) ?? "",
      extra_info: isRecord(error.extra_info) ? error.extra_info : {},
    }));
    const outputs = Array.isArray(entry.dependent_outputs) ? entry.dependent_outputs.filter((id) => typeof id === "string") : [];
    return [[nodeId, { class_type: text(entry.class_type), dependent_outputs: outputs, errors }] as const];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
