// Parses responses of the console's API. HTML is never shown as a message.

import { parseFailure } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";
import { parseExactJson, parseJson } from "@/lib/contract/json/parse-json";
import { recordSkipped } from "@/lib/contract/json/readers";
import { UNREADABLE_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type ApiFailure, CONSOLE_UNREACHABLE } from "./api-failure";

export function parseResponse<T>(response: Response, body: string): Result<T, ApiFailure> {
  if (!response.ok) return failed(parseFailureResponse(response.status, response.headers.get("retry-after"), body));
  try {
    const value: T = parseExactJson(body, { emptyValue: undefined });
    if (typeof value === "object" && value !== null) recordSkipped(value, Number(response.headers.get(UNREADABLE_HEADER)));
    return ok(value);
  } catch {
    // A sign-in or proxy page with status 200, not a response of the console.
    return failed(parseFailureResponse(response.redirected ? 401 : 502, null, ""));
  }
}

export function parseFailureResponse(status: number, retryAfter: string | null, body: string): ApiFailure {
  const headers = { get: (name: string) => (name === "retry-after" ? retryAfter : null) };
  if (isObject(parseJson(body))) return parseFailure({ status, headers }, body);
  // A proxy in front of the console may respond with its own page, which is ignored.
  const failure = parseFailure({ status, headers }, "");
  return { ...failure, code: status < 500 ? failure.code : status >= 502 && status <= 504 ? CONSOLE_UNREACHABLE : "INTERNAL", message: "" };
}
