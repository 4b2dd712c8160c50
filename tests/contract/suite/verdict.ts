// Decides whether an operation conforms, differs, is absent or couldn't be tested. Uses the contract's own lenient schemas, so
// differences that docs/interface.md allows are accepted.
import { parseFailure } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type CallerResponse } from "./caller";

export class DifferenceError extends Error {}
export class AbsentError extends Error {}
export class NotTriedError extends Error {}

/** Some services respond to these with an empty body. */
const emptyBodyOperations = new Set<string>([operations.manageQueue.name, operations.manageHistory.name]);
/** Statuses that depend on the account or the service's load, not on the API. */
const TEMPORARY_STATUSES = new Set([402, 403, 429, 503]);

/** Returns the parsed body, or undefined for a response that isn't JSON. */
export function parseResponse(operation: Operation, response: CallerResponse): unknown {
  const expected = operation.responses[response.status];
  if (!expected) throw toError(operation, response);
  if (expected.kind === "redirect" && !response.headers.get("location")) throw new DifferenceError(`${response.status} without a Location`);
  if (expected.kind !== "json") return undefined;
  const body = response.text.trim() === "" && emptyBodyOperations.has(operation.name) ? {} : response.body;
  const parsed = expected.schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DifferenceError(
    `${response.status} whose body differs at ${issue?.path.join(".") || "the top level"}: ${issue?.message ?? "it is not JSON"}`,
  );
}

export function assertThat(condition: boolean, message: string): void {
  if (!condition) throw new DifferenceError(message);
}

/** Requires a refusal with one of these statuses. */
export function assertRefusal(response: CallerResponse, statuses: readonly number[], subject: string): void {
  assertThat(statuses.includes(response.status), `${subject} returned ${response.status}, not ${statuses.join(" or ")}`);
}

function toError({ method }: Operation, response: CallerResponse): Error {
  const { status } = response;
  const reason = method === "HEAD" ? "" : `: ${parseFailure(response, response.text).message}`;
  if ([404, 405, 501].includes(status)) return new AbsentError(`answered ${status}`);
  if (TEMPORARY_STATUSES.has(status)) return new NotTriedError(`answered ${status}${reason}`);
  return new DifferenceError(`answered ${status}${reason}`);
}
