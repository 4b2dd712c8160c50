// Sends requests to services, and to URLs supplied by a service. Follows no redirects, adds no Origin or cookie, and streams bodies.

import "server-only";
import { lookup as systemLookup } from "node:dns";
import { type IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { ReadableStream } from "node:stream/web";
import { Agent, buildConnector, type Dispatcher, request as exchange } from "undici";
import { createGuardedConnector, createPublicConnector, type Resolve } from "@/lib/shared/guarded-connector";
import { toWebStream } from "@/lib/shared/web-stream";

/** If one request needs several calls to the service, `onHeaders` is called for the headers of each response. */
export type Send = (request: Request, onHeaders?: () => void) => Promise<Response>;

/** The base URL of the service inside this process. */
export const EMBEDDED_BASE_URL = "http://embedded.invalid";

export function isEmbedded(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).origin === EMBEDDED_BASE_URL;
}

export type HttpSend = Send & { close(): Promise<void> };

/** A Response with one of these statuses may have no body. */
const NULL_BODY_STATUSES = new Set([204, 205, 304]);
const methods = ["GET", "HEAD", "POST", "PUT", "DELETE"] as const;

export function createHttpSend(options: { connectTimeoutMs?: number; dispatcher?: Dispatcher } = {}): HttpSend {
  // The caller's signal bounds the total time. The body timeout catches a peer that stalls mid-body.
  const limits = { headersTimeout: 0, bodyTimeout: 120_000, connect: createGuardedConnector(options.connectTimeoutMs ?? 5000) };
  const dispatcher = options.dispatcher ?? new Agent({ ...limits, connections: 128 });
  const send = async (request: Request): Promise<Response> => {
    const responseData = await exchange(request.url, {
      method: methods.find((method) => method === request.method) ?? "GET",
      headers: Object.fromEntries(request.headers),
      body: toNodeStream(request.body),
      signal: request.signal,
      dispatcher,
    });
    const init = { status: responseData.statusCode, headers: toHeaders(responseData.headers) };
    if (NULL_BODY_STATUSES.has(responseData.statusCode) || request.method === "HEAD") {
      await responseData.body.dump();
      return new Response(null, init);
    }
    return new Response(toWebStream(responseData.body), init);
  };
  return Object.assign(send, { close: () => dispatcher.destroy() });
}

/** Node's and the browser's types declare the same class differently. */
function toNodeStream(body: unknown): Readable | null {
  if (body === null) return null;
  if (!(body instanceof ReadableStream)) throw new TypeError("the request body is not a stream");
  return Readable.fromWeb(body);
}

function toHeaders(rawHeaders: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(rawHeaders)) {
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined) headers.append(name, item);
  }
  return headers;
}

/** Sends to untrusted URLs. Never pass an API key. */
export type GuardedSend = HttpSend;

class ForbiddenAddressError extends Error {
  readonly code = "FORBIDDEN_ADDRESS";
}

type GuardOptions = { trustedHosts: readonly string[]; connectTimeoutMs?: number; resolve?: Resolve };

export function createGuardedSend({ trustedHosts, connectTimeoutMs: timeout = 5000, resolve = systemLookup }: GuardOptions): GuardedSend {
  const createError = () => new ForbiddenAddressError("not a public https address");
  const connectPlain = buildConnector({ timeout });
  const connectGuarded = createPublicConnector({ resolve, createError }, (lookup) => buildConnector({ timeout, lookup }));
  const connect: buildConnector.connector = (target, done) => {
    if (isTrustedHost(trustedHosts, target.hostname, target.port)) return connectPlain(target, done);
    if (target.protocol !== "https:") return done(createError(), null);
    connectGuarded(target, done);
  };
  return createHttpSend({ dispatcher: new Agent({ connect, headersTimeout: 0, bodyTimeout: 60_000 }) });
}

export function isTrustedHost(trustedHosts: readonly string[], hostname: string, port: string): boolean {
  const host = hostname.toLowerCase();
  return trustedHosts.includes(host) || trustedHosts.includes(`${host}:${port}`);
}
