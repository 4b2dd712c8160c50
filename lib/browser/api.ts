// The only way from a browser to the console's own API: same origin, a value or a failure, never an exception.
// Guarantees: anything that goes wrong (no network, a page instead of an answer, an abort) comes back as a Failure.
// Must never: add a secret, or follow a redirect to another origin.

import { parseExactJson, writeExactJson } from "@/lib/contract/json/exact-json";
import { noteSkipped } from "@/lib/contract/json/readers";
import { READ_ONLY_HEADER, UNREADABLE_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { announceAnswer } from "./answers";
import { confirmIdentity } from "./confirm";
import { type ApiFailure, failureOfThrown, readFailure } from "./read-failure";
import { apiPath } from "./urls";

export type CallInit = Omit<RequestInit, "body"> & { body?: BodyInit | null; json?: unknown };

/**
 * The console parsed the answer against the contract, so the caller may name its type. An empty answer is `undefined`. If the person must
 * first confirm who they are, nothing has happened yet, and the same call is sent once more afterwards.
 */
export async function callApi<T>(path: `/${string}`, init: CallInit = {}): Promise<Result<T, ApiFailure>> {
  const result = await callOnce<T>(path, init);
  if (result.ok || result.failure.code !== "SIGN_IN_AGAIN" || init.body instanceof ReadableStream) return result;
  return (await confirmIdentity()) ? callOnce<T>(path, init) : result;
}

async function callOnce<T>(path: `/${string}`, init: CallInit): Promise<Result<T, ApiFailure>> {
  const { json, headers, ...rest } = init;
  const sent = new Headers(headers);
  sent.set("accept", "application/json");
  if (json !== undefined) sent.set("content-type", "application/json");
  try {
    const response = await fetch(apiPath(path), {
      credentials: "same-origin",
      ...rest,
      headers: sent,
      ...(json !== undefined && { body: writeExactJson(json) }),
    });
    const body = await response.text();
    const { status } = response;
    const readOnlyMark = response.headers.get(READ_ONLY_HEADER);
    const result = response.ok ? readValue<T>(response, body) : failed(readFailure(status, response.headers.get("retry-after"), body));
    announceAnswer({
      path,
      method: rest.method ?? "GET",
      status,
      ...(result.ok && { value: result.value }),
      ...(readOnlyMark !== null && { isReadOnly: readOnlyMark === "1" }),
    });
    return result;
  } catch (cause) {
    return failed(failureOfThrown(cause));
  }
}

function readValue<T>(response: Response, body: string): Result<T, ApiFailure> {
  try {
    const value: T = parseExactJson(body, { means: undefined });
    if (typeof value === "object" && value !== null) noteSkipped(value, Number(response.headers.get(UNREADABLE_HEADER)));
    return ok(value);
  } catch {
    // A sign-in page or a proxy's greeting with status 200, not an answer of ours.
    return failed(readFailure(response.redirected ? 401 : 502, null, ""));
  }
}
