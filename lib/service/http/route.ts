// A route combines an operation of the contract and its handler. Its readers are typed by the operation's schemas.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { errorStatus } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type BodyOf, type Operation, type QueryOf } from "@/lib/contract/operation";
import { isUniqueViolation } from "@/lib/shared/error-codes";
import { type AccessTimes } from "../assets/access-times";
import { type BlobStore } from "../assets/blob-store";
import { type Folders } from "../assets/folders";
import { type AssetSearch } from "../assets/search/asset-search";
import { type Thumbnails } from "../assets/thumbnails";
import { type Downloads } from "../downloads/downloads";
import { type JobEvents } from "../events/job-events";
import { type Engine } from "../jobs/run/engine";
import { type LiveRuns } from "../jobs/run/live-runs";
import { type ServiceLog } from "../options";
import { type Pool } from "../runners/pool";
import { type ErrorBody, toErrorBody, toStorageFailure } from "../service-error";
import { type ServiceSettings } from "../settings";
import { type Database } from "../store/database";
import { type User } from "../users/keys";

export type RequestContext = {
  request: Request;
  /** The body as a stream, or undefined without a body. Read it once, instead of `request.body`. */
  bytes(): AsyncIterable<Uint8Array> | undefined;
  user: User;
  baseUrl: string;
};

/** Readers validate only when they are called, so the handler decides what is checked first. */
export type Call<O extends Operation> = RequestContext & {
  operation: O;
  param(name: ParamName<O["path"]>): string;
  query(): QueryOf<O>;
  body(): Promise<BodyOf<O>>;
};

type AnyCall = RequestContext & { operation: Operation; param(name: string): string; query(): unknown; body(): Promise<unknown> };
type HandlerResult = Response | Promise<Response>;
export type Route = { operation: Operation; handle(call: AnyCall): HandlerResult };

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamName<Rest> : never;

/** The router validates with the schemas that QueryOf and BodyOf are derived from. */
export function defineRoute<const O extends Operation>(operation: O, handle: (call: Call<O>) => HandlerResult): Route {
  return { operation, handle };
}

export type RouteDependencies = {
  database: Database;
  blobs: BlobStore;
  folders: Folders;
  engine: Engine;
  pool: Pool;
  events: JobEvents;
  liveRuns: LiveRuns;
  thumbnails: Thumbnails;
  accessTimes: AccessTimes;
  assetSearch: AssetSearch;
  downloads: Downloads;
  settings: ServiceSettings;
  publicUrl?: string;
  now: () => number;
  log: ServiceLog;
};

const PLAIN_HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
const JSON_TYPE = "application/json; charset=utf-8";
const CHUNK_LENGTH = 64 * 1024;

export function jsonResponse(value: unknown, status = 200): Response {
  return jsonTextResponse(writeExactJson(value), status);
}

export function jsonTextResponse(value: string, status = 200): Response {
  return new Response(value, { status, headers: { ...PLAIN_HEADERS, "content-type": JSON_TYPE } });
}

/** Streams long JSON and yields between chunks. An error aborts the response, because its status was already sent. */
export function streamJson(chunks: AsyncIterable<string>): Response {
  const iterator = chunks[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await yieldToEventLoop();
        let chunk = "";
        while (chunk.length < CHUNK_LENGTH) {
          const result = await iterator.next();
          if (result.done) {
            if (chunk !== "") controller.enqueue(encoder.encode(chunk));
            return controller.close();
          }
          chunk += result.value;
        }
        controller.enqueue(encoder.encode(chunk));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { ...PLAIN_HEADERS, "content-type": JSON_TYPE } });
}

function textResponse(value: string, status: number): Response {
  return new Response(value, { status, headers: { ...PLAIN_HEADERS, "content-type": "text/plain; charset=utf-8" } });
}

export function emptyResponse(status: number): Response {
  return new Response(null, { status, headers: PLAIN_HEADERS });
}

const conflictError: ErrorBody = { code: "CONFLICT", message: "This already exists. Reload, then try again." };
const internalError: ErrorBody = { code: "INTERNAL", message: "The service failed to process this request." };

export function toErrorResponse(error: unknown, request: { method: string; path: string }, log: ServiceLog): Response {
  const errorBody = toErrorBody(error) ?? toStorageFailure(error) ?? (isUniqueViolation(error) ? conflictError : internalError);
  const status = errorStatus[errorBody.code];
  // Errors that the client did not cause are logged for the operator. No other code logs their cause.
  if (status >= 500 && status !== errorStatus.NOT_IMPLEMENTED)
    log.error({ err: error, method: request.method, path: request.path }, "request failed");
  return createErrorBodyResponse(errorBody, request.path);
}

export function createErrorBodyResponse({ code, message, details }: ErrorBody, path: string): Response {
  const status = errorStatus[code];
  if (path.startsWith("/api/userdata")) return textResponse(message, status);
  return jsonResponse({ code, message, ...(details !== undefined && { details }) }, status);
}
