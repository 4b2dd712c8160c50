import "@/components/ui/toast-stack";
import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, test, vi } from "vitest";
import { ConfirmGate } from "@/components/frame/account/confirm-gate";
import { JobStatus } from "@/components/frame/job-status";
import { ClearResult } from "@/components/jobs/queue/queue-screen";
import { StatusBadge, tones } from "@/components/ui/status-badge";
import { dismissToast, showToast, toastStore } from "@/components/ui/toast-store";
import { Toasts } from "@/components/ui/toasts";
import { callApi } from "@/lib/browser/api";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "./render";

describe("toasts", () => {
  const LONG_MS = 60_000;
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    act(() => toastStore.getState().forEach(({ id }) => dismissToast(id)));
  });

  const showText = (text: string) => act(async () => showToast({ tone: "ok", text }));
  const advanceTime = () => act(() => void vi.advanceTimersByTime(LONG_MS));

  it("announces a toast in an existing live region, and removes it after a while", async () => {
    renderInApp(<Toasts />);
    const region = screen.getByRole("status");
    expect(region.textContent).toBe("");
    await showText("3 cancelled");
    expect(region.textContent).toContain("3 cancelled");
    advanceTime();
    expect(region.textContent).toBe("");
  });

  it("keeps all toasts while one is hovered or focused", async () => {
    renderInApp(<Toasts />);
    await showText("first");
    fireEvent.pointerEnter(screen.getByText("first"));
    await showText("second");
    advanceTime();
    expect(screen.getByRole("status").textContent).toContain("first");
    expect(screen.getByRole("status").textContent).toContain("second");
    fireEvent.pointerLeave(screen.getByText("first"));
    advanceTime();
    expect(screen.getByRole("status").textContent).toBe("");

    await showText("third");
    const button = screen.getByRole("button", { name: "Dismiss" });
    act(() => button.focus());
    advanceTime();
    expect(screen.getByRole("status").textContent).toContain("third");
    // Dismissed while paused by the focus; the next one still disappears automatically.
    fireEvent.click(button);
    await showText("fourth");
    advanceTime();
    expect(screen.getByRole("status").textContent).toBe("");
  });

  it("places toasts above bottom bars and next to side bars", async () => {
    const boxes: Record<string, [left: number, top: number, right: number, bottom: number]> = {
      pager: [200, 724, 1440, 768],
      bar: [400, 672, 800, 712],
      tray: [964, 300, 1424, 712],
    };
    const box = ([left, top, right, bottom]: [number, number, number, number]) => new DOMRect(left, top, right - left, bottom - top);
    vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
      const named = boxes[this.id];
      return box(named ?? [500, 700, 900, 736]);
    });
    vi.stubGlobal("innerHeight", 768);
    renderInApp(
      <>
        <Toasts />
        {Object.keys(boxes).map((id) => (
          <div key={id} id={id} data-lower-edge="" />
        ))}
      </>,
    );
    await showText("3 cancelled");
    // 8 px above the bar of actions, which is above the pager; the tray is beside it.
    const [stack] = screen.getByRole("status").children;
    expect(stack instanceof HTMLElement && stack.style.bottom).toBe(`${768 - 672 + 8}px`);
  });
});

const ids = (count: number) => Array.from({ length: count }, (_, index) => `job-${index}`);

const show = (requestedCount: number, outcome: Parameters<typeof ClearResult>[0]["outcome"], waiting = 0) => {
  renderInApp(<ClearResult requestedCount={requestedCount} outcome={outcome} waiting={waiting} onDismiss={() => undefined} />);
  const text = screen.getByRole("status").textContent;
  cleanup();
  return text;
};
const toAnswered = (deleted: string[] | undefined) => ({ kind: "answered" as const, answer: { deleted, cleared: false } });

describe("the result of clearing the queue", () => {
  it.each([
    [10, 8, "8 cancelled, 2 had already started"],
    [3, 3, "3 cancelled"],
    [2, 3, "3 cancelled"],
    [9, 7, "7 cancelled, 2 had already started"],
  ])("of %i requested and %i cancelled says: %s", (requestedCount, cancelled, words) => {
    expect(show(requestedCount, toAnswered(ids(cancelled)))).toBe(words);
  });

  it.each([
    [3, 0, "None of the 3 jobs is waiting. The service's response was lost"],
    [3, 3, "3 jobs are still waiting. The service's response was lost"],
  ])("of %i requested, without a response and %i waiting afterwards, says: %s", (requestedCount, waiting, words) => {
    expect(show(requestedCount, { kind: "lost", left: waiting }, waiting)).toBe(words);
  });

  it.each([
    [1, 0, "The job is no longer waiting. The service does not report which it cancelled"],
    [3, 0, "None of the 3 jobs is waiting. The service does not report which it cancelled"],
    [3, 2, "2 jobs are still waiting. The service does not report which it cancelled"],
  ])("of %i requested, without names and %i still waiting, says: %s", (requestedCount, waiting, words) => {
    for (const deleted of [undefined, []]) expect(show(requestedCount, toAnswered(deleted), waiting)).toBe(words);
  });
});

describe("confirm", () => {
  const requests: { path: string; body?: unknown }[] = [];
  let responses: Response[] = [];
  const refuse = (code: string, status: number, message = "") => Response.json({ code, message }, { status });
  const createdResponse = () => Response.json({ id: "made" }, { status: 201 });

  // The page loads it at the first refusal; here it is loaded before.
  beforeAll(() => import("@/components/frame/account/confirm-dialog"));
  beforeEach(() => {
    requests.length = 0;
    vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
      requests.push({ path, ...(typeof init.body === "string" && { body: JSON.parse(init.body) }) });
      return responses.shift() ?? new Response(null, { status: 204 });
    });
  });

  const router = { back: vi.fn(), forward: vi.fn(), refresh: vi.fn(), push: vi.fn(), replace: vi.fn(), prefetch: vi.fn(), bfcacheId: "" };
  const show = () =>
    renderInApp(
      <AtPage router={router}>
        <ConfirmGate email="ana@example.com" methods={{ password: true, providers: [] }} />
      </AtPage>,
    );
  const invite = (email: string) => callApi("/api/console/members/invitations", { method: "POST", json: { email } });
  const dialog = async () => within(await waitFor(() => screen.getByRole("dialog", { name: "Confirm it's you" }), { timeout: 10_000 }));
  async function give(password: string) {
    const confirmation = await dialog();
    fireEvent.change(confirmation.getByLabelText("Password"), { target: { value: password } });
    await act(async () => fireEvent.click(confirmation.getByRole("button", { name: "Confirm" })));
  }

  test("asks for the password once and repeats every waiting call", async () => {
    responses = [refuse("SIGN_IN_AGAIN", 403), refuse("SIGN_IN_AGAIN", 403)];
    show();
    const results = Promise.all([invite("one@example.com"), invite("two@example.com")]);
    responses.push(refuse("INVALID_BODY", 400, "password: is not your current password"));
    await give("guess");
    expect((await dialog()).getByText("This is not your password.")).toBeDefined();
    responses = [new Response(null, { status: 204 }), createdResponse(), createdResponse()];
    await give("the right one");
    expect((await results).map(({ ok }) => ok)).toEqual([true, true]);
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(requests.map(({ body }) => body)).toEqual([
      { email: "one@example.com" },
      { email: "two@example.com" },
      { password: "guess" },
      { password: "the right one" },
      { email: "one@example.com" },
      { email: "two@example.com" },
    ]);
  });

  test("returns the refusal when the dialog is closed", async () => {
    responses = [refuse("SIGN_IN_AGAIN", 403)];
    show();
    const result = invite("one@example.com");
    const confirmation = await dialog();
    await act(async () => fireEvent.click(confirmation.getByRole("button", { name: "Cancel" })));
    expect(await result).toMatchObject({ ok: false, failure: { code: "SIGN_IN_AGAIN" } });
    expect(requests).toHaveLength(1);
  });

  test("returns the refusal where no dialog is shown", async () => {
    responses = [refuse("SIGN_IN_AGAIN", 403)];
    expect(await invite("one@example.com")).toMatchObject({ ok: false, failure: { code: "SIGN_IN_AGAIN" } });
  });
});

describe("the status badge", () => {
  it.each(tones)("shows the tone %s as an icon, a word and a colour", (tone) => {
    renderInApp(<StatusBadge tone={tone} word="Some word" />);
    const badge = screen.getByText("Some word");
    expect(badge.querySelector("svg[aria-hidden=true] > *")).not.toBeNull();
    expect(badge.className).toMatch(/\bbg-\w+-soft\b/);
  });

  it("draws another icon for each tone, so that colour is never the only difference", () => {
    const { container } = renderInApp(tones.map((tone) => <StatusBadge key={tone} tone={tone} word={tone} />));
    const icons = [...container.querySelectorAll("svg")].map((svg) => svg.innerHTML);
    expect(new Set(icons).size).toBe(tones.length);
  });
});

describe("a job's status", () => {
  it.each([
    ["executing", "Running", "run"],
    ["queued_waiting", "Pending", "wait"],
    ["success", "Completed", "ok"],
    ["lost", "Failed", "bad"],
    ["canceled", "Cancelled", "off"],
  ])("reads the word %s as %s", (word, expected, tone) => {
    renderInApp(<JobStatus word={word} />);
    const badge = screen.getByText(expected);
    expect(badge.dataset.tone).toBe(tone);
    expect(badge.title).toContain(word);
  });

  it("shows an unknown state unchanged", () => {
    renderInApp(<JobStatus word="simmering" />);
    expect(screen.getByText("simmering").dataset.tone).toBe("unknown");
  });
});
