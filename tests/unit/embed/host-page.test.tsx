// Messages between an embedded page and its host, session renewal and job events.
import { render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startRenewal, useJobReports } from "@/components/embed/host-bridge";
import { StartScreen } from "@/components/embed/start-screen";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { ReadOnlyNotice } from "@/components/frame/connection/connection-guard";
import { callApi, notifyResponse } from "@/lib/browser/api";
import { type HostMessage, onHostMessage, postToHost } from "@/lib/browser/embed/host-page";
import { type LiveMessage } from "@/lib/browser/live/live-tab";
import { liveModule } from "@/lib/browser/live/use-live";
import { renderInApp } from "../components/render";

const HOST_ORIGIN = "https://app.example.com";
const hostWindow = { postMessage: vi.fn() };

/** Shows the page in a host window. */
function embedInHostPage() {
  beforeEach(() => {
    vi.useFakeTimers();
    hostWindow.postMessage.mockReset();
    Object.defineProperty(window, "parent", { value: hostWindow, configurable: true });
  });
  afterEach(() => {
    Object.defineProperty(window, "parent", { value: window, configurable: true });
  });
}

function dispatchMessage(data: unknown, origin = HOST_ORIGIN, source: unknown = hostWindow): void {
  const event = new MessageEvent("message", { data, origin });
  Object.defineProperty(event, "source", { value: source });
  window.dispatchEvent(event);
}

describe("a host message", () => {
  embedInHostPage();

  const collectMessages = (data: unknown, origin?: string, source?: unknown) => {
    const hostMessages: HostMessage[] = [];
    const stop = onHostMessage([HOST_ORIGIN], (message) => hostMessages.push(message));
    dispatchMessage(data, origin, source);
    stop();
    return hostMessages;
  };

  it("accepts a valid message from the parent window of a framing origin", () => {
    expect(collectMessages({ lightdesk: 1, type: "navigate", to: "/jobs?status=failed" })).toEqual([
      { type: "navigate", to: "/jobs?status=failed" },
    ]);
  });

  it.each([
    ["from another origin", { lightdesk: 1, type: "end" }, "https://evil.example.com"],
    ["from another window", { lightdesk: 1, type: "end" }, HOST_ORIGIN, {}],
    ["without a version", { type: "end" }],
    ["that is not an object", "end"],
    ["that navigates to another site", { lightdesk: 1, type: "navigate", to: "//evil.example.com" }],
    ["that navigates to a page hosts can't show", { lightdesk: 1, type: "navigate", to: "/sign-in" }],
    ["with an encoded path traversal", { lightdesk: 1, type: "navigate", to: "/jobs/%2e%2e/sign-in" }],
    ["with a path traversal", { lightdesk: 1, type: "navigate", to: "/jobs/../../../jobs" }],
    ["with a script URL", { lightdesk: 1, type: "navigate", to: "javascript:alert(1)" }],
    ["with an invalid theme", { lightdesk: 1, type: "theme", theme: "<b>" }],
    ["from its own window", { lightdesk: 1, type: "end" }, HOST_ORIGIN, window],
    ["with a path that is too long", { lightdesk: 1, type: "navigate", to: `/jobs?q=${"x".repeat(2000)}` }],
    ["with an invalid language", { lightdesk: 1, type: "language", language: { toString: "en" } }],
    ["with an invalid version", { lightdesk: "1", type: "end" }],
    ["with a ticket that is too long", { lightdesk: 1, type: "ticket", ticket: "x".repeat(8001) }],
  ])("ignores a message %s", (_name, data, origin = HOST_ORIGIN, source: unknown = hostWindow) => {
    expect(collectMessages(data, origin, source)).toEqual([]);
  });

  it("posts a message to the host's exact origin", () => {
    postToHost([HOST_ORIGIN], { type: "want-ticket" });
    expect(hostWindow.postMessage.mock.calls).toEqual([[{ lightdesk: 1, type: "want-ticket" }, HOST_ORIGIN]]);
  });
});

describe("session renewal", () => {
  embedInHostPage();

  const MINUTE_MS = 60_000;
  function startTestRenewal(createSession: Parameters<typeof startRenewal>[1]["createSession"] = createTestSession) {
    const reports: string[] = [];
    const renewal = startRenewal(15 * MINUTE_MS, {
      requestTicket: () => reports.push("request ticket"),
      createSession,
      onRenewed: (isSame) => reports.push(`renewed ${isSame}`),
      onEnded: (reason) => reports.push(`ended ${reason}`),
    });
    return { reports, renewal, ticket: { type: "ticket", ticket: "x" } as const };
  }
  const createTestSession = async () => ({ ok: true, leftMs: 15 * MINUTE_MS, isSame: true, keeps: "cookie" }) as const;

  it("renews the session before it ends, only with requested tickets", async () => {
    const { reports, renewal, ticket } = startTestRenewal();
    await renewal.receive(ticket);
    expect(reports).toEqual([]);
    vi.advanceTimersByTime(12 * MINUTE_MS);
    expect(reports).toEqual(["request ticket"]);
    await renewal.receive(ticket);
    vi.advanceTimersByTime(12 * MINUTE_MS);
    expect(reports).toEqual(["request ticket", "renewed true", "request ticket"]);
    renewal.stop();
  });

  it("requests a ticket immediately when the console returns 401", () => {
    const { reports, renewal } = startTestRenewal();
    notifyResponse({ path: "/api/jobs", method: "GET", status: 401 });
    notifyResponse({ path: "/api/queue", method: "GET", status: 401 });
    expect(reports).toEqual(["request ticket"]);
    renewal.stop();
  });

  it("renews the session once per ticket when it arrives several times", async () => {
    const startSession = vi.fn(createTestSession);
    const { reports, renewal, ticket } = startTestRenewal(startSession);
    vi.advanceTimersByTime(12 * MINUTE_MS);
    await Promise.all([renewal.receive(ticket), renewal.receive(ticket), renewal.receive(ticket)]);
    expect([startSession.mock.calls.length, reports]).toEqual([1, ["request ticket", "renewed true"]]);
    renewal.stop();
  });

  it("requests another ticket when the console can't create a session", async () => {
    const { reports, renewal, ticket } = startTestRenewal(async () => ({ ok: false, reason: "console" }));
    vi.advanceTimersByTime(12 * MINUTE_MS);
    await renewal.receive(ticket);
    vi.advanceTimersByTime(20_000);
    expect(reports).toEqual(["request ticket", "request ticket"]);
    renewal.stop();
  });

  it("ends the session when a ticket is rejected", async () => {
    const { reports, renewal, ticket } = startTestRenewal(async () => ({ ok: false, reason: "ticket" }));
    vi.advanceTimersByTime(12 * MINUTE_MS);
    await renewal.receive(ticket);
    expect(reports).toEqual(["request ticket", "ended refused"]);
  });

  it("retries ticket requests and ends the session when it expires", () => {
    const { reports } = startTestRenewal();
    vi.advanceTimersByTime(15 * MINUTE_MS);
    expect(reports.filter((value) => value === "request ticket").length).toBeGreaterThan(5);
    expect(reports.at(-1)).toBe("ended expired");
  });
});

describe("host jobs", () => {
  embedInHostPage();

  const origins = [HOST_ORIGIN];
  const connections = ["one", "two"].map((id) => ({ id, name: id, embedded: false }));

  function Jobs() {
    useJobReports(origins);
    return null;
  }
  const createPage = (currentId: string) => (
    <ConnectionProvider currentId={currentId} connections={connections}>
      <Jobs />
    </ConnectionProvider>
  );

  it("reports each job's end after the page switches connections", async () => {
    const requests: string[] = [];
    vi.stubGlobal("fetch", async (address: string) => {
      if (address.startsWith("/api/console/queue")) return Response.json({ running: [], pending: [], source: "queue", canStop: true });
      requests.push(address);
      return Response.json({ status: "completed" });
    });
    const renderResult = render(createPage("one"));
    notifyResponse({ path: "/api/prompt", method: "POST", status: 200, value: { prompt_id: "job-1" } });
    notifyResponse({ path: "/api/prompt?connection=two", method: "POST", status: 200, value: { prompt_id: "job-2" } });
    renderResult.rerender(createPage("two"));
    await vi.advanceTimersByTimeAsync(4000);
    const messages = hostWindow.postMessage.mock.calls.map(([{ type, id }]) => `${type} ${id}`);
    expect(messages.toSorted()).toEqual(["job-ended job-1", "job-ended job-2", "job-submitted job-1", "job-submitted job-2"]);
    expect(requests.toSorted()).toEqual(["/api/jobs/job-1?connection=one", "/api/jobs/job-2?connection=two"]);
  });

  it.each(["visible", "hidden"] as const)("reports the ends of many jobs on a %s page through one topic", async (visibility) => {
    vi.spyOn(document, "visibilityState", "get").mockReturnValue(visibility);
    const watchedPaths: string[] = [];
    let sendList = async (): Promise<void> => undefined;
    function watchLive<Value>(path: `/${string}`, receive: (message: LiveMessage<Value>) => void): () => void {
      watchedPaths.push(path);
      sendList = async () => {
        const list = await callApi<Value>(path);
        if (list.ok) receive({ response: list.value });
      };
      return () => undefined;
    }
    vi.spyOn(liveModule, "load").mockResolvedValue({ watchLive, restartLive: () => undefined });
    // Without a stream, a hidden page receives no newer list.
    const running =
      visibility === "hidden" ? Array.from({ length: 50 }, (_, index) => ({ id: `job-${index}`, status: "in_progress" })) : [];
    vi.stubGlobal("fetch", async (address: string) =>
      Response.json(
        address.startsWith("/api/console/queue") ? { running, pending: [], source: "queue", canStop: true } : { status: "completed" },
      ),
    );
    render(createPage("one"));
    for (let index = 0; index < 50; index += 1)
      notifyResponse({ path: "/api/prompt", method: "POST", status: 200, value: { prompt_id: `job-${index}` } });
    await vi.advanceTimersByTimeAsync(0);
    await sendList();
    await vi.advanceTimersByTimeAsync(4000);
    expect(hostWindow.postMessage.mock.calls.filter(([{ type }]) => type === "job-ended")).toHaveLength(50);
    expect(watchedPaths).toEqual(["/api/console/queue?connection=one"]);
  });
});

it.each([
  ["/jobs?status=failed", "/jobs?status=failed"],
  // Only host pages can open the asset picker. The console has no such page.
  ["/choose", "/"],
  ["/nowhere", "/"],
])("links a visitor of %s outside a host page to %s", (from, href) => {
  renderInApp(<StartScreen origins={[HOST_ORIGIN]} from={from} endReason={undefined} />);
  expect(screen.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe(href);
});

it("announces read-only mode with its author and reason", () => {
  renderInApp(<ReadOnlyNotice readOnly={{ since: Date.now(), by: "Ada", note: "The disk is being changed." }} />);
  expect(screen.getByRole("status").textContent).toMatch(/read-only.*Ada.*The disk is being changed\./);
});
