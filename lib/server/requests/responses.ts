// Responses of the console's routes: JSON, failures, streamed text and bytes.

import "server-only";
import { errorStatus, type Failure, isErrorCode, refusal } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { decodePercent, toPlainLine } from "@/lib/contract/plain-line";
import { LENGTH_HEADER, UNREADABLE_HEADER } from "@/lib/shared/headers";
import { ok, type Result } from "@/lib/shared/result";
import { toByteStream } from "@/lib/shared/web-stream";
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

export function jsonAnswer(value: unknown, status = 200, headers = new Headers()): Response {
  return inText(writeExactJson(value), status, headers);
}

/** The result's value as JSON, or its failure. */
export function jsonOf<T>(
  result: Result<T, Failure>,
  toBody: (value: T) => unknown = (value) => value,
  status = 200,
): Result<Response, Failure> {
  return result.ok ? ok(jsonAnswer(toBody(result.value), status)) : result;
}

/** No content if it succeeded, or its failure. */
export function emptyOf(result: Result<unknown, Failure>): Result<Response, Failure> {
  return result.ok ? ok(emptyAnswer()) : result;
}

const writtenBodies = new WeakMap<object, Uint8Array<ArrayBuffer>>();

/** For values that several requests share and nobody changes: serialized once. */
export function sharedAnswer(value: object, status: number, headers: Headers): Response {
  const body = writtenBodies.get(value) ?? new TextEncoder().encode(writeExactJson(value));
  writtenBodies.set(value, body);
  return inJson(body, body.byteLength, status, headers);
}

export function writtenText(json: string): Response {
  return inText(json, 200, new Headers());
}

/** Not copied, as it may have 30 MB. */
export function writtenAnswer(json: Uint8Array): Response {
  return inJson(oneChunk(json), json.byteLength, 200, new Headers());
}

export function unreadableHeaders(count: number): Headers {
  return new Headers(count > 0 ? { [UNREADABLE_HEADER]: String(count) } : {});
}

function inText(json: string, status: number, headers: Headers): Response {
  const body = new TextEncoder().encode(json);
  return inJson(body, body.byteLength, status, headers);
}

/**
 * The length lets the response reach a client that is still sending (lib/http/server.ts), and saves the packet of the last chunk. A service
 * may have answered with an empty 204 or 205; the console's answer has a body, which these statuses do not allow.
 */
function inJson(body: BodyInit, length: number, status: number, headers: Headers): Response {
  headers.set("content-type", "application/json");
  headers.set("content-length", String(length));
  const response = new Response(body, { status: status === 204 || status === 205 ? 200 : status, headers });
  if (body instanceof Uint8Array) knownBodies.set(response, body);
  return response;
}

const knownBodies = new WeakMap<Response, Uint8Array>();

/** The body of an answer that was written in one piece, without reading its stream. */
export function knownBody(response: Response): Uint8Array | undefined {
  return knownBodies.get(response);
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
  const headers = new Headers();
  if (retryAfterMs !== undefined) headers.set("retry-after", String(Math.ceil(retryAfterMs / 1000)));
  const status = statusOf(failure);
  if (status === 401) headers.set("www-authenticate", CHALLENGE);
  // The rest of a body that is too large or too late is not read, so the connection cannot be reused.
  if (status === 413 || status === 408) headers.set("connection", "close");
  return inText(body, status, headers);
}

export function statusOf({ code, status }: Failure): number {
  if (code === "CLIENT_GONE") return 499;
  if (isErrorCode(code)) return errorStatus[code];
  // The browser falls back to the status if it does not know the code either.
  return (status >= 400 && status < 500) || [501, 503, 504, 507].includes(status) ? status : 502;
}

export function finish(response: Response, requestId: string): Response {
  const { headers } = response;
  const length = headers.get("content-length");
  if (length !== null) headers.set(LENGTH_HEADER, length);
  for (const [name, value] of Object.entries(always)) headers.set(name, value);
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  headers.set("x-request-id", requestId);
  return response;
}

const requestHeaders = ["range", "if-range", "if-none-match", "if-modified-since"] as const;
const responseHeaders = ["content-length", "content-range", "accept-ranges", "etag", "last-modified"] as const;

export function passedRequestHeaders(request: Request): Record<string, string> {
  const headers = new Map<string, string>();
  // Ranges apply only to GET.
  const names = request.method === "GET" ? requestHeaders : requestHeaders.filter((name) => !name.includes("range"));
  for (const name of names) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

export function bytesAnswer(from: Response): Response {
  const headers = new Headers();
  for (const name of responseHeaders) {
    const value = from.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const type = (from.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const isInline = isMedia(type);
  headers.set("content-type", isInline ? type : "application/octet-stream");
  headers.set("content-disposition", `${isInline ? "inline" : "attachment"}${nameOf(from.headers.get("content-disposition"))}`);
  // Private and revalidated each time: the validator makes that cheap, and a signed-out browser gets nothing.
  headers.set("cache-control", "private, no-cache");
  return new Response(from.status === 304 ? null : from.body, { status: from.status, headers });
}

export function fileAnswer(body: ReadableStream<Uint8Array> | null, name: string): Response {
  const headers = {
    "content-type": "application/json",
    "content-disposition": `attachment; filename="${name}"`,
    "cache-control": "no-store",
  };
  return new Response(body, { headers });
}

/** The envelope with the size of the whole, so that the caller can ask again. */
export async function refusedRange(from: Response, requestId: string): Promise<Response> {
  await from.body?.cancel();
  const response = failureAnswer(refusal("RANGE_NOT_SATISFIABLE", "The file does not have this range."), requestId);
  const range = from.headers.get("content-range");
  if (range !== null) response.headers.set("content-range", range);
  return response;
}

function isMedia(type: string): boolean {
  return /^(image|video|audio)\/[\w.+-]+$/.test(type) && !/^image\/svg|[+/]xml$/.test(type);
}

/** Only complete names pass: half a name could be another file's. */
function nameOf(disposition: string | null): string {
  // Quoted strings are split off first, so that nothing inside them is read as a parameter.
  const parts = disposition?.match(/(?:"(?:[^"\\]|\\.)*"?|[^";])+/g)?.map((part) => part.trim()) ?? [];
  const plain = parts.find((part) => /^filename=(?:"[^"\\\r\n]{1,600}"|[\w.%'~+-]{1,600})$/i.test(part));
  // The exact name, if the plain one only approximates it.
  const exact = parts.find((part) => /^filename\*=[\w-]+'[\w-]*'[\w.%~!#$&^`|+-]{1,6000}$/i.test(part));
  const names = [plain && plainName(plain), exact && exactName(exact)];
  return names.map((name) => (name === undefined ? "" : `; ${name}`)).join("");
}

/** Node decodes each header byte as one character. Browsers decode these bytes as UTF-8. */
function plainName(part: string): string {
  const text = Buffer.from(part, "latin1").toString("utf8");
  const line = toPlainLine(text);
  return line === text ? part : Buffer.from(line, "utf8").toString("latin1");
}

function exactName(part: string): string | undefined {
  const [, head = "", name = ""] = /^(filename\*=utf-8'[^']*')(.*)$/i.exec(part) ?? [];
  if (head === "") return part;
  const text = decodePercent(name);
  if (text === undefined) return undefined;
  const line = toPlainLine(text);
  return line === text ? part : head + encodeURIComponent(line).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}

export function textStream(pieces: AsyncGenerator<string, void>, onGone: () => void = () => undefined): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return toByteStream(async () => {
    let piece = await pieces.next();
    while (!piece.done && piece.value === "") piece = await pieces.next();
    return piece.done ? piece : { value: encoder.encode(piece.value) };
  }, onGone);
}
