import { cleanup, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { FailureMessage, faultOwners, toFaultCode } from "@/components/frame/failure/failure-message";
import { Part } from "@/components/overview/part";
import { errorStatus } from "@/lib/contract/failure";
import errors from "@/lib/messages/en/errors.json";
import { renderInApp } from "./render";

const sentences: Readonly<Record<string, unknown>> = errors;
const codes = [...Object.keys(errorStatus), "CONSOLE_UNREACHABLE", "ABORTED", "FILE_UNREADABLE", "QUEUE_FULL", "UNKNOWN"];

describe("a failure message", () => {
  it.each(codes)("explains %s with a remedy and its owner", (code) => {
    expect(sentences[code]).toEqual({ title: expect.stringMatching(/\S/), next: expect.stringMatching(/[.]$/) });
    expect(errors.owner).toHaveProperty(faultOwners[toFaultCode({ code })]);
  });

  it("has no message for a code that is never sent", () => {
    const allowedKeys = new Set([...codes, "owner", "at", "reason", "wait", "signIn", "openSettings"]);
    expect(Object.keys(errors).filter((key) => !allowedKeys.has(key))).toEqual([]);
  });

  it("shows the other side's message, marked as its own words", () => {
    renderInApp(<FailureMessage failure={{ code: "UPSTREAM_ERROR", message: "disk on fire", requestId: "r-1" }} />);
    const alert = screen.getByRole("alert");
    expect(alert.textContent).toContain("The service failed");
    expect(alert.textContent).toContain("Reason: disk on fire");
    expect(alert.textContent).toContain("r-1");
  });

  it("offers a download for a response too large to show", () => {
    const details = { download: "/api/jobs/job-1?raw=true&connection=c" };
    renderInApp(<FailureMessage failure={{ code: "UPSTREAM_TOO_LARGE", message: "too large", details }} />);
    const link = screen.getByRole("link", { name: "Download response" });
    expect(link.getAttribute("href")).toBe(details.download);
    expect(link.hasAttribute("download")).toBe(true);
    cleanup();
    for (const details of [{ download: "https://elsewhere.test/" }, { download: 5 }, undefined]) {
      renderInApp(<FailureMessage failure={{ code: "UPSTREAM_TOO_LARGE", message: "too large", details }} />);
      expect(screen.queryByRole("link", { name: "Download response" })).toBeNull();
    }
  });

  it("shows an unreachable service once with other reasons", () => {
    const getText = (code: string, message: string) => {
      const live = { value: undefined, atMs: 1, isValidating: false, refresh: async () => undefined, patch: () => undefined };
      renderInApp(
        <Part
          title="Failed"
          all={{ href: "/jobs", text: "All" }}
          live={{ ...live, failure: { code, message, status: 502 } }}
          skeleton={null}
        >
          {() => null}
        </Part>,
      );
      const text = screen.getByRole("alert").querySelector("p")?.textContent;
      cleanup();
      return text;
    };
    expect(getText("UPSTREAM_UNREACHABLE", "The service at http://a cannot be reached: nothing listens there")).toBe(
      "The service cannot be reached",
    );
    expect(getText("UPSTREAM_ERROR", "disk on fire")).toBe("The service failed. Reason: disk on fire");
  });

  it.each([
    [503, "WORKERS_BUSY", "", "The service is unavailable"],
    [429, "SLOW_DOWN", "slower", "Too many requests"],
    [429, "QUEUE_LIMIT", "Too many", "The queue of the service is full"],
    [429, "FREE_TIER_UNAVAILABLE", "No", "The service requires payment"],
    [504, "GATEWAY", "", "The service did not respond in time"],
    [400, "odd_word", "", "The service did not accept the request"],
    [402, "insufficient_credits", "", "The service requires payment"],
    [418, "TEAPOT", "", "The service refused the request"],
  ])("falls back to the status: %i %s", (status, code, message, title) => {
    renderInApp(<FailureMessage failure={{ code, message, status }} />);
    expect(screen.getByRole("alert").textContent).toContain(title);
  });

  it("shows its details", () => {
    const details = [{ path: "width", message: "too large" }];
    renderInApp(<FailureMessage failure={{ code: "BAD_REQUEST", message: "no", details }} />);
    expect(screen.getByRole("alert").textContent).toContain("width: too large");
    cleanup();
    renderInApp(<FailureMessage failure={{ code: "BAD_REQUEST", message: "no", details: { field: "limit", most: 100 } }} />);
    expect(screen.getByRole("alert").textContent).toContain("field: limit, most: 100");
  });

  it("shows the wait that a service requested", () => {
    renderInApp(<FailureMessage failure={{ code: "RATE_LIMITED", message: "", status: 429, retryAfterMs: 40_000 }} />);
    expect(screen.getByRole("alert").textContent).toContain("The service requested a wait of 40 s.");
  });

  it("offers Retry and links to settings for connection faults", () => {
    const retry = vi.fn();
    renderInApp(<FailureMessage failure={{ code: "UPSTREAM_REFUSED_KEY", message: "" }} onRetry={retry} />);
    screen.getByRole("button", { name: "Try again" }).click();
    expect(retry).toHaveBeenCalledOnce();
    expect(screen.getByRole("link", { name: "Open settings" }).getAttribute("href")).toBe("/settings");
  });

  it("links to sign-in and back when the session has ended", () => {
    renderInApp(<FailureMessage failure={{ code: "UNAUTHORIZED", message: "" }} />);
    expect(screen.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe("/sign-in?callbackUrl=%2F");
  });
});
