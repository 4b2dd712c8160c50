// The console's error answer as a value, and what only a browser meets: no network, an abort, a page where an answer should be.
// Guarantees: never throws whatever the body holds; an answer that is not the console's own envelope still gets a code.
// Must never: show a body as a message when it is markup.

import { type Failure, parseFailure } from "@/lib/contract/failure";
import { isObject, parseJson } from "@/lib/contract/json/json";

/** What a browser sees beyond the console's own codes. */
/** Of a request that arrived nowhere: the network, or a console that does not run. */
export const CONSOLE_UNREACHABLE = "CONSOLE_UNREACHABLE";
const ABORTED = "ABORTED";

export type ApiFailure = Failure;

export function readFailure(status: number, retryAfter: string | null, body: string): ApiFailure {
  const headers = { get: (name: string) => (name === "retry-after" ? retryAfter : null) };
  if (isObject(parseJson(body))) return parseFailure({ status, headers }, body);
  // A proxy in front of the console may answer with a page of its own; its words mean nothing here.
  const failure = parseFailure({ status, headers }, "");
  return { ...failure, code: status < 500 ? failure.code : status >= 502 && status <= 504 ? CONSOLE_UNREACHABLE : "INTERNAL", message: "" };
}

/** For what threw before any answer came: the network between this browser and the console, or a page that went away. */
export function failureOfThrown(cause: unknown): ApiFailure {
  const isAborted = cause instanceof DOMException && cause.name === "AbortError";
  return { code: isAborted ? ABORTED : CONSOLE_UNREACHABLE, message: "", status: 0 };
}

export function isFailure(value: unknown): value is ApiFailure {
  return isObject(value) && typeof value.code === "string" && typeof value.message === "string" && typeof value.status === "number";
}
