// The verdict from an answer: the operation conforms, it differs, it is absent, or it could not be tried.
// Where docs/interface.md allows services to differ, that is no difference: the contract's own lenient schemas judge.
import { parseFailure } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type Answered } from "./caller";

export class Differs extends Error {}
export class Absent extends Error {}
export class NotTried extends Error {}

/** Some services answer these with an empty body. */
const mayBeEmpty = new Set<string>([operations.manageQueue.name, operations.manageHistory.name]);
/** These statuses say something about the account or the moment, not about the interface. */
const ofTheMoment = new Set([402, 403, 429, 503]);

/** The body, if the contract can read the answer; undefined for an answer that is not JSON. */
export function read(operation: Operation, answer: Answered): unknown {
  const expected = operation.answers[answer.status];
  if (!expected) throw refused(operation, answer);
  if (expected.kind === "redirect" && !answer.headers.get("location")) throw new Differs(`${answer.status} without a Location`);
  if (expected.kind !== "json") return undefined;
  const body = answer.text.trim() === "" && mayBeEmpty.has(operation.name) ? {} : answer.body;
  const parsed = expected.schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Differs(`${answer.status} whose body differs at ${issue?.path.join(".") || "its top"}: ${issue?.message ?? "it is no JSON"}`);
}

export function demand(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Differs(otherwise);
}

/** Requires a refusal with one of these statuses. */
export function demandRefusal(answer: Answered, statuses: readonly number[], of: string): void {
  demand(statuses.includes(answer.status), `${of} answered ${answer.status}, not ${statuses.join(" or ")}`);
}

function refused({ method }: Operation, answer: Answered): Error {
  const { status } = answer;
  const reason = method === "HEAD" ? "" : `: ${parseFailure(answer, answer.text).message}`;
  if ([404, 405, 501].includes(status)) return new Absent(`answered ${status}`);
  if (ofTheMoment.has(status)) return new NotTried(`answered ${status}${reason}`);
  return new Differs(`answered ${status}${reason}`);
}
