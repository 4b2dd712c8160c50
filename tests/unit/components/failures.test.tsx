import { cleanup, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { FailureMessage, failureOwners, toFailureCode } from "@/components/frame/failure/failure-message";
import { OverviewCard } from "@/components/overview/overview-card";
import { errorStatus } from "@/lib/contract/failure";
import errors from "@/lib/messages/en/errors.json";
import { renderInApp } from "./render";

const messagesByCode: Readonly<Record<string, unknown>> = errors;
const codes = [...Object.keys(errorStatus), "CONSOLE_UNREACHABLE", "ABORTED", "FILE_UNREADABLE", "QUEUE_FULL", "UNKNOWN"];

describe("failure message", () => {
  it.each(codes)("has a title, a remedy and an owner for %s", (code) => {
    expect(messagesByCode[code]).toEqual({ title: expect.stringMatching(/\S/), next: expect.stringMatching(/[.]$/) });
    expect(errors.owner).toHaveProperty(failureOwners[toFailureCode({ code })]);
  });

  it("has no message for an unused code", () => {
    const allowedKeys = new Set([...codes, "owner", "at", "reason", "wait", "signIn", "openSettings"]);
    expect(Object.keys(errors).filter((key) => !allowedKeys.has(key))).toEqual([]);
  });

  const getAlertText = () => screen.getByRole("alert").textContent;

  it.each([
    ["the service's own message", { message: "disk on fire", requestId: "r-1" }, /The service failed.*Reason: disk on fire.*r-1/],
    ["each invalid field", { message: "no", details: [{ path: "width", message: "too large" }] }, /width: too large/],
    ["other details", { message: "no", details: { field: "limit", most: 100 } }, /field: limit, most: 100/],
    ["the requested wait", { message: "", retryAfterMs: 40_000 }, /You can retry in 40 s\./],
  ])("shows %s", (_, fields, text) => {
    renderInApp(<FailureMessage failure={{ code: "UPSTREAM_ERROR", ...fields }} />);
    expect(getAlertText()).toMatch(text);
  });

  it("offers a download when a response is too large to show", () => {
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

  it("omits the service's message when it can't be reached", () => {
    const getText = (code: string, message: string) => {
      const live = { value: undefined, atMs: 1, isValidating: false, refresh: async () => undefined, patch: () => undefined };
      renderInApp(
        <OverviewCard
          title="Failed"
          listLink={{ href: "/jobs", text: "All" }}
          live={{ ...live, failure: { code, message, status: 502 } }}
          skeleton={null}
        >
          {() => null}
        </OverviewCard>,
      );
      const text = screen.getByRole("alert").querySelector("p")?.textContent;
      cleanup();
      return text;
    };
    expect(getText("UPSTREAM_UNREACHABLE", "The service at http://a cannot be reached: nothing listens there")).toBe(
      "Couldn't reach the service",
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
  ])("falls back to the status when the code is unknown: %i %s", (status, code, message, title) => {
    renderInApp(<FailureMessage failure={{ code, message, status }} />);
    expect(getAlertText()).toContain(title);
  });

  it("offers Retry and a link to settings when the connection has an error", () => {
    const onRetry = vi.fn();
    renderInApp(<FailureMessage failure={{ code: "UPSTREAM_REFUSED_KEY", message: "" }} onRetry={onRetry} />);
    screen.getByRole("button", { name: "Try again" }).click();
    expect(onRetry).toHaveBeenCalledOnce();
    expect(screen.getByRole("link", { name: "Open settings" }).getAttribute("href")).toBe("/settings");
  });

  it("links to sign-in with a return URL when the session has ended", () => {
    renderInApp(<FailureMessage failure={{ code: "UNAUTHORIZED", message: "" }} />);
    expect(screen.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe("/sign-in?callbackUrl=%2F");
  });
});
