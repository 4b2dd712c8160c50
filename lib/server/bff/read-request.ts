// Reads what a caller sent, with the contract's schemas and within bounds.
// Guarantees: a 400 names the field; a body beyond the bound is refused before it is held; nothing throws on bad input.

import "server-only";
import { type z } from "zod";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { readBytes } from "../upstream/streams";
import { refusal } from "./guard";

const LONGEST_JSON = 16 * 1024 * 1024;

/** The console's own parameter: which connection is meant. */
export const CONNECTION_PARAMETER = "connection";

export function searchOf(request: Request): URLSearchParams {
  const at = request.url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : request.url.slice(at + 1).split("#")[0]);
}

/** Without a schema, every parameter but the console's own is left out. */
export function readQuery(search: URLSearchParams, schema: z.ZodType | undefined): Result<Record<string, unknown>, Failure> {
  if (!schema) return ok({});
  const raw: Record<string, unknown> = {};
  for (const name of new Set(search.keys())) {
    const values = search.getAll(name);
    if (name !== CONNECTION_PARAMETER) raw[name] = values.length > 1 ? values : values[0];
  }
  const parsed = schema.safeParse(raw);
  if (!parsed.success) return failed(invalid("INVALID_QUERY", parsed.error));
  return ok(isRecord(parsed.data) ? parsed.data : {});
}

export async function readJson<T>(request: Request, schema: z.ZodType<T>): Promise<Result<T, Failure>> {
  const bytes = await readBytes(request.body, LONGEST_JSON);
  if (bytes === undefined) return failed(refusal("FILE_TOO_LARGE", `The body is larger than ${LONGEST_JSON} bytes.`));
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return failed(refusal("INVALID_JSON", "The body is no JSON."));
  }
  const parsed = schema.safeParse(json);
  return parsed.success ? ok(parsed.data) : failed(invalid("INVALID_BODY", parsed.error));
}

function invalid(code: "INVALID_QUERY" | "INVALID_BODY", error: z.ZodError): Failure {
  const issues = error.issues.slice(0, 20).map((issue) => ({ path: issue.path.map(String).join("."), message: issue.message }));
  const first = issues[0];
  return refusal(code, first ? `${first.path || "body"}: ${first.message}` : "The request is not valid.", issues);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
