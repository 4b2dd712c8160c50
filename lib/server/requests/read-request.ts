// Reads a request's query and body with the contract's schemas, within limits of size and time.

import "server-only";
import { type z } from "zod";
import { CONNECTION_PARAMETER, RAW_PARAMETER } from "@/lib/contract/console";
import { createFailure, type ErrorCode, type Failure } from "@/lib/contract/failure";
import { maxExactNumbers, parseExactJson, TooManyExactNumbersError } from "@/lib/contract/json/parse-json";
import { type Operation } from "@/lib/contract/operation";
import { findUnknownFilter, getQueryErrorCode } from "@/lib/contract/schemas/lenient";
import { withTimeout, yieldInOrder } from "@/lib/shared/async";
import { bodyBounds, findExceededBound, LARGE_BODY_LENGTH } from "@/lib/shared/json-depth";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type RouteContext } from "../context";
import { createClientGoneFailure } from "../upstream/failures";
import { readBytes } from "../upstream/streams";

const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** Unauthenticated clients only send a name, an address, a password or a token. */
export const MAX_VISITOR_BODY_BYTES = 64 * 1024;
const MAX_JSON_DEPTH = 100;

export function getIdParam({ params }: Pick<RouteContext, "params">): string {
  return typeof params.id === "string" ? params.id : "";
}

export function getSearchParams(request: Request): URLSearchParams {
  const queryIndex = request.url.indexOf("?");
  return new URLSearchParams(queryIndex < 0 ? "" : request.url.slice(queryIndex + 1).split("#")[0]);
}

const consoleParameters = [CONNECTION_PARAMETER, RAW_PARAMETER];

export function getConnectionParam(request: Request): string | undefined {
  return getSearchParams(request).get(CONNECTION_PARAMETER) ?? undefined;
}

/** Without a schema, all parameters are dropped. The console's own parameters are always dropped. */
export function readQuery<S extends z.ZodObject>(search: URLSearchParams, schema: S): Result<z.output<S>, Failure>;
export function readQuery(search: URLSearchParams, schema: z.ZodObject | undefined): Result<Record<string, unknown>, Failure>;
export function readQuery(search: URLSearchParams, schema: z.ZodObject | undefined): Result<Record<string, unknown>, Failure> {
  if (!schema) return ok({});
  const entries = [...new Set(search.keys())].flatMap((name) => {
    const values = search.getAll(name);
    return consoleParameters.includes(name) ? [] : [[name, values.length > 1 ? values : values[0]]];
  });
  const parsed = schema.safeParse(Object.fromEntries(entries));
  if (!parsed.success) {
    // Clients send lists as one string, so the error path omits list indexes.
    return failed(createInvalidQueryFailure(parsed.error.issues.map(({ path, message }) => ({ path: path.slice(0, 1), message }))));
  }
  return ok(parsed.data);
}

export function readOperationQuery(search: URLSearchParams, { query }: Operation): ReturnType<typeof readQuery> {
  const names = [...search.keys()].filter((name) => !consoleParameters.includes(name));
  const unknownFilter = query && findUnknownFilter(query, names);
  if (unknownFilter) return failed(createInvalidQueryFailure([{ path: [unknownFilter.field], message: unknownFilter.message }]));
  // Only one value of a repeated parameter would be used. The service rejects them too.
  const repeatedName = Object.keys(query?.shape ?? {}).find((name) => search.getAll(name).length > 1);
  if (repeatedName !== undefined) return failed(createInvalidQueryFailure([{ path: [repeatedName], message: "must not be repeated" }]));
  return readQuery(search, query);
}

type BodyContext = Pick<RouteContext, "composition" | "request">;

/** The bytes as received, for bodies that are both forwarded and parsed. */
export async function readBody(
  { composition, request }: BodyContext,
  maxBytes = MAX_JSON_BYTES,
): Promise<Result<Uint8Array<ArrayBuffer>, Failure>> {
  const { requestTimeoutMs } = composition.env.service;
  // A body ends early only if the sender disconnected.
  const bodyPromise = readBytes(request.body, maxBytes).catch(() => "client-gone" as const);
  const bytes = await withTimeout(bodyPromise, requestTimeoutMs, () => "late" as const);
  if (bytes === "client-gone") return failed(createClientGoneFailure());
  if (bytes === "late") return failed(createFailure("REQUEST_TIMEOUT", `The body was not complete after ${requestTimeoutMs / 1000} s.`));
  return bytes ? ok(new Uint8Array(bytes)) : failed(createFailure("FILE_TOO_LARGE", `The body is larger than ${maxBytes} bytes.`));
}

export async function readJson<T>(context: BodyContext, schema: z.ZodType<T>, maxBytes?: number): Promise<Result<T, Failure>> {
  const bytes = await readBody(context, maxBytes);
  if (!bytes.ok) return bytes;
  let json: unknown;
  // Yields to the event loop between parsing steps of large bodies, so that other requests can run.
  const yieldIfLarge = () => (bytes.value.byteLength > LARGE_BODY_LENGTH ? yieldInOrder() : undefined);
  await yieldIfLarge();
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.value);
    // The service has the same limit. Without it, the stack could overflow.
    const exceededBound = findExceededBound(text, { depth: MAX_JSON_DEPTH, ...bodyBounds });
    if (exceededBound === "depth")
      return failed(createFailure("INVALID_JSON", `The JSON is nested more than ${MAX_JSON_DEPTH} levels deep.`));
    if (exceededBound)
      return failed(createFailure("INVALID_JSON", `The JSON has more than ${bodyBounds[exceededBound]} ${exceededBound}.`));
    // Some operations have no body.
    json =
      text.trim() === "" && schema.safeParse(undefined).success ? undefined : parseExactJson(text, { maxNumbers: maxExactNumbers.text });
  } catch (error) {
    if (error instanceof TooManyExactNumbersError) return failed(createFailure("INVALID_JSON", error.message));
    return failed(createFailure("INVALID_JSON", "The body is not JSON."));
  }
  await yieldIfLarge();
  const parsed = schema.safeParse(json);
  await yieldIfLarge();
  return parsed.success ? ok(parsed.data) : failed(createInvalidRequestFailure("INVALID_BODY", parsed.error.issues));
}

type Issue = { path: readonly PropertyKey[]; message: string };

function createInvalidQueryFailure(issues: readonly Issue[]): Failure {
  return createInvalidRequestFailure(getQueryErrorCode(issues.map(({ path }) => String(path[0]))), issues);
}

function createInvalidRequestFailure(code: ErrorCode, zodIssues: readonly Issue[]): Failure {
  const issues = zodIssues.slice(0, 20).map((issue) => ({ path: issue.path.map(String).join("."), message: issue.message }));
  const firstIssue = issues[0];
  return createFailure(code, firstIssue ? `${firstIssue.path || "body"}: ${firstIssue.message}` : "The request is not valid.", issues);
}
