import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPlainRateLimit, parseFailure, parseLateValidation } from "@/lib/contract/failure";

const createHeaders = (values: Record<string, string>) => ({ get: (name: string) => values[name.toLowerCase()] ?? null });
const missingImages = {
  "9": {
    class_type: "SaveImage",
    dependent_outputs: ["9"],
    errors: [
      { type: "required_input_missing", message: "Required input is missing", details: "images", extra_info: { input_name: "images" } },
    ],
  },
};

const promptError = { type: "prompt_outputs_failed_validation", message: "Prompt outputs failed validation", details: "", extra_info: {} };

describe("parsing errors in each service's format", () => {
  it.each<[string, unknown, object]>([
    ["A: code and message", { code: "NOT_FOUND", message: "Job not found" }, { code: "NOT_FOUND", message: "Job not found" }],
    [
      "A with details and a request id",
      { code: "INVALID_QUERY", message: "limit", details: { field: "limit" }, request_id: "r-1" },
      { code: "INVALID_QUERY", message: "limit", details: { field: "limit" }, requestId: "r-1" },
    ],
    [
      "B: a typed error with node errors",
      { error: promptError, node_errors: missingImages },
      { code: promptError.type, message: promptError.message, nodeErrors: missingImages, promptError },
    ],
    [
      "B without node errors",
      { error: { ...promptError, details: "No prompt provided" }, node_errors: {} },
      {
        code: promptError.type,
        message: promptError.message,
        details: "No prompt provided",
        promptError: { ...promptError, details: "No prompt provided" },
      },
    ],
    [
      "C and I: code, message and details in error",
      { error: { code: "ASSET_NOT_FOUND", message: "Asset x not found", details: { id: "x" } } },
      { code: "ASSET_NOT_FOUND", message: "Asset x not found", details: { id: "x" } },
    ],
    [
      "D: an error text with the invalid ids",
      { error: "Invalid status value(s): x", invalid_ids: ["a"] },
      { code: "BAD_REQUEST", message: "Invalid status value(s): x", details: ["a"] },
    ],
    ["E: a JSON string", "Directory not provided", { code: "BAD_REQUEST", message: "Directory not provided" }],
    [
      "G: an unsupported credential type",
      { error: { message: "Use a key", type: "auth_type_not_allowed" }, accepted: ["api_key"] },
      { code: "auth_type_not_allowed", message: "Use a key", details: ["api_key"] },
    ],
    ["a framework's detail", { detail: "tags must not be empty" }, { code: "BAD_REQUEST", message: "tags must not be empty" }],
  ])("reads format %s", (_, body, expected) => {
    expect(parseFailure({ status: 400 }, JSON.stringify(body))).toEqual({ ...expected, status: 400 });
  });

  it("reads format E: plain text", () => {
    expect(parseFailure({ status: 409 }, "File already exists\n")).toEqual({
      code: "CONFLICT",
      message: "File already exists",
      status: 409,
    });
  });

  it.each([
    ["", 404],
    ["   ", 503],
    ["null", 500],
    ["[]", 400],
    ["{}", 403],
  ])("describes format F: an empty body (%j) by its status", (body, status) => {
    const failure = parseFailure({ status }, body);
    expect(failure.status).toBe(status);
    expect(failure.code).toMatch(/^[A-Z_]+$/);
    expect(failure.message).toContain(String(status));
  });

  it.each([
    "<!doctype html><html><body>502 Bad Gateway</body></html>",
    "\n<html>",
    JSON.stringify({ message: "<html><body>Sign in</body></html>" }),
    JSON.stringify("<p>hello</p>"),
    "upstream said: <body>secret</body>",
  ])("never uses format H, markup, as a message (%j)", (body) => {
    const failure = parseFailure({ status: 502 }, body);
    expect(failure.message).not.toContain("<");
    expect(failure.code).toBe("UPSTREAM_ERROR");
  });

  it("handles a missing response", () => {
    expect(parseFailure({ status: 0 }, "")).toMatchObject({ code: "UPSTREAM_UNREACHABLE", status: 0 });
  });
});

describe("parsing any failure", () => {
  it("returns a short plain message for any body", () => {
    const body = fc.oneof(
      fc.string({ maxLength: 2000 }),
      fc.json(),
      fc.object().map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(body, fc.integer({ min: 0, max: 700 }), fc.option(fc.string()), (text, status, retryAfter) => {
        const failure = parseFailure({ status, headers: { get: () => retryAfter } }, text, 0);
        expect(failure.code).not.toBe("");
        expect(failure.message.trim()).not.toBe("");
        expect(failure.message.length).toBeLessThanOrEqual(500);
        expect(failure.message.startsWith("<")).toBe(false);
        expect(failure.retryAfterMs ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it("shortens a long message and drops a long non-JSON body", () => {
    const longText = "x".repeat(5000);
    expect(parseFailure({ status: 500 }, JSON.stringify({ code: "E", message: longText })).message).toHaveLength(500);
    expect(parseFailure({ status: 500 }, longText).message).toBe("The service responded with status 500 and no message.");
  });

  it("reads node errors of every type with empty defaults", () => {
    const body = {
      error: { type: "t", message: "m" },
      node_errors: { "3": { errors: [{ type: "value_not_in_list" }, { type: "unknown_error_type" }, null, "text"] }, "4": null },
    };
    const entry = parseFailure({ status: 400 }, JSON.stringify(body)).nodeErrors?.["3"];
    expect(entry?.errors).toEqual(
      ["value_not_in_list", "unknown_error_type"].map((type) => ({ type, message: "", details: "", extra_info: {} })),
    );
    expect(entry?.dependent_outputs).toEqual([]);
  });
});

describe("Retry-After", () => {
  const parseRetryAfterMs = (value: string, now = 0) =>
    parseFailure({ status: 429, headers: createHeaders({ "retry-after": value }) }, "", now).retryAfterMs;

  it("reads seconds and dates", () => {
    expect(parseRetryAfterMs("12")).toBe(12_000);
    expect(parseRetryAfterMs("Thu, 01 Jan 2026 00:00:30 GMT", Date.parse("2026-01-01T00:00:00Z"))).toBe(30_000);
  });

  it("returns 0 for a date in the past", () => {
    expect(parseRetryAfterMs("Thu, 01 Jan 1970 00:00:00 GMT", 5000)).toBe(0);
  });

  it.each(["", " ", "soon", "-5", "1e3", "0x10", "Infinity", "NaN"])("ignores an invalid value (%j)", (value) => {
    expect(parseRetryAfterMs(value)).toBeUndefined();
  });
});

describe("detecting a plain rate limit", () => {
  const parseBody = (body: object) => parseFailure({ status: 429 }, JSON.stringify(body));

  it("accepts a 429 that mentions no plan, payment or queue", () => {
    expect(isPlainRateLimit(parseBody({ code: "RATE_LIMITED", message: "Rate limit exceeded. Please try again later." }))).toBe(true);
    expect(isPlainRateLimit(parseBody({ error: { code: "rate_limited", message: "Slow down" } }))).toBe(true);
    expect(isPlainRateLimit(parseFailure({ status: 429 }, ""))).toBe(true);
  });

  it.each([
    { error: { type: "FREE_TIER_UNAVAILABLE", message: "No" } },
    { error: { type: "BILLING_UNAVAILABLE", message: "Later" } },
    { error: { type: "PLATFORM_REFUSED", message: "No" } },
    { error: { code: "queue_full", message: "No" } },
    { code: "CLOUD_SUBSCRIPTION_REQUIRED", message: "No" },
    { message: "User has not paid" },
    { message: "Subscription inactive" },
  ])("rejects a 429 about a plan, payment or queue: %j", (body) => {
    expect(isPlainRateLimit(parseBody(body))).toBe(false);
  });

  it("ignores other statuses", () => {
    expect(isPlainRateLimit(parseFailure({ status: 503 }, ""))).toBe(false);
  });
});

describe("parsing a late validation error", () => {
  it("reads the JSON between the first and last brace of the text", () => {
    const body = { error: promptError, node_errors: missingImages };
    expect(parseLateValidation(`Dispatch failed with 400: ${JSON.stringify(body)} (attempt 1)`)).toMatchObject({
      code: "prompt_outputs_failed_validation",
      nodeErrors: missingImages,
      status: 400,
    });
  });

  it("reads an error text, or node errors without an error", () => {
    expect(parseLateValidation('400: {"error":"no outputs"}')?.message).toBe("no outputs");
    const nodeErrorsOnly = parseLateValidation(`x ${JSON.stringify({ node_errors: missingImages })}`);
    expect(nodeErrorsOnly).toMatchObject({ nodeErrors: missingImages, message: "Required input is missing: images" });
  });

  it.each(["", "out of memory", "{", "}{", "dict {'error': 1}", '{"a":1}', '{"error":null}', "[1]", '{"error":{}', '{"node_errors":{}}'])(
    "returns undefined for %j",
    (text) => {
      expect(parseLateValidation(text)).toBeUndefined();
    },
  );

  it("never throws for any text", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseLateValidation(text)));
  });
});
