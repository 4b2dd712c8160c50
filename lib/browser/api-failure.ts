import { type Failure } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";

/** The console is unreachable: no network, or it is not running. */
export const CONSOLE_UNREACHABLE = "CONSOLE_UNREACHABLE";
const ABORTED = "ABORTED";

export type ApiFailure = Failure;

export function toFailure(cause: unknown): ApiFailure {
  const isAborted = cause instanceof DOMException && cause.name === "AbortError";
  return { code: isAborted ? ABORTED : CONSOLE_UNREACHABLE, message: "", status: 0 };
}

export function isFailure(value: unknown): value is ApiFailure {
  return isObject(value) && typeof value.code === "string" && typeof value.message === "string" && typeof value.status === "number";
}
