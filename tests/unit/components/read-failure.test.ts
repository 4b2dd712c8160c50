import { describe, expect, it } from "vitest";
import { readFailure } from "@/lib/browser/read-answer";
import { failureOfThrown } from "@/lib/browser/read-failure";
import { thumbnailUrl, withQuery } from "@/lib/browser/urls";
import { safeReturn } from "@/lib/shared/console-paths";

describe("the console's error answer in a browser", () => {
  it("keeps code, message, request id and the wait that was asked for", () => {
    const body = JSON.stringify({ code: "RATE_LIMITED", message: "Slow down", request_id: "r-9" });
    expect(readFailure(429, "3", body)).toMatchObject({ code: "RATE_LIMITED", message: "Slow down", requestId: "r-9", retryAfterMs: 3000 });
  });

  it("keeps what is wrong with which node", () => {
    const body = JSON.stringify({
      code: "X",
      message: "m",
      node_errors: { 3: { class_type: "LoadImage", errors: [{ type: "t", message: "no file" }] } },
    });
    expect(readFailure(400, null, body).nodeErrors?.["3"]?.errors[0]?.message).toBe("no file");
  });

  it.each([
    [502, "<html>Bad gateway</html>", "CONSOLE_UNREACHABLE"],
    [413, "<h1>Too large</h1>", "FILE_TOO_LARGE"],
    [500, "", "INTERNAL"],
    [401, "nope", "UNAUTHORIZED"],
  ])("of a %i page that is no envelope it takes the meaning and never the markup", (status, body, code) => {
    expect(readFailure(status, null, body)).toMatchObject({ code, message: "" });
  });

  it("tells a stopped request from a network that is gone", () => {
    expect(failureOfThrown(new DOMException("x", "AbortError")).code).toBe("ABORTED");
    expect(failureOfThrown(new TypeError("Failed to fetch")).code).toBe("CONSOLE_UNREACHABLE");
  });
});

describe("addresses", () => {
  it("leave out what is empty and join lists with a comma", () => {
    expect(withQuery("/api/jobs", { status: ["failed", "pending"], workflow_id: undefined, offset: 0 })).toBe(
      "/api/jobs?status=failed%2Cpending&offset=0",
    );
  });

  it("encode whatever a file is called", () => {
    expect(thumbnailUrl({ connection: "c", file: { filename: "a&b=c #1.png" }, edge: 128 })).toBe(
      "/api/console/thumbnail?filename=a%26b%3Dc+%231.png&edge=128&connection=c",
    );
  });
});

describe("where signing in leads", () => {
  it.each([undefined, "", "https://evil.example", "//evil.example", "/\\evil.example", "/sign-in", "/api/jobs", "jobs", "/a\nb"])(
    "%j leads to the jobs",
    (wanted) => {
      expect(safeReturn(wanted)).toBe("/");
    },
  );

  it("keeps a page of this application with its query", () => {
    expect(safeReturn("/jobs?status=failed")).toBe("/jobs?status=failed");
  });
});
