// The few forms an answer takes. Nothing of an answer may be cached unless it says so itself.

import { writeExactJson } from "@/lib/contract/exact-json";

const PLAIN_HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

export function json(value: unknown, status = 200): Response {
  return jsonText(writeExactJson(value), status);
}

/** For what is JSON already. */
export function jsonText(value: string, status = 200): Response {
  return new Response(value, { status, headers: { ...PLAIN_HEADERS, "content-type": "application/json; charset=utf-8" } });
}

export function text(value: string, status: number): Response {
  return new Response(value, { status, headers: { ...PLAIN_HEADERS, "content-type": "text/plain; charset=utf-8" } });
}

export function empty(status: number): Response {
  return new Response(null, { status, headers: PLAIN_HEADERS });
}
