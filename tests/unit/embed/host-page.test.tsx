// Messages between an embedded page and its host: which senders count, and when a session is renewed.
import { render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startRenewal, useHostJobs } from "@/components/embed/host-bridge";
import { StartScreen } from "@/components/embed/start-screen";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { ReadOnlyNotice } from "@/components/frame/connection/connection-guard";
import { callApi, notifyResponse } from "@/lib/browser/api";
import { type HostMessage, onHostMessage, postToHost } from "@/lib/browser/embed/host-page";
import { type LiveMessage } from "@/lib/browser/live/live-client";
import { liveModule } from "@/lib/browser/live/use-live";
import { renderInApp } from "../components/render";

describe("host page", () => {
  const HOST = "https://app.example.com";
  const around = { postMessage: vi.fn() };

  beforeEach(() => {
    vi.useFakeTimers();
    around.postMessage.mockReset();
    Object.defineProperty(window, "parent", { value: around, configurable: true });
  });
  afterEach(() => {
    Object.defineProperty(window, "parent", { value: window, configurable: true });
  });

  function dispatchMessage(data: unknown, origin = HOST, source: unknown = around): void {
    const event = new MessageEvent("message", { data, origin });
    Object.defineProperty(event, "source", { value: source });
    window.dispatchEvent(event);
  }

  describe("a message of the host", () => {
    const seenJobs = (data: unknown, origin?: string, source?: unknown) => {
      const hostMessages: HostMessage[] = [];
      const stop = onHostMessage([HOST], (message) => hostMessages.push(message));
      dispatchMessage(data, origin, source);
      stop();
      return hostMessages;
    };

    it("is accepted from the parent window of a framing origin in a valid shape", () => {
      expect(seenJobs({ lightdesk: 1, type: "navigate", to: "/jobs?status=failed" })).toEqual([
        { type: "navigate", to: "/jobs?status=failed" },
      ]);
    });

    it.each([
      ["of another origin", { lightdesk: 1, type: "end" }, "https://evil.example.com"],
      ["of another window", { lightdesk: 1, type: "end" }, HOST, {}],
      ["of something else", { type: "end" }],
      ["of no shape", "end"],
      ["to another site", { lightdesk: 1, type: "navigate", to: "//evil.example.com" }],
      ["to a page that is not for hosts", { lightdesk: 1, type: "navigate", to: "/sign-in" }],
      ["with a page behind one that hosts may show", { lightdesk: 1, type: "navigate", to: "/jobs/%2e%2e/sign-in" }],
      ["out of its frame", { lightdesk: 1, type: "navigate", to: "/jobs/../../../jobs" }],
      ["with a script for an address", { lightdesk: 1, type: "navigate", to: "javascript:alert(1)" }],
      ["with a theme that is none", { lightdesk: 1, type: "theme", theme: "<b>" }],
      ["of a frame inside it that says it is the host", { lightdesk: 1, type: "end" }, HOST, window],
      ["with an address that is too long", { lightdesk: 1, type: "navigate", to: `/jobs?q=${"x".repeat(2000)}` }],
      ["with a language that is none", { lightdesk: 1, type: "language", language: { toString: "en" } }],
      ["of another version", { lightdesk: "1", type: "end" }],
      ["with a ticket that is too long", { lightdesk: 1, type: "ticket", ticket: "x".repeat(8001) }],
    ])("is ignored %s", (_name, data, origin = HOST, source: unknown = around) => {
      expect(seenJobs(data, origin, source)).toEqual([]);
    });

    it("is answered to its exact origin", () => {
      postToHost([HOST], { type: "want-ticket" });
      expect(around.postMessage.mock.calls).toEqual([[{ lightdesk: 1, type: "want-ticket" }, HOST]]);
    });
  });

  describe("the session of a page", () => {
    const MINUTE = 60_000;
    function world(
      begin: () => Promise<
        { ok: true; leftMs: number; isSame: boolean; keeps: "cookie" } | { ok: false; reason: "ticket" | "unreachable" | "console" }
      >,
    ) {
      const reports: string[] = [];
      const renewal = startRenewal(15 * MINUTE, {
        requestTicket: () => reports.push("ask"),
        begin,
        onRenewed: (isSame) => reports.push(`renewed ${isSame}`),
        onEnded: (reason) => reports.push(`ended ${reason}`),
      });
      return { reported: reports, renewal, ticket: { type: "ticket", ticket: "x" } as const };
    }
    const good = async () => ({ ok: true, leftMs: 15 * MINUTE, isSame: true, keeps: "cookie" }) as const;

    it("is renewed before it ends, only by requested tickets", async () => {
      const { reported, renewal, ticket } = world(good);
      await renewal.receive(ticket);
      expect(reported).toEqual([]);
      vi.advanceTimersByTime(12 * MINUTE);
      expect(reported).toEqual(["ask"]);
      await renewal.receive(ticket);
      vi.advanceTimersByTime(12 * MINUTE);
      expect(reported).toEqual(["ask", "renewed true", "ask"]);
      renewal.stop();
    });

    it("is renewed immediately when the console reports its end", () => {
      const { reported, renewal } = world(good);
      notifyResponse({ path: "/api/jobs", method: "GET", status: 401 });
      notifyResponse({ path: "/api/queue", method: "GET", status: 401 });
      expect(reported).toEqual(["ask"]);
      renewal.stop();
    });

    it("is renewed once per ticket, however often it is sent", async () => {
      const begin = vi.fn(good);
      const { reported, renewal, ticket } = world(begin);
      vi.advanceTimersByTime(12 * MINUTE);
      await Promise.all([renewal.receive(ticket), renewal.receive(ticket), renewal.receive(ticket)]);
      expect([begin.mock.calls.length, reported]).toEqual([1, ["ask", "renewed true"]]);
      renewal.stop();
    });

    it("continues while the console cannot store another", async () => {
      const { reported, renewal, ticket } = world(async () => ({ ok: false, reason: "console" }));
      vi.advanceTimersByTime(12 * MINUTE);
      await renewal.receive(ticket);
      vi.advanceTimersByTime(20_000);
      expect(reported).toEqual(["ask", "ask"]);
      renewal.stop();
    });

    it("ends with a refused ticket", async () => {
      const { reported, renewal, ticket } = world(async () => ({ ok: false, reason: "ticket" }));
      vi.advanceTimersByTime(12 * MINUTE);
      await renewal.receive(ticket);
      expect(reported).toEqual(["ask", "ended refused"]);
    });

    it("retries while unanswered and ends at its expiry", () => {
      const { reported } = world(good);
      vi.advanceTimersByTime(15 * MINUTE);
      expect(reported.filter((value) => value === "ask").length).toBeGreaterThan(5);
      expect(reported.at(-1)).toBe("ended expired");
    });
  });
});

describe("host jobs", () => {
  const origins = ["https://app.example.com"];
  const around = { postMessage: vi.fn() };
  const connections = ["one", "two"].map((id) => ({ id, name: id, embedded: false }));

  beforeEach(() => {
    vi.useFakeTimers();
    around.postMessage.mockReset();
    Object.defineProperty(window, "parent", { value: around, configurable: true });
  });
  afterEach(() => {
    Object.defineProperty(window, "parent", { value: window, configurable: true });
  });

  function Jobs() {
    useHostJobs(origins);
    return null;
  }
  const page = (currentId: string) => (
    <ConnectionProvider currentId={currentId} connections={connections}>
      <Jobs />
    </ConnectionProvider>
  );

  it("ends each one, also when another connection is open by then", async () => {
    const requests: string[] = [];
    vi.stubGlobal("fetch", async (address: string) => {
      if (address.startsWith("/api/console/queue")) return Response.json({ running: [], pending: [], source: "queue", canStop: true });
      requests.push(address);
      return Response.json({ status: "completed" });
    });
    const renderResult = render(page("one"));
    notifyResponse({ path: "/api/prompt", method: "POST", status: 200, value: { prompt_id: "job-1" } });
    notifyResponse({ path: "/api/prompt?connection=two", method: "POST", status: 200, value: { prompt_id: "job-2" } });
    renderResult.rerender(page("two"));
    await vi.advanceTimersByTimeAsync(4000);
    const messages = around.postMessage.mock.calls.map(([{ type, id }]) => `${type} ${id}`);
    expect(messages.toSorted()).toEqual(["job-ended job-1", "job-ended job-2", "job-submitted job-1", "job-submitted job-2"]);
    expect(requests.toSorted()).toEqual(["/api/jobs/job-1?connection=one", "/api/jobs/job-2?connection=two"]);
  });

  it.each(["visible", "hidden"] as const)("reports the ends of many jobs of a %s page on one topic", async (visibility) => {
    vi.spyOn(document, "visibilityState", "get").mockReturnValue(visibility);
    const watched: string[] = [];
    let sendList = async (): Promise<void> => undefined;
    function watchLive<Answer>(path: `/${string}`, receive: (message: LiveMessage<Answer>) => void): () => void {
      watched.push(path);
      sendList = async () => {
        const list = await callApi<Answer>(path);
        if (list.ok) receive({ answer: list.value });
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
    render(page("one"));
    for (let index = 0; index < 50; index += 1)
      notifyResponse({ path: "/api/prompt", method: "POST", status: 200, value: { prompt_id: `job-${index}` } });
    await vi.advanceTimersByTimeAsync(0);
    await sendList();
    await vi.advanceTimersByTimeAsync(4000);
    expect(around.postMessage.mock.calls.filter(([{ type }]) => type === "job-ended")).toHaveLength(50);
    expect(watched).toEqual(["/api/console/queue?connection=one"]);
  });
});

const origin = "https://app.example.com";

it.each([
  ["/jobs?status=failed", "/jobs?status=failed"],
  // Choosing an asset is only for host pages; the console has no such page.
  ["/choose", "/"],
  ["/nowhere", "/"],
])("links a non-host visitor of %s to %s of the console", (from, href) => {
  renderInApp(<StartScreen origins={[origin]} from={from} ended={undefined} />);
  expect(screen.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe(href);
});

it("announces read-only mode with its author and reason", () => {
  renderInApp(<ReadOnlyNotice readOnly={{ since: Date.now(), by: "Ada", note: "The disk is being changed." }} />);
  expect(screen.getByRole("status").textContent).toMatch(/read-only.*Ada.*The disk is being changed\./);
});
