import { type z } from "zod";
import { maxExactNumbers, parseExactJson, TooManyExactNumbersError } from "@/lib/contract/json/parse-json";
import { findUnknownFilter, getParameterForm, getQueryErrorCode } from "@/lib/contract/schemas/lenient";
import { yieldInOrder } from "@/lib/shared/async";
import { bodyBounds, findExceededBound, isDeeperThan, LARGE_BODY_LENGTH } from "@/lib/shared/json-depth";
import { ServiceError, toErrorBody } from "../service-error";
import { type ServiceSettings } from "../settings";

type QueryLimits = Pick<ServiceSettings, "maxJsonDepth">;

export function readQuery<S extends z.ZodObject>(request: Request, schema: S, { maxJsonDepth }: QueryLimits): z.output<S> {
  const values = new Map<string, string>();
  const searchParams = new URL(request.url).searchParams;
  const unknownFilter = findUnknownFilter(schema, searchParams.keys());
  if (unknownFilter) throw createInvalidRequestError("INVALID_QUERY", [unknownFilter]);
  for (const [name, value] of searchParams) {
    if (!Object.hasOwn(schema.shape, name)) continue;
    // Rejects repeated parameters, because one value would be lost. Lists are sent as one value with commas.
    if (values.has(name)) throw toQueryError([{ field: name, message: "must not be repeated" }]);
    // The maximum nesting is a setting, so the contract cannot check it.
    if (getParameterForm(schema, name)?.kind === "object-text" && isDeeperThan(value, maxJsonDepth))
      throw toQueryError([{ field: name, message: `is nested more than ${maxJsonDepth} levels deep` }]);
    values.set(name, value);
  }
  const result = schema.safeParse(Object.fromEntries(values));
  if (result.success) return result.data;
  throw toQueryError(toIssues(result.error).map(({ field, message }) => ({ field: field.split(".")[0] ?? field, message })));
}

function toQueryError(issues: Issue[]): ServiceError {
  return createInvalidRequestError(getQueryErrorCode(issues.map(({ field }) => field)), issues);
}

type Issue = { field: string; message: string };

export function toIssues(error: z.ZodError): Issue[] {
  return error.issues.map((issue) => ({
    field: issue.code === "unrecognized_keys" ? issue.keys.join(", ") : issue.path.map(String).join("."),
    message: toMessage(issue),
  }));
}

function toMessage(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_union" || issue.message !== "Invalid input") return issue.message;
  const innerIssue = issue.errors.flat().find((item) => item.code !== "invalid_type") ?? issue.errors.flat()[0];
  return innerIssue ? toMessage(innerIssue) : issue.message;
}

export function createInvalidRequestError(code: "INVALID_QUERY" | "INVALID_TAG_FILTER" | "INVALID_BODY", issues: Issue[]): ServiceError {
  return new ServiceError(code, issues.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; "), issues);
}

async function withDeadline<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  const deadline = startTimer(timeoutMs);
  try {
    return await deadline.waitFor(promise);
  } finally {
    deadline.stop();
  }
}

export async function* withIdleTimeout(body: AsyncIterable<Uint8Array>, timeoutMs: number): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const idleTimer = startTimer(timeoutMs);
  try {
    for (;;) {
      const result = await idleTimer.waitFor(chunks.next());
      if (result.done) return;
      yield result.value;
    }
  } finally {
    idleTimer.stop();
  }
}

function startTimer(timeoutMs: number) {
  // Only reads may time out, because the consumer may be slower than the sender.
  let expire: (() => void) | undefined;
  const timer = setTimeout(() => expire?.(), timeoutMs);
  return {
    waitFor<T>(promise: Promise<T>): Promise<T> {
      timer.refresh();
      return new Promise<T>((resolve, reject) => {
        expire = () => reject(createTimeoutError(timeoutMs));
        promise.then(resolve, reject);
      }).finally(() => (expire = undefined));
    },
    stop: () => clearTimeout(timer),
  };
}

function createTimeoutError(timeoutMs: number): ServiceError {
  const seconds = timeoutMs / 1000;
  return new ServiceError("REQUEST_TIMEOUT", `The body stalled or was incomplete for ${seconds} s.`);
}

type Limits = Pick<ServiceSettings, "maxJsonBytes" | "maxJsonDepth" | "requestTimeoutMs">;

export async function readJson<S extends z.ZodType>(request: Request, schema: S, limits: Limits): Promise<z.output<S>> {
  const text = await readText(request, limits);
  const yieldIfLarge = () => (text.length > LARGE_BODY_LENGTH ? yieldInOrder() : undefined);
  await yieldIfLarge();
  const isOmitted = text.trim() === "" && schema.safeParse(undefined).success;
  const value = isOmitted ? undefined : parseJson(text, limits);
  await yieldIfLarge();
  const result = schema.safeParse(value);
  await yieldIfLarge();
  if (result.success) return result.data;
  throw createInvalidRequestError("INVALID_BODY", toIssues(result.error));
}

export function parseJson(text: string, { maxJsonDepth }: Pick<Limits, "maxJsonDepth">): unknown {
  const exceededBound = findExceededBound(text, { depth: maxJsonDepth, ...bodyBounds });
  if (exceededBound === "depth") throw new ServiceError("INVALID_JSON", `The JSON is nested more than ${maxJsonDepth} levels deep.`);
  if (exceededBound) throw new ServiceError("INVALID_JSON", `The JSON has more than ${bodyBounds[exceededBound]} ${exceededBound}.`);
  try {
    return parseExactJson(text, { maxNumbers: maxExactNumbers.text });
  } catch (error) {
    if (error instanceof TooManyExactNumbersError) throw new ServiceError("INVALID_JSON", error.message);
    throw new ServiceError("INVALID_JSON", text.trim() === "" ? "The body is empty; JSON is expected." : "The body is not JSON.");
  }
}

/** The maximum number of ids per call is a setting, so the contract cannot check it. */
export function requireIdLimit(
  field: string,
  ids: readonly string[] | undefined,
  { maxIdsPerCall }: Pick<ServiceSettings, "maxIdsPerCall">,
): void {
  if (ids && ids.length > maxIdsPerCall)
    throw createInvalidRequestError("INVALID_BODY", [{ field, message: `must contain at most ${maxIdsPerCall} ids` }]);
}

async function readText(request: Request, { maxJsonBytes, requestTimeoutMs }: Limits): Promise<string> {
  const declaredLength = request.headers.get("content-length");
  if (declaredLength !== null && Number(declaredLength) > maxJsonBytes) throw createBodyTooLargeError(maxJsonBytes);
  try {
    // The server limits a body to its declared length.
    return await withDeadline(declaredLength !== null ? request.text() : readAll(request, maxJsonBytes), requestTimeoutMs);
  } catch (error) {
    throw toErrorBody(error) ? error : new ServiceError("TRUNCATED_UPLOAD", "The body ended before it was complete.");
  }
}

async function readAll(request: Request, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw createBodyTooLargeError(maxBytes);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks)); // strips the byte order mark, like request.text()
}

function createBodyTooLargeError(maxBytes: number): ServiceError {
  return new ServiceError("FILE_TOO_LARGE", `The body is larger than ${maxBytes} bytes.`);
}
