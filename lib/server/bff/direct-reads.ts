// Serves lists of jobs without Next's router, whose overhead exceeds the cost of a shared read. A route registers its handler when Next
// loads it, so the first request for a list passes through Next.

import "server-only";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import { type Operation } from "@/lib/contract/operation";
import { acceptsEncoding } from "@/lib/shared/headers";
import { securityHeaders, unframedHeaders } from "@/lib/shared/security-headers.mjs";
import { getProcessState } from "../process-state";
import { getBufferedBody } from "../requests/responses";
import { type Handler } from "./guard";

const gzipAsync = promisify(gzip);
const MIN_GZIP_BYTES = 1000;
const NO_PARAMS = Promise.resolve({});
/** Bodies that several requests share are compressed once. */
const gzipPromises = new WeakMap<Uint8Array, Promise<Uint8Array>>();

export function registerRead(operation: Operation, handle: Handler): void {
  if (operation.reads !== "jobs" || operation.method !== "GET" || operation.path.includes("{")) return;
  getProcessState().directReads?.set(operation.path, (request, response) => handleDirectly(handle, request, response));
}

async function handleDirectly(handle: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const disconnectController = new AbortController();
  response.once("close", () => response.writableFinished || disconnectController.abort());
  const init = { headers: toHeaders(request), signal: disconnectController.signal };
  const result = await handle(new Request(`http://localhost${request.url}`, init), { params: NO_PARAMS });
  const body = getBufferedBody(result);
  const isGzipped =
    acceptsEncoding(request.headers, "gzip") && result.body !== null && (body === undefined || body.byteLength >= MIN_GZIP_BYTES);
  const bytes = isGzipped && body ? await gzipOnce(body) : body;
  if (response.destroyed) return void result.body?.cancel().catch(() => undefined);
  response.statusCode = result.status;
  // As in Next, headers that the server has already set take precedence.
  for (const [name, value] of [...result.headers, ...Object.entries({ ...securityHeaders, ...unframedHeaders })])
    if (!response.hasHeader(name)) response.setHeader(name, value);
  response.setHeader("vary", "accept-encoding");
  if (isGzipped) response.removeHeader("content-length");
  if (isGzipped) response.setHeader("content-encoding", "gzip");
  if (bytes) response.setHeader("content-length", bytes.byteLength).end(bytes);
  else if (result.body === null) response.end();
  else {
    const transfer = isGzipped ? pipeline(result.body, createGzip(), response) : pipeline(result.body, response);
    // A client may disconnect during the response.
    await transfer.catch(() => undefined);
  }
}

function gzipOnce(body: Uint8Array): Promise<Uint8Array> {
  const gzipPromise = gzipPromises.get(body) ?? gzipAsync(body);
  gzipPromises.set(body, gzipPromise);
  return gzipPromise;
}

function toHeaders({ headers }: IncomingMessage): Headers {
  const headersCopy = new Headers();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) headersCopy.set(name, String(value));
  return headersCopy;
}
