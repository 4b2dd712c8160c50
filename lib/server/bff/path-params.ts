// The values of a route's folders, as the operation's path names them: [jobId] is {job_id}.
// Guarantees: no value can climb out of its place in the upstream's path; "." and ".." do even when encoded.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { failed, ok, type Result } from "@/lib/shared/result";
import { refusal } from "./guard";

const LONGEST = 1000;

export function readPathParams(
  operation: Operation,
  params: Readonly<Record<string, string | string[] | undefined>>,
): Result<Record<string, string>, Failure> {
  const values: Record<string, string> = {};
  for (const [, name = ""] of operation.path.matchAll(/\{(\w+)\}/g)) {
    const given = params[name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];
    const value = typeof given === "string" ? decoded(given) : undefined;
    if (value === undefined || !isSafe(value)) return failed(refusal("NOT_FOUND", "There is nothing at this address."));
    values[name] = value;
  }
  return ok(values);
}

function isSafe(value: string): boolean {
  // Control characters have no place in an id, and a NUL ends a path in some file systems.
  return value !== "" && value !== "." && value !== ".." && value.length <= LONGEST && !/[\u0000-\u001f\u007f/\\]/.test(value);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
