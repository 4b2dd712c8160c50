import { describe, expect, it } from "vitest";
import { getCurrentStatus } from "@/components/frame/counts-context";
import { toAgo, toDuration } from "@/components/ui/time";
import { toFailure } from "@/lib/browser/api-failure";
import { parseFailureResponse } from "@/lib/browser/parse-response";
import { toSafeReturnPath } from "@/lib/shared/console-paths";

describe("readFailure", () => {
  it("keeps the fields of a JSON failure and the requested wait", () => {
    const node_errors = { 3: { class_type: "LoadImage", errors: [{ type: "t", message: "no file" }] } };
    const body = JSON.stringify({ code: "RATE_LIMITED", message: "Slow down", request_id: "r-9", node_errors });
    expect(parseFailureResponse(429, "3", body)).toMatchObject({
      ...{ code: "RATE_LIMITED", message: "Slow down", requestId: "r-9", retryAfterMs: 3000 },
      nodeErrors: { 3: { errors: [{ message: "no file" }] } },
    });
  });

  it.each([
    [502, "<html>Bad gateway</html>", "CONSOLE_UNREACHABLE"],
    [413, "<h1>Too large</h1>", "FILE_TOO_LARGE"],
    [500, "", "INTERNAL"],
    [401, "nope", "UNAUTHORIZED"],
  ])("derives the code from the status when a %i response is not JSON", (status, body, code) => {
    expect(parseFailureResponse(status, null, body)).toMatchObject({ code, message: "" });
  });

  it("distinguishes an aborted request from a lost network", () => {
    expect(toFailure(new DOMException("x", "AbortError")).code).toBe("ABORTED");
    expect(toFailure(new TypeError("Failed to fetch")).code).toBe("CONSOLE_UNREACHABLE");
  });
});

describe("redirects after sign-in", () => {
  it.each([undefined, "", "https://evil.example", "//evil.example", "/\\evil.example", "/sign-in", "/api/jobs", "jobs", "/a\nb"])(
    "redirects %j to the overview",
    (callbackUrl) => {
      expect(toSafeReturnPath(callbackUrl)).toBe("/");
    },
  );

  it("keeps a page of this application with its query", () => {
    expect(toSafeReturnPath("/jobs?status=failed")).toBe("/jobs?status=failed");
  });
});

describe("connection status", () => {
  it.each([
    ["active", undefined, "active"],
    ["unreachable", "answer", "active"],
    ["waitlisted", "answer", "waitlisted"],
    ["active", "UPSTREAM_UNREACHABLE", "unreachable"],
    ["waitlisted", "UPSTREAM_UNREADABLE", "strange"],
    ["active", "CONSOLE_UNREACHABLE", "unknown"],
    ["refused", "API_KEY_MISSING", "refused"],
  ] as const)("combines the status %s and the last response %s to %s", (checkedStatus, lastResponse, expected) => {
    expect(getCurrentStatus(checkedStatus, lastResponse)).toBe(expected);
  });
});

describe("durations", () => {
  it.each([
    [59_949, { unit: "seconds", seconds: "59.9" }],
    [59_950, { unit: "minutes", minutes: "1", seconds: "00" }],
    [67_000, { unit: "minutes", minutes: "1", seconds: "07" }],
    [3_599_999, { unit: "hours", hours: "1", minutes: "00" }],
    [7_500_000, { unit: "hours", hours: "2", minutes: "05" }],
    [52 * 3_600_000, { unit: "days", days: "2", hours: "04" }],
    [324.6 * 86_400_000, { unit: "manyDays", days: "324" }],
    [-5, { unit: "seconds", seconds: "0.0" }],
  ])("formats %d ms as %j", (ms, parts) => {
    expect(toDuration(ms)).toEqual(parts);
  });

  it.each([
    [59_999, { unit: "seconds", seconds: "59" }],
    [60_000, { unit: "minutes", minutes: "1", seconds: "00" }],
  ])("formats %d ms of a running job in whole seconds as %j", (ms, parts) => {
    expect(toDuration(ms, true)).toEqual(parts);
  });
});

describe("relative times", () => {
  it.each([
    [9_999, { unit: "now" }],
    [-60_000, { unit: "now" }],
    [48_000, { unit: "seconds", count: 40 }],
    [60_000, { unit: "minutes", count: 1 }],
    [7_300_000, { unit: "hours", count: 2 }],
    [3 * 86_400_000, { unit: "days", count: 3 }],
  ])("formats %d ms ago as %j", (ms, ago) => {
    expect(toAgo(1_700_000_000_000 - ms, 1_700_000_000_000)).toEqual(ago);
  });
});
