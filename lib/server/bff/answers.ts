// The console's answers: one envelope for refusals, one set of headers for everything.
// Guarantees: caches store nothing unless a route says so; HTML that a service slipped in cannot run.

import "server-only";
import { errorStatus, isErrorCode, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { skippedIn } from "@/lib/contract/json/readers";
import { LENGTH_HEADER, UNREADABLE_HEADER } from "@/lib/shared/headers";
import { oneChunk } from "../upstream/streams";

const always: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy":
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
};

/** How to authenticate, sent when a credential is missing; browsers show no dialog for it. */
export const CHALLENGE = 'Bearer realm="Lightdesk"';

/** A service may have answered with an empty 204 or 205; the console's answer has a body, which these statuses do not allow. */
export function jsonAnswer(value: unknown, status = 200, headers = new Headers()): Response {
  return inJson(writeExactJson(value), status, headers);
}

/** For JSON that is already written. */
export function writtenAnswer(json: Uint8Array, status: number, headers: Headers): Response {
  return inJson(oneChunk(json), status, headers);
}

export function unreadableHeaders(list: unknown): Headers {
  const count = skippedIn(list);
  return new Headers(count > 0 ? { [UNREADABLE_HEADER]: String(count) } : {});
}

function inJson(body: BodyInit, status: number, headers: Headers): Response {
  headers.set("content-type", "application/json");
  return new Response(body, { status: status === 204 || status === 205 ? 200 : status, headers });
}

export function emptyAnswer(status = 204): Response {
  return new Response(null, { status });
}

/** The code decides the status; a code unknown to the console keeps the service's status. */
export function failureAnswer(failure: Failure, requestId: string): Response {
  const { code, message, details, nodeErrors, promptError, retryAfterMs } = failure;
  // A refused prompt keeps the shape that workflow authors know, beside the envelope, even if no node is at fault.
  const promptShape = (promptError ?? nodeErrors) && {
    error: promptError ?? { type: code, message, details: typeof details === "string" ? details : "", extra_info: {} },
    node_errors: nodeErrors ?? {},
  };
  const body = writeExactJson({ code, message, ...(details !== undefined && { details }), ...promptShape, request_id: requestId });
  // With Content-Length, the answer also reaches a client that is still sending (lib/http/server.ts).
  const headers = new Headers({ "content-length": String(Buffer.byteLength(body)) });
  if (retryAfterMs !== undefined) headers.set("retry-after", String(Math.ceil(retryAfterMs / 1000)));
  const status = statusOf(failure);
  if (status === 401) headers.set("www-authenticate", CHALLENGE);
  // The rest of a body that is too large or too late is not read, so the connection cannot be reused.
  if (status === 413 || status === 408) headers.set("connection", "close");
  return inJson(body, status, headers);
}

export function statusOf({ code, status }: Failure): number {
  if (code === "CLIENT_GONE") return 499;
  if (isErrorCode(code)) return errorStatus[code];
  // The browser falls back to the status if it does not know the code either.
  return (status >= 400 && status < 500) || [501, 503, 504, 507].includes(status) ? status : 502;
}

export function finish(answer: Response, requestId: string): Response {
  const headers = new Headers(answer.headers);
  const length = headers.get("content-length");
  if (length !== null) headers.set(LENGTH_HEADER, length);
  for (const [name, value] of Object.entries(always)) headers.set(name, value);
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  headers.set("x-request-id", requestId);
  return new Response(answer.body, { status: answer.status, headers });
}
