// The messages between an embedded page and the page around it: whose messages count, and when a session is renewed.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startRenewal } from "@/components/embed/host-bridge";
import { announceAnswer } from "@/lib/browser/api";
import { type HostMessage, onHostMessage, tellHost } from "@/lib/browser/embed/host-page";

const HOST = "https://app.example.com";
const around = { postMessage: vi.fn() };

beforeEach(() => {
  vi.useFakeTimers();
  around.postMessage.mockReset();
  Object.defineProperty(window, "parent", { value: around, configurable: true });
});
afterEach(() => {
  vi.useRealTimers();
  Object.defineProperty(window, "parent", { value: window, configurable: true });
});

function say(data: unknown, origin = HOST, source: unknown = around): void {
  const event = new MessageEvent("message", { data, origin });
  Object.defineProperty(event, "source", { value: source });
  window.dispatchEvent(event);
}

describe("a message of the host", () => {
  const heardOf = (data: unknown, origin?: string, source?: unknown) => {
    const received: HostMessage[] = [];
    const stop = onHostMessage([HOST], (message) => received.push(message));
    say(data, origin, source);
    stop();
    return received;
  };

  it("counts from the parent window, from an origin that may frame, in a known shape", () => {
    expect(heardOf({ lightdesk: 1, type: "navigate", to: "/jobs?status=failed" })).toEqual([
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
  ])("is passed over %s", (_name, data, origin = HOST, source: unknown = around) => {
    expect(heardOf(data, origin, source)).toEqual([]);
  });

  it("is answered to its origin by name", () => {
    tellHost([HOST], { type: "want-ticket" });
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
    const reported: string[] = [];
    const renewal = startRenewal(15 * MINUTE, {
      ask: () => reported.push("ask"),
      begin,
      onRenewed: (isSame) => reported.push(`renewed ${isSame}`),
      onEnded: (reason) => reported.push(`ended ${reason}`),
    });
    return { reported, renewal, ticket: { type: "ticket", ticket: "x" } as const };
  }
  const good = async () => ({ ok: true, leftMs: 15 * MINUTE, isSame: true, keeps: "cookie" }) as const;

  it("is renewed before it ends, again and again, and by no ticket that was not asked for", async () => {
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

  it("is renewed at once where the console says that it has ended", () => {
    const { reported, renewal } = world(good);
    announceAnswer({ path: "/api/jobs", method: "GET", status: 401 });
    announceAnswer({ path: "/api/queue", method: "GET", status: 401 });
    expect(reported).toEqual(["ask"]);
    renewal.stop();
  });

  it("is renewed by one ticket once, however often the message comes", async () => {
    const begin = vi.fn(good);
    const { reported, renewal, ticket } = world(begin);
    vi.advanceTimersByTime(12 * MINUTE);
    await Promise.all([renewal.receive(ticket), renewal.receive(ticket), renewal.receive(ticket)]);
    expect([begin.mock.calls.length, reported]).toEqual([1, ["ask", "renewed true"]]);
    renewal.stop();
  });

  it("goes on while the console cannot store another", async () => {
    const { reported, renewal, ticket } = world(async () => ({ ok: false, reason: "console" }));
    vi.advanceTimersByTime(12 * MINUTE);
    await renewal.receive(ticket);
    vi.advanceTimersByTime(20_000);
    expect(reported).toEqual(["ask", "ask"]);
    renewal.stop();
  });

  it("ends with a ticket that is refused", async () => {
    const { reported, renewal, ticket } = world(async () => ({ ok: false, reason: "ticket" }));
    vi.advanceTimersByTime(12 * MINUTE);
    await renewal.receive(ticket);
    expect(reported).toEqual(["ask", "ended refused"]);
  });

  it("asks again while nobody answers, and ends with its time", () => {
    const { reported } = world(good);
    vi.advanceTimersByTime(15 * MINUTE);
    expect(reported.filter((one) => one === "ask").length).toBeGreaterThan(5);
    expect(reported.at(-1)).toBe("ended expired");
  });
});
