// Reads a request's query and body with the contract's schemas, within limits of size and time.

import "server-only";
import { type z } from "zod";
import { CONNECTION_PARAMETER, RAW_PARAMETER } from "@/lib/contract/console";
import { type Failure, refusal } from "@/lib/contract/failure";
import { maxExactNumbers, parseExactJson, TooManyExactNumbers } from "@/lib/contract/json/parse-json";
import { type Operation } from "@/lib/contract/operation";
import { unknownFilter } from "@/lib/contract/schemas/lenient";
import { withTimeout, yieldInOrder } from "@/lib/shared/async";
import { bodyBounds, exceededBound, LARGE_BODY } from "@/lib/shared/json-depth";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type RouteContext } from "../context";
import { callerWentAway } from "../upstream/failures";
import { readBytes } from "../upstream/streams";

const MAX_JSON = 16 * 1024 * 1024;
/** People who are not signed in send only a name, an address, a password or a token. */
export const MAX_VISITOR_BODY_BYTES = 64 * 1024;
const MAX_JSON_DEPTH = 100;

export function idOf({ params }: Pick<RouteContext, "params">): string {
  return typeof params.id === "string" ? params.id : "";
}

export function searchOf(request: Request): URLSearchParams {
  const at = request.url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : request.url.slice(at + 1).split("#")[0]);
}

const consoleParameters = [CONNECTION_PARAMETER, RAW_PARAMETER];

export function connectionIn(request: Request): string | undefined {
  return searchOf(request).get(CONNECTION_PARAMETER) ?? undefined;
}

/** Without a schema, all parameters are left out. The console's own parameters are always left out. */
export function readQuery<S extends z.ZodObject>(search: URLSearchParams, schema: S): Result<z.output<S>, Failure>;
export function readQuery(search: URLSearchParams, schema: z.ZodObject | undefined): Result<Record<string, unknown>, Failure>;
export function readQuery(search: URLSearchParams, schema: z.ZodObject | undefined): Result<Record<string, unknown>, Failure> {
  if (!schema) return ok({});
  const raw = [...new Set(search.keys())].flatMap((name) => {
    const values = search.getAll(name);
    return consoleParameters.includes(name) ? [] : [[name, values.length > 1 ? values : values[0]]];
  });
  const parsed = schema.safeParse(Object.fromEntries(raw));
  if (!parsed.success) {
    // The sender sees a list in a query as one text: a position inside it would mean nothing.
    return failed(
      invalid(
        "INVALID_QUERY",
        parsed.error.issues.map(({ path, message }) => ({ path: path.slice(0, 1), message })),
      ),
    );
  }
  return ok(parsed.data);
}

export function readOperationQuery(search: URLSearchParams, { query }: Operation): ReturnType<typeof readQuery> {
  const names = [...search.keys()].filter((name) => !consoleParameters.includes(name));
  const unknown = query && unknownFilter(query, names);
  return unknown ? failed(invalid("INVALID_QUERY", [{ path: [unknown.field], message: unknown.message }])) : readQuery(search, query);
}

type Sender = Pick<RouteContext, "composition" | "request">;

/** The bytes as received, for bodies that are both sent on and read. */
export async function readWhole({ composition, request }: Sender, maxBytes = MAX_JSON): Promise<Result<Uint8Array<ArrayBuffer>, Failure>> {
  const { requestTimeoutMs } = composition.env.service;
  // A body ends early only if the sender disconnected.
  const reading = readBytes(request.body, maxBytes).catch(() => "client-gone" as const);
  const bytes = await withTimeout(reading, requestTimeoutMs, () => "late" as const);
  if (bytes === "client-gone") return failed(callerWentAway());
  if (bytes === "late") return failed(refusal("REQUEST_TIMEOUT", `The body was not complete after ${requestTimeoutMs / 1000} s.`));
  return bytes ? ok(new Uint8Array(bytes)) : failed(refusal("FILE_TOO_LARGE", `The body is larger than ${maxBytes} bytes.`));
}

export async function readJson<T>(sender: Sender, schema: z.ZodType<T>, maxBytes?: number): Promise<Result<T, Failure>> {
  const bytes = await readWhole(sender, maxBytes);
  if (!bytes.ok) return bytes;
  let json: unknown;
  // Large bodies are handled one per turn, so that other requests run in between.
  const rest = () => (bytes.value.byteLength > LARGE_BODY ? yieldInOrder() : undefined);
  await rest();
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.value);
    // The service's own limit: beyond it the service would refuse, or the stack would overflow.
    const beyond = exceededBound(text, { depth: MAX_JSON_DEPTH, ...bodyBounds });
    if (beyond === "depth") return failed(refusal("INVALID_JSON", `The JSON is nested more than ${MAX_JSON_DEPTH} levels deep.`));
    if (beyond) return failed(refusal("INVALID_JSON", `The JSON has more than ${bodyBounds[beyond]} ${beyond}.`));
    // As the service reads it: some operations take no body at all.
    json =
      text.trim() === "" && schema.safeParse(undefined).success ? undefined : parseExactJson(text, { maxNumbers: maxExactNumbers.text });
  } catch (error) {
    if (error instanceof TooManyExactNumbers) return failed(refusal("INVALID_JSON", error.message));
    return failed(refusal("INVALID_JSON", "The body is not JSON."));
  }
  await rest();
  const parsed = schema.safeParse(json);
  await rest();
  return parsed.success ? ok(parsed.data) : failed(invalid("INVALID_BODY", parsed.error.issues));
}

type Issue = { path: readonly PropertyKey[]; message: string };

function invalid(code: "INVALID_QUERY" | "INVALID_BODY", problems: readonly Issue[]): Failure {
  const issues = problems.slice(0, 20).map((issue) => ({ path: issue.path.map(String).join("."), message: issue.message }));
  const first = issues[0];
  return refusal(code, first ? `${first.path || "body"}: ${first.message}` : "The request is not valid.", issues);
}
