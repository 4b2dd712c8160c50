// Builds the responses of the console's routes: JSON, failures, streamed text and bytes.

import "server-only";
import { createFailure, errorStatus, type Failure, isErrorCode } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { decodePercent, toPlainLine } from "@/lib/contract/plain-line";
import { LENGTH_HEADER, UNREADABLE_HEADER } from "@/lib/shared/headers";
import { ok, type Result } from "@/lib/shared/result";
import { toByteStream } from "@/lib/shared/web-stream";
import { toStream } from "../upstream/streams";

const commonHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy":
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
};

/** Sent when a credential is missing. Browsers show no dialog for this scheme. */
export const CHALLENGE = 'Bearer realm="Lightdesk"';

export function createJsonResponse(value: unknown, status = 200, headers = new Headers()): Response {
  return buildTextResponse(writeExactJson(value), status, headers);
}

/** The result's value as JSON, or its failure. */
export function toJsonResponse<T>(
  result: Result<T, Failure>,
  toBody: (value: T) => unknown = (value) => value,
  status = 200,
): Result<Response, Failure> {
  return result.ok ? ok(createJsonResponse(toBody(result.value), status)) : result;
}

/** An empty response on success, or the failure. */
export function toEmptyResponse(result: Result<unknown, Failure>): Result<Response, Failure> {
  return result.ok ? ok(createEmptyResponse()) : result;
}

const serializedBodies = new WeakMap<object, Uint8Array<ArrayBuffer>>();

/** For immutable values that several requests share. They are serialized once. */
export function createSharedJsonResponse(value: object, status: number, headers: Headers): Response {
  const body = serializedBodies.get(value) ?? new TextEncoder().encode(writeExactJson(value));
  serializedBodies.set(value, body);
  return buildJsonResponse(body, body.byteLength, status, headers);
}

export function createJsonTextResponse(json: string): Response {
  return buildTextResponse(json, 200, new Headers());
}

/** Doesn't copy the bytes, which may be 30 MB. */
export function createJsonBytesResponse(json: Uint8Array): Response {
  return buildJsonResponse(toStream(json), json.byteLength, 200, new Headers());
}

export function createUnreadableHeaders(count: number): Headers {
  return new Headers(count > 0 ? { [UNREADABLE_HEADER]: String(count) } : {});
}

function buildTextResponse(json: string, status: number, headers: Headers): Response {
  const body = new TextEncoder().encode(json);
  return buildJsonResponse(body, body.byteLength, status, headers);
}

/**
 * With a content length, the response reaches even a client that is still sending (lib/http/server.ts), without an extra final chunk.
 * A service's status 204 or 205 becomes 200, because those don't allow a body.
 */
function buildJsonResponse(body: BodyInit, length: number, status: number, headers: Headers): Response {
  headers.set("content-type", "application/json");
  headers.set("content-length", String(length));
  const response = new Response(body, { status: status === 204 || status === 205 ? 200 : status, headers });
  if (body instanceof Uint8Array) bufferedBodies.set(response, body);
  return response;
}

const bufferedBodies = new WeakMap<Response, Uint8Array>();

/** Returns the body of a response that was created from bytes, without reading its stream. */
export function getBufferedBody(response: Response): Uint8Array | undefined {
  return bufferedBodies.get(response);
}

export function createEmptyResponse(status = 204): Response {
  return new Response(null, { status });
}

/** The code determines the status. For unknown codes, the service's status is used. */
export function createFailureResponse(failure: Failure, requestId: string): Response {
  const { code, message, details, nodeErrors, promptError, retryAfterMs } = failure;
  // A rejected prompt also has ComfyUI's error fields, even if no node failed.
  const promptFields = (promptError ?? nodeErrors) && {
    error: promptError ?? { type: code, message, details: typeof details === "string" ? details : "", extra_info: {} },
    node_errors: nodeErrors ?? {},
  };
  const body = writeExactJson({ code, message, ...(details !== undefined && { details }), ...promptFields, request_id: requestId });
  const headers = new Headers();
  if (retryAfterMs !== undefined) headers.set("retry-after", String(Math.ceil(retryAfterMs / 1000)));
  const status = getFailureStatus(failure);
  if (status === 401) headers.set("www-authenticate", CHALLENGE);
  // A body that is too large or too slow is not read to its end, so the connection can't be reused.
  if (status === 413 || status === 408) headers.set("connection", "close");
  return buildTextResponse(body, status, headers);
}

export function getFailureStatus({ code, status }: Failure): number {
  if (code === "CLIENT_GONE") return 499;
  if (isErrorCode(code)) return errorStatus[code];
  // The browser also falls back to the status if it doesn't know the code.
  return (status >= 400 && status < 500) || [501, 503, 504, 507].includes(status) ? status : 502;
}

export function addCommonHeaders(response: Response, requestId: string): Response {
  const { headers } = response;
  const length = headers.get("content-length");
  if (length !== null) headers.set(LENGTH_HEADER, length);
  for (const [name, value] of Object.entries(commonHeaders)) headers.set(name, value);
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  headers.set("x-request-id", requestId);
  return response;
}

const forwardedRequestHeaders = ["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"] as const;
const forwardedResponseHeaders = ["content-length", "content-range", "accept-ranges", "etag", "last-modified"] as const;

export function pickRequestHeaders(request: Request): Record<string, string> {
  const headers = new Map<string, string>();
  // Ranges apply only to GET.
  const names = request.method === "GET" ? forwardedRequestHeaders : forwardedRequestHeaders.filter((name) => !name.includes("range"));
  for (const name of names) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

export function createBytesResponse(upstreamResponse: Response): Response {
  const headers = new Headers();
  for (const name of forwardedResponseHeaders) {
    const value = upstreamResponse.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  // Revalidated on each request, so that a signed-out browser gets nothing.
  headers.set("cache-control", "private, no-cache");
  // Has no content type, so the browser keeps the cached one.
  if (upstreamResponse.status === 304) return new Response(null, { status: 304, headers });
  const type = (upstreamResponse.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const isInline = isMediaType(type);
  headers.set("content-type", isInline ? type : "application/octet-stream");
  headers.set(
    "content-disposition",
    `${isInline ? "inline" : "attachment"}${toNameParams(upstreamResponse.headers.get("content-disposition"))}`,
  );
  return new Response(upstreamResponse.body, { status: upstreamResponse.status, headers });
}

export function createFileResponse(body: ReadableStream<Uint8Array> | null, name: string): Response {
  const headers = {
    "content-type": "application/json",
    "content-disposition": `attachment; filename="${name}"`,
    "cache-control": "no-store",
  };
  return new Response(body, { headers });
}

/** Includes the total file size, so that the client can retry with a valid range. */
export async function createRangeFailureResponse(upstreamResponse: Response, requestId: string): Promise<Response> {
  await upstreamResponse.body?.cancel();
  const response = createFailureResponse(createFailure("RANGE_NOT_SATISFIABLE", "The file does not have this range."), requestId);
  const range = upstreamResponse.headers.get("content-range");
  if (range !== null) response.headers.set("content-range", range);
  return response;
}

function isMediaType(type: string): boolean {
  return /^(image|video|audio)\/[\w.+-]+$/.test(type) && !/^image\/svg|[+/]xml$/.test(type);
}

/** Only complete names are forwarded, because a truncated name could be another file's. */
function toNameParams(disposition: string | null): string {
  // Splits off quoted strings first, so that nothing inside them is parsed as a parameter.
  const params = disposition?.match(/(?:"(?:[^"\\]|\\.)*"?|[^";])+/g)?.map((param) => param.trim()) ?? [];
  const plainParam = params.find((param) => /^filename=(?:"[^"\\\r\n]{1,600}"|[\w.%'~+-]{1,600})$/i.test(param));
  // The extended parameter has the exact name if the plain one only approximates it.
  const extendedParam = params.find((param) => /^filename\*=[\w-]+'[\w-]*'[\w.%~!#$&^`|+-]{1,6000}$/i.test(param));
  const cleanParams = [plainParam && cleanPlainParam(plainParam), extendedParam && cleanExtendedParam(extendedParam)];
  return cleanParams.map((param) => (param === undefined ? "" : `; ${param}`)).join("");
}

/** Node decodes each header byte as one character. Browsers decode the bytes as UTF-8. */
function cleanPlainParam(param: string): string {
  const text = Buffer.from(param, "latin1").toString("utf8");
  const cleanName = toPlainLine(text);
  return cleanName === text ? param : Buffer.from(cleanName, "utf8").toString("latin1");
}

function cleanExtendedParam(param: string): string | undefined {
  const [, prefix = "", name = ""] = /^(filename\*=utf-8'[^']*')(.*)$/i.exec(param) ?? [];
  if (prefix === "") return param;
  const text = decodePercent(name);
  if (text === undefined) return undefined;
  const cleanName = toPlainLine(text);
  return cleanName === text
    ? param
    : prefix + encodeURIComponent(cleanName).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

export function createTextStream(chunks: AsyncGenerator<string, void>, onCancel: () => void = () => undefined): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return toByteStream(async () => {
    let chunk = await chunks.next();
    while (!chunk.done && chunk.value === "") chunk = await chunks.next();
    return chunk.done ? chunk : { value: encoder.encode(chunk.value) };
  }, onCancel);
}
