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
import { PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "./render";

describe("toasts", () => {
  const LONG_MS = 60_000;
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    act(() => toastStore.getState().forEach(({ id }) => dismissToast(id)));
  });

  const showText = (text: string) => act(async () => showToast({ tone: "ok", text }));
  const advanceTime = () => act(() => void vi.advanceTimersByTime(LONG_MS));

  it("announces a toast in the live region and removes it after a while", async () => {
    renderInApp(<Toasts />);
    const region = screen.getByRole("status");
    expect(region.textContent).toBe("");
    await showText("3 cancelled");
    expect(region.textContent).toContain("3 cancelled");
    advanceTime();
    expect(region.textContent).toBe("");
  });

  it("keeps all toasts when one is hovered or focused", async () => {
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
    // The toast was dismissed while the focus paused the timers. The next one still disappears.
    fireEvent.click(button);
    await showText("fourth");
    advanceTime();
    expect(screen.getByRole("status").textContent).toBe("");
  });

  it("places toasts above bottom bars and next to side bars", async () => {
    const boxesById: Record<string, [left: number, top: number, right: number, bottom: number]> = {
      pager: [200, 724, 1440, 768],
      bar: [400, 672, 800, 712],
      tray: [964, 300, 1424, 712],
    };
    const toRect = ([left, top, right, bottom]: [number, number, number, number]) => new DOMRect(left, top, right - left, bottom - top);
    vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
      const box = boxesById[this.id];
      return toRect(box ?? [500, 700, 900, 736]);
    });
    vi.stubGlobal("innerHeight", 768);
    renderInApp(
      <>
        <Toasts />
        {Object.keys(boxesById).map((id) => (
          <div key={id} id={id} data-lower-edge="" />
        ))}
      </>,
    );
    await showText("3 cancelled");
    // The toast is 8 px above the action bar, which is above the pager. The tray is beside it.
    const [stack] = screen.getByRole("status").children;
    expect(stack instanceof HTMLElement && stack.style.bottom).toBe(`${768 - 672 + 8}px`);
  });
});

const createIds = (count: number) => Array.from({ length: count }, (_, index) => `job-${index}`);

const renderClearResult = (requestedCount: number, outcome: Parameters<typeof ClearResult>[0]["outcome"], waiting = 0) => {
  renderInApp(<ClearResult requestedCount={requestedCount} outcome={outcome} waitingCount={waiting} onDismiss={() => undefined} />);
  const text = screen.getByRole("status").textContent;
  cleanup();
  return text;
};
const createAnsweredOutcome = (deleted: string[] | undefined) => ({ kind: "confirmed" as const, response: { deleted, cleared: false } });

describe("clear queue result", () => {
  it.each([
    [10, 8, "8 cancelled, 2 had already started"],
    [3, 3, "3 cancelled"],
    [2, 3, "3 cancelled"],
    [9, 7, "7 cancelled, 2 had already started"],
  ])("shows the result for %i requested and %i cancelled: %s", (requestedCount, cancelled, text) => {
    expect(renderClearResult(requestedCount, createAnsweredOutcome(createIds(cancelled)))).toBe(text);
  });

  it.each([
    [3, 0, "None of the 3 jobs is waiting. The service's response was lost"],
    [3, 3, "3 jobs are still waiting. The service's response was lost"],
  ])("shows %i requested and %i waiting after a lost response: %s", (requestedCount, waiting, text) => {
    expect(renderClearResult(requestedCount, { kind: "unconfirmed", remainingCount: waiting }, waiting)).toBe(text);
  });

  it.each([
    [1, 0, "The job is no longer waiting. The service does not report which it cancelled"],
    [3, 0, "None of the 3 jobs is waiting. The service does not report which it cancelled"],
    [3, 2, "2 jobs are still waiting. The service does not report which it cancelled"],
  ])("shows %i requested and %i waiting when no ids are returned: %s", (requestedCount, waiting, text) => {
    for (const deleted of [undefined, []]) expect(renderClearResult(requestedCount, createAnsweredOutcome(deleted), waiting)).toBe(text);
  });
});

describe("confirmation", () => {
  const requests: { path: string; body?: unknown }[] = [];
  let responses: Response[] = [];
  const createRefusal = (code: string, status: number, message = "") => Response.json({ code, message }, { status });
  const createdResponse = () => Response.json({ id: "made" }, { status: 201 });

  // The page loads the dialog at the first refusal. The test loads it beforehand.
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
      <PageProvider router={router}>
        <ConfirmGate email="ana@example.com" methods={{ password: true, providers: [] }} />
      </PageProvider>,
    );
  const invite = (email: string) => callApi("/api/console/members/invitations", { method: "POST", json: { email } });
  const findDialog = async () => within(await waitFor(() => screen.getByRole("dialog", { name: "Confirm it's you" }), { timeout: 10_000 }));
  async function enterPassword(password: string) {
    const confirmation = await findDialog();
    fireEvent.change(confirmation.getByLabelText("Password"), { target: { value: password } });
    await act(async () => fireEvent.click(confirmation.getByRole("button", { name: "Confirm" })));
  }

  test("asks for the password once and repeats every waiting request", async () => {
    responses = [createRefusal("SIGN_IN_AGAIN", 403), createRefusal("SIGN_IN_AGAIN", 403)];
    show();
    const results = Promise.all([invite("one@example.com"), invite("two@example.com")]);
    responses.push(createRefusal("INVALID_BODY", 400, "password: is not your current password"));
    await enterPassword("guess");
    expect((await findDialog()).getByText("This is not your password.")).toBeDefined();
    responses = [new Response(null, { status: 204 }), createdResponse(), createdResponse()];
    await enterPassword("the right one");
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
    responses = [createRefusal("SIGN_IN_AGAIN", 403)];
    show();
    const result = invite("one@example.com");
    const confirmation = await findDialog();
    await act(async () => fireEvent.click(confirmation.getByRole("button", { name: "Cancel" })));
    expect(await result).toMatchObject({ ok: false, failure: { code: "SIGN_IN_AGAIN" } });
    expect(requests).toHaveLength(1);
  });

  test("returns the refusal when no dialog is shown", async () => {
    responses = [createRefusal("SIGN_IN_AGAIN", 403)];
    expect(await invite("one@example.com")).toMatchObject({ ok: false, failure: { code: "SIGN_IN_AGAIN" } });
  });
});

describe("status badge", () => {
  it.each(tones)("shows the tone %s with an icon, text and a colour", (tone) => {
    renderInApp(<StatusBadge tone={tone} label="Some word" />);
    const badge = screen.getByText("Some word");
    expect(badge.querySelector("svg[aria-hidden=true] > *")).not.toBeNull();
    expect(badge.className).toMatch(/\bbg-\w+-soft\b/);
  });

  it("shows a different icon for each tone", () => {
    const { container } = renderInApp(tones.map((tone) => <StatusBadge key={tone} tone={tone} label={tone} />));
    const icons = [...container.querySelectorAll("svg")].map((svg) => svg.innerHTML);
    expect(new Set(icons).size).toBe(tones.length);
  });
});

describe("job status", () => {
  it.each([
    ["executing", "Running", "run"],
    ["queued_waiting", "Pending", "wait"],
    ["success", "Completed", "ok"],
    ["lost", "Failed", "bad"],
    ["canceled", "Cancelled", "off"],
  ])("shows the service's status %s as %s", (word, expected, tone) => {
    renderInApp(<JobStatus word={word} />);
    const badge = screen.getByText(expected);
    expect(badge.dataset.tone).toBe(tone);
    expect(badge.title).toContain(word);
  });

  it("shows an unknown status unchanged", () => {
    renderInApp(<JobStatus word="simmering" />);
    expect(screen.getByText("simmering").dataset.tone).toBe("unknown");
  });
});
