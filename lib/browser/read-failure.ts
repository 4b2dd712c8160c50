// Turns the console's error answer into a value, and failures that only a browser meets: no network, an abort, a page instead of an answer.
// Guarantees: never throws, whatever the body holds; an answer without the console's own envelope still gets a code.
// Must never: show a body that is markup as a message.

import { type Failure, parseFailure } from "@/lib/contract/failure";
import { isObject, parseJson } from "@/lib/contract/json/json";

/** Codes for failures that only a browser sees. */
/** The request reached no one: no network, or the console is not running. */
export const CONSOLE_UNREACHABLE = "CONSOLE_UNREACHABLE";
const ABORTED = "ABORTED";

export type ApiFailure = Failure;

export function readFailure(status: number, retryAfter: string | null, body: string): ApiFailure {
  const headers = { get: (name: string) => (name === "retry-after" ? retryAfter : null) };
  if (isObject(parseJson(body))) return parseFailure({ status, headers }, body);
  // A proxy in front of the console may answer with a page of its own, whose words mean nothing here.
  const failure = parseFailure({ status, headers }, "");
  return { ...failure, code: status < 500 ? failure.code : status >= 502 && status <= 504 ? CONSOLE_UNREACHABLE : "INTERNAL", message: "" };
}

/** For errors thrown before any answer came: the network between this browser and the console, or a page that was left. */
export function failureOfThrown(cause: unknown): ApiFailure {
  const isAborted = cause instanceof DOMException && cause.name === "AbortError";
  return { code: isAborted ? ABORTED : CONSOLE_UNREACHABLE, message: "", status: 0 };
}

export function isFailure(value: unknown): value is ApiFailure {
  return isObject(value) && typeof value.code === "string" && typeof value.message === "string" && typeof value.status === "number";
}
