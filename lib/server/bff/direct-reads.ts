// Answers lists of jobs without Next's router, whose work costs more than a shared read. A route registers its handler when Next loads it,
// so the first request for a list passes through Next.

import "server-only";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import { type Operation } from "@/lib/contract/operation";
import { securityHeaders, unframedHeaders } from "@/lib/shared/security-headers.mjs";
import { knownBody } from "../requests/responses";
import { getProcessState } from "../running";
import { type Handler } from "./guard";

const pack = promisify(gzip);
const MIN_PACKED_BYTES = 1000;
const NO_PARAMS = Promise.resolve({});
/** Answers that several requests share are compressed once. */
const packedBodies = new WeakMap<Uint8Array, Promise<Uint8Array>>();

export function registerRead(operation: Operation, handle: Handler): void {
  if (operation.reads !== "jobs" || operation.method !== "GET" || operation.path.includes("{")) return;
  getProcessState().directReads?.set(operation.path, (request, response) => answer(handle, request, response));
}

async function answer(handle: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => response.writableFinished || gone.abort());
  const init = { headers: toHeaders(request), signal: gone.signal };
  const answered = await handle(new Request(`http://localhost${request.url}`, init), { params: NO_PARAMS });
  const body = knownBody(answered);
  const isPacked = readsGzip(request) && answered.body !== null && (body === undefined || body.byteLength >= MIN_PACKED_BYTES);
  const bytes = isPacked && body ? await packOnce(body) : body;
  if (response.destroyed) return void answered.body?.cancel().catch(() => undefined);
  response.statusCode = answered.status;
  // As in Next, headers that the server has set before take precedence.
  for (const [name, value] of [...answered.headers, ...Object.entries({ ...securityHeaders, ...unframedHeaders })])
    if (!response.hasHeader(name)) response.setHeader(name, value);
  response.setHeader("vary", "accept-encoding");
  if (isPacked) response.removeHeader("content-length");
  if (isPacked) response.setHeader("content-encoding", "gzip");
  if (bytes) response.setHeader("content-length", bytes.byteLength).end(bytes);
  else if (answered.body === null) response.end();
  else {
    const sending = isPacked ? pipeline(answered.body, createGzip(), response) : pipeline(answered.body, response);
    // A client that leaves during the answer ends it.
    await sending.catch(() => undefined);
  }
}

function packOnce(body: Uint8Array): Promise<Uint8Array> {
  const packed = packedBodies.get(body) ?? pack(body);
  packedBodies.set(body, packed);
  return packed;
}

function readsGzip({ headers }: IncomingMessage): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(headers["accept-encoding"] ?? ""));
}

function toHeaders({ headers }: IncomingMessage): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) copied.set(name, String(value));
  return copied;
}
