// Context of a translated request: the request, the server's client, and helpers for responses.

import "server-only";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type ComfyClient, createComfyClient, type JsonBounds } from "@/lib/comfyui/client";
import { meterJsonStream } from "@/lib/comfyui/http";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createLru } from "@/lib/shared/lru";
import { failed, ok, type Result } from "@/lib/shared/result";
import { buildKeyHeader } from "../build-request";
import { parseResponse, ResponseTooLargeError } from "../read-body";
import { type Send } from "../send";
import { toStream } from "../streams";

const CACHE_MS = 60_000;
const MAX_SERVERS = 20;

/** Without an id or a status, the entry counts as unreadable. */
export type LocalJob = { id?: string; status?: string; [field: string]: unknown };

/** `isTruncated`: the server has older ones. */
export type EndedJobs = { jobs: readonly LocalJob[]; isTruncated: boolean };
type EndedJobsCache = ReturnType<typeof createEndedJobsCache>;

/** Caches the ended jobs of servers whose job list is built from their history. */
export function createEndedJobsCache(now: () => number) {
  const servers = createLru<string, { endedJobs: EndedJobs; storedAtMs: number }>({ max: MAX_SERVERS });
  return {
    now,
    get(base: string): EndedJobs | undefined {
      const entry = servers.get(base);
      return entry && now() - entry.storedAtMs < CACHE_MS ? entry.endedJobs : undefined;
    },
    /** If `isComplete`, the entry is fresh. Otherwise it keeps the previous timestamp. */
    set(base: string, endedJobs: EndedJobs, isComplete: boolean): void {
      servers.set(base, { endedJobs, storedAtMs: isComplete ? now() : (servers.get(base)?.storedAtMs ?? 0) });
    },
    delete: (base: string) => void servers.delete(base),
  };
}

type CallOptions = { json?: unknown; query?: Readonly<Record<string, string | number>> | undefined };

export type LocalExchange = {
  request: Request;
  url: URL;
  /** The groups of the path pattern, still encoded. */
  pathGroups: readonly string[];
  /** The server's URL: everything before /api. */
  base: string;
  endedJobs: EndedJobsCache;
  /** The client id of the console's submissions and WebSocket. */
  clientId: string;
  /** Sends the request unchanged, or with parameters changed by `change` (only without a body). */
  forward(change?: (query: URLSearchParams) => void): Promise<Response>;
  /** Calls the same server; `path` begins with /api. */
  call(path: `/api/${string}`, options?: CallOptions): Promise<Response>;
  /** Parses a JSON response. If it is too large and `bounds` is set, skips values nested deeper than the bounds. */
  readJson(response: Response, bounds?: JsonBounds): Promise<Result<unknown, Response>>;
  /** A client of the same server. On failure, it returns the server's response for forwarding. */
  server: ComfyClient<Response>;
};

/** Ends a translation with this response. */
export class EarlyResponse extends Error {
  constructor(readonly answer: Response) {
    super("local server response returned unchanged");
  }
}

/** The response is not JSON. It matches no schema, so validation rejects it. */
export class NonJsonResponseError extends EarlyResponse {
  constructor() {
    super(new Response("no JSON"));
  }
}

export async function unwrap<T>(promise: Promise<Result<T, Response>>): Promise<T> {
  const result = await promise;
  if (!result.ok) throw new EarlyResponse(result.failure);
  return result.value;
}

export const getJobId = ({ pathGroups }: LocalExchange): string => decodeURIComponent(pathGroups[0] ?? "");

export type Translation = {
  method: string;
  /** Matches the path, starting at /api. */
  path: RegExp;
  translate(exchange: LocalExchange): Promise<Response>;
};

type LocalDependencies = { send: Send; endedJobs: EndedJobsCache; clientId: string };

export function createExchange(
  { send, endedJobs, clientId }: LocalDependencies,
  request: Request,
  pathGroups: RegExpExecArray,
): LocalExchange {
  const url = new URL(request.url);
  const base = url.href.slice(0, url.href.length - url.search.length - pathGroups[0].length);

  function call(path: `/api/${string}`, { json, query = {} }: CallOptions = {}): Promise<Response> {
    const target = new URL(base + path);
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, String(value));
    const keyHeader = buildKeyHeader(request.headers.get("x-api-key"));
    const headers = new Headers({ "user-agent": "lightdesk", "accept-encoding": "identity", ...keyHeader });
    if (json !== undefined) headers.set("content-type", "application/json");
    const method = json === undefined ? "GET" : "POST";
    const body = json === undefined ? undefined : writeExactJson(json);
    return send(new Request(target, { method, headers, body, signal: request.signal, redirect: "manual" }));
  }

  const readJson = (response: Response, bounds?: JsonBounds) => readLocal(response, request.signal, bounds);

  return {
    request,
    url,
    pathGroups: pathGroups.slice(1),
    base,
    endedJobs,
    clientId,
    call,
    readJson,
    forward(change) {
      if (!change) return send(request);
      const target = new URL(url);
      change(target.searchParams);
      return send(new Request(target, { method: request.method, headers: request.headers, signal: request.signal, redirect: "manual" }));
    },
    server: createComfyClient(
      // Only /queue may be oversized, because it contains every job's graph.
      async (path, { body, bounds } = {}) => readJson(await call(`/api${path}`, { json: body }), path === "/queue" ? bounds : undefined),
      () => createJsonResponse(null),
    ),
  };
}

async function readLocal(response: Response, signal: AbortSignal, bounds?: JsonBounds): Promise<Result<unknown, Response>> {
  if (response.status >= 300 || /^\s*text\/html\b/i.test(response.headers.get("content-type") ?? "")) return failed(response);
  const parseResult = await parseResponse(response.body, signal).catch(async (error: unknown) => {
    if (!bounds || !(error instanceof ResponseTooLargeError) || !error.whole) throw error;
    const boundedJson = await meterJsonStream(error.whole, bounds);
    if (!boundedJson.ok) throw new ResponseTooLargeError();
    return parseResponse(toStream(Buffer.from(boundedJson.value)), signal);
  });
  if (!parseResult.ok) throw new NonJsonResponseError();
  // Other requests run before the caller processes and serializes the value.
  await yieldToEventLoop();
  return ok(parseResult.value);
}

/** A `catch` handler for optional responses that may be too large. */
export function ignoreTooLarge(error: unknown): undefined {
  if (!(error instanceof ResponseTooLargeError)) throw error;
  error.discard();
}

/** A response in the format of the API. */
export function createJsonResponse(value: unknown, status = 200): Response {
  return new Response(writeExactJson(value), { status, headers: { "content-type": "application/json" } });
}

export const createJobNotFoundResponse = () => createJsonResponse({ code: "NOT_FOUND", message: "The server has no such job." }, 404);

/** True if the path itself does not exist, for example in an older version. Servers report missing items of a known path in JSON. */
export function isMissingRoute({ status, headers }: Response): boolean {
  return status === 404 && !/\bjson\b/i.test(headers.get("content-type") ?? "");
}

/** True if the server has no job list, or a damaged job makes it fail. Queue and history are then read instead. */
export function isJobListUnavailable(response: Response): boolean {
  return isMissingRoute(response) || response.status === 500;
}

/** For operations that a local server does not support. */
export function createNotImplementedResponse(message: string): Response {
  return createJsonResponse({ code: "NOT_IMPLEMENTED", message }, 501);
}
