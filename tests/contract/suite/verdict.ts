// The verdict on a response: the operation conforms, differs, is absent, or couldn't be tried.
// Where docs/interface.md allows services to differ, that is no difference: the contract's own lenient schemas judge.
import { parseFailure } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type CallerResponse } from "./caller";

export class Differs extends Error {}
export class Absent extends Error {}
export class NotTried extends Error {}

/** Some services respond to these with an empty body. */
const mayBeEmpty = new Set<string>([operations.manageQueue.name, operations.manageHistory.name]);
/** These statuses are about the account or the moment, not about the API. */
const ofTheMoment = new Set([402, 403, 429, 503]);

/** The parsed body; undefined for a response that isn't JSON. */
export function read(operation: Operation, response: CallerResponse): unknown {
  const expected = operation.answers[response.status];
  if (!expected) throw refused(operation, response);
  if (expected.kind === "redirect" && !response.headers.get("location")) throw new Differs(`${response.status} without a Location`);
  if (expected.kind !== "json") return undefined;
  const body = response.text.trim() === "" && mayBeEmpty.has(operation.name) ? {} : response.body;
  const parsed = expected.schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Differs(`${response.status} whose body differs at ${issue?.path.join(".") || "its top"}: ${issue?.message ?? "it is no JSON"}`);
}

export function demand(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Differs(otherwise);
}

/** Requires a refusal with one of these statuses. */
export function demandRefusal(response: CallerResponse, statuses: readonly number[], of: string): void {
  demand(statuses.includes(response.status), `${of} answered ${response.status}, not ${statuses.join(" or ")}`);
}

function refused({ method }: Operation, response: CallerResponse): Error {
  const { status } = response;
  const reason = method === "HEAD" ? "" : `: ${parseFailure(response, response.text).message}`;
  if ([404, 405, 501].includes(status)) return new Absent(`answered ${status}`);
  if (ofTheMoment.has(status)) return new NotTried(`answered ${status}${reason}`);
  return new Differs(`answered ${status}${reason}`);
}
