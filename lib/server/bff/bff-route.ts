// Routes of the interface.

import "server-only";
import { type Failure, lacksOperation, refusal } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { failed, ok, type Result } from "@/lib/shared/result";
import { findConnection } from "../connections/access";
import { type Asked } from "../context";
import { runOperation } from "../operations/run-operation";
import { connectionIn } from "../requests/read-request";
import { jsonAnswer } from "../requests/responses";
import { guarded, type Handler } from "./guard";

// The values of a route's folders under the names in the operation's path: [jobId] is {job_id}.
// Guarantees: no value can leave its place in the upstream's path; "." and ".." would do so even when encoded.
const LONGEST = 1000;

function readPathParams(
  operation: Operation,
  params: Readonly<Record<string, string | string[] | undefined>>,
): Result<Record<string, string>, Failure> {
  const values: [string, string][] = [];
  for (const [, name = ""] of operation.path.matchAll(/\{(\w+)\}/g)) {
    const given = params[name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];
    const value = typeof given === "string" ? decoded(given) : undefined;
    if (value === undefined || !isSafe(value)) return failed(refusal("NOT_FOUND", "There is nothing at this address."));
    values.push([name, value]);
  }
  return ok(Object.fromEntries(values));
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

type Values = Record<string, string>;
type Options = { readParams?: (asked: Asked) => Result<Values, Failure> };

export function bffRoute(operation: Operation, options: Options = {}): Handler {
  const guard = { action: operation.name, role: operation.role, connection: true };
  return guarded(guard, (asked) => runOperation(operation, asked, options.readParams?.(asked) ?? readPathParams(operation, asked.params)));
}

export function optionalRoute(operation: Operation): Handler {
  return guarded({ action: operation.name, role: operation.role, connection: true }, async (asked) => {
    const lookup = await findConnection(asked, connectionIn(asked.request));
    if (!lookup.ok) return lookup;
    const result = await runOperation(operation, asked, ok({}));
    return !result.ok && lacksOperation(result.failure) ? ok(jsonAnswer(null)) : result;
  });
}
