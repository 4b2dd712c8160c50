// Sends over HTTP with undici's request. Bodies are streams in both directions: fetch would keep a streamed body in memory.
// Guarantees: redirects are returned and not followed; the request's signal ends the exchange, both bodies included.
// Must never: add a header that the caller did not set, or connect to a link-local or metadata address.

import "server-only";
import { type IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { ReadableStream } from "node:stream/web";
import { Agent, type Dispatcher, request as exchange } from "undici";
import { guardedConnector } from "@/lib/shared/guarded-connector";
import { toWebStream } from "@/lib/shared/web-stream";
import { type Send } from "./send";

export type HttpSend = Send & { close(): Promise<void> };

/** A Response with one of these statuses may have no body. */
const bodiless = new Set([204, 205, 304]);
const methods = ["GET", "HEAD", "POST", "PUT", "DELETE"] as const;

export function createHttpSend(options: { connectTimeoutMs?: number; dispatcher?: Dispatcher } = {}): HttpSend {
  // The caller limits the time, through the signal; the body limit is for a peer that stops in the middle.
  const limits = { headersTimeout: 0, bodyTimeout: 120_000, connect: guardedConnector(options.connectTimeoutMs ?? 5000) };
  const dispatcher = options.dispatcher ?? new Agent({ ...limits, connections: 128 });
  const send = async (request: Request): Promise<Response> => {
    const answer = await exchange(request.url, {
      method: methods.find((method) => method === request.method) ?? "GET",
      headers: Object.fromEntries(request.headers),
      body: toNodeStream(request.body),
      signal: request.signal,
      dispatcher,
    });
    const init = { status: answer.statusCode, headers: toHeaders(answer.headers) };
    if (bodiless.has(answer.statusCode) || request.method === "HEAD") {
      await answer.body.dump();
      return new Response(null, init);
    }
    return new Response(toWebStream(answer.body), init);
  };
  return Object.assign(send, { close: () => dispatcher.destroy() });
}

/** Node's and the browser's types declare the same class differently. */
function toNodeStream(body: unknown): Readable | null {
  if (body === null) return null;
  if (!(body instanceof ReadableStream)) throw new TypeError("the body of a request is no stream");
  return Readable.fromWeb(body);
}

function toHeaders(raw: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  }
  return headers;
}
