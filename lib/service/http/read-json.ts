import { type z } from "zod";
import { maxExactNumbers, parseExactJson, TooManyExactNumbers } from "@/lib/contract/json/parse-json";
import { findUnknownFilter, getParameterForm } from "@/lib/contract/schemas/lenient";
import { yieldInOrder } from "@/lib/shared/async";
import { bodyBounds, findExceededBound, isDeeperThan, LARGE_BODY_LENGTH } from "@/lib/shared/json-depth";
import { ServiceError, toRefusal } from "../service-error";
import { type ServiceSettings } from "../settings";

type QueryLimits = Pick<ServiceSettings, "maxJsonDepth">;

export function readQuery<S extends z.ZodObject>(request: Request, schema: S, { maxJsonDepth }: QueryLimits): z.output<S> {
  const values = new Map<string, string>();
  const search = new URL(request.url).searchParams;
  const unknown = findUnknownFilter(schema, search.keys());
  if (unknown) throw invalidRequest("INVALID_QUERY", [unknown]);
  for (const [name, value] of search) {
    if (!Object.hasOwn(schema.shape, name)) continue;
    // Of a repeated parameter, one value would be lost, or both would count as a list, which is sent as one text with commas.
    if (values.has(name)) throw toQueryError([{ field: name, message: "is given more than once" }]);
    // The maximum nesting is a setting, so the contract cannot check it.
    if (getParameterForm(schema, name)?.kind === "object-text" && isDeeperThan(value, maxJsonDepth))
      throw toQueryError([{ field: name, message: `is nested more than ${maxJsonDepth} levels deep` }]);
    values.set(name, value);
  }
  const parsed = schema.safeParse(Object.fromEntries(values));
  if (parsed.success) return parsed.data;
  throw toQueryError(toIssues(parsed.error).map(({ field, message }) => ({ field: field.split(".")[0] ?? field, message })));
}

const tagFilters = new Set(["include_tags", "exclude_tags"]);

function toQueryError(issues: Issue[]): ServiceError {
  return invalidRequest(issues.every(({ field }) => tagFilters.has(field)) ? "INVALID_TAG_FILTER" : "INVALID_QUERY", issues);
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
  const inner = issue.errors.flat().find((item) => item.code !== "invalid_type") ?? issue.errors.flat()[0];
  return inner ? toMessage(inner) : issue.message;
}

export function invalidRequest(code: "INVALID_QUERY" | "INVALID_TAG_FILTER" | "INVALID_BODY", issues: Issue[]): ServiceError {
  return new ServiceError(code, issues.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; "), issues);
}

async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const clock = startClock(timeoutMs);
  try {
    return await clock.within(work);
  } finally {
    clock.stop();
  }
}

export async function* withIdleTimeout(body: AsyncIterable<Uint8Array>, timeoutMs: number): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const clock = startClock(timeoutMs);
  try {
    for (;;) {
      const step = await clock.within(chunks.next());
      if (step.done) return;
      yield step.value;
    }
  } finally {
    clock.stop();
  }
}

function startClock(timeoutMs: number) {
  // Only reads may time out, because the consumer may be slower than the sender.
  let expire: (() => void) | undefined;
  const timer = setTimeout(() => expire?.(), timeoutMs);
  return {
    within<T>(work: Promise<T>): Promise<T> {
      timer.refresh();
      return new Promise<T>((resolve, reject) => {
        expire = () => reject(timedOut(timeoutMs));
        work.then(resolve, reject);
      }).finally(() => (expire = undefined));
    },
    stop: () => clearTimeout(timer),
  };
}

function timedOut(timeoutMs: number): ServiceError {
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
  const parsed = schema.safeParse(value);
  await yieldIfLarge();
  if (parsed.success) return parsed.data;
  throw invalidRequest("INVALID_BODY", toIssues(parsed.error));
}

export function parseJson(text: string, { maxJsonDepth }: Pick<Limits, "maxJsonDepth">): unknown {
  const exceeded = findExceededBound(text, { depth: maxJsonDepth, ...bodyBounds });
  if (exceeded === "depth") throw new ServiceError("INVALID_JSON", `The JSON is nested more than ${maxJsonDepth} levels deep.`);
  if (exceeded) throw new ServiceError("INVALID_JSON", `The JSON has more than ${bodyBounds[exceeded]} ${exceeded}.`);
  try {
    return parseExactJson(text, { maxNumbers: maxExactNumbers.text });
  } catch (error) {
    if (error instanceof TooManyExactNumbers) throw new ServiceError("INVALID_JSON", error.message);
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
    throw invalidRequest("INVALID_BODY", [{ field, message: `names more than the ${maxIdsPerCall} ids of one call` }]);
}

async function readText(request: Request, { maxJsonBytes, requestTimeoutMs }: Limits): Promise<string> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxJsonBytes) throw bodyTooLarge(maxJsonBytes);
  try {
    // The server limits a body to its declared length.
    return await withDeadline(declared !== null ? request.text() : readAll(request, maxJsonBytes), requestTimeoutMs);
  } catch (error) {
    throw toRefusal(error) ? error : new ServiceError("TRUNCATED_UPLOAD", "The body ended before it was complete.");
  }
}

async function readAll(request: Request, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw bodyTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function bodyTooLarge(maxBytes: number): ServiceError {
  return new ServiceError("FILE_TOO_LARGE", `The body is larger than ${maxBytes} bytes.`);
}
