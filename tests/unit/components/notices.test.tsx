import "@/components/ui/toast-stack";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, test, vi } from "vitest";
import { ConfirmGate } from "@/components/frame/account/confirm-gate";
import { JobStatus } from "@/components/frame/job-status";
import { ClearResult } from "@/components/jobs/queue/queue-screen";
import { StatusBadge, tones } from "@/components/ui/status-badge";
import { dismissToast, showToast, toastStore } from "@/components/ui/toast-store";
import { Toasts } from "@/components/ui/toasts";
import { callApi } from "@/lib/browser/api";
import { renderInApp } from "./render";
import { advanceTime, renderScreen } from "./render-screen";

describe("toasts", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    act(() => toastStore.getState().forEach(({ id }) => dismissToast(id)));
  });

  const showText = (text: string) => act(async () => showToast({ tone: "ok", text }));
  const waitLong = () => advanceTime(60_000);

  it("announces a toast in the live region and removes it after a while", async () => {
    renderInApp(<Toasts />);
    const region = screen.getByRole("status");
    expect(region.textContent).toBe("");
    await showText("3 cancelled");
    expect(region.textContent).toContain("3 cancelled");
    await waitLong();
    expect(region.textContent).toBe("");
  });

  it("keeps all toasts when one is hovered or focused", async () => {
    renderInApp(<Toasts />);
    await showText("first");
    fireEvent.pointerEnter(screen.getByText("first"));
    await showText("second");
    await waitLong();
    expect(screen.getByRole("status").textContent).toContain("first");
    expect(screen.getByRole("status").textContent).toContain("second");
    fireEvent.pointerLeave(screen.getByText("first"));
    await waitLong();
    expect(screen.getByRole("status").textContent).toBe("");

    await showText("third");
    await showText("another");
    const [button = document.body] = screen.getAllByRole("button", { name: "Dismiss" });
    act(() => button.focus());
    await waitLong();
    expect(screen.getByRole("status").textContent).toContain("third");
    // Dismissing the focused toast resumes the timers of the others.
    fireEvent.click(button);
    await showText("fourth");
    await waitLong();
    expect(screen.getByRole("status").textContent).toBe("");
  });

  it("places toasts above bottom bars and next to side bars", async () => {
    const boxesById: Record<string, [left: number, top: number, right: number, bottom: number]> = {
      pager: [200, 724, 1440, 768],
      bar: [400, 672, 800, 712],
      tray: [964, 300, 1424, 712],
    };
    vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
      const [left, top, right, bottom] = boxesById[this.id] ?? [500, 700, 900, 736];
      return new DOMRect(left, top, right - left, bottom - top);
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

const confirmed = (deleted: number | undefined) => {
  const ids = deleted === undefined ? undefined : Array.from({ length: deleted }, (_, index) => `job-${index}`);
  return { kind: "confirmed" as const, response: { deleted: ids, cleared: false } };
};
const unconfirmed = (remainingCount: number) => ({ kind: "unconfirmed" as const, remainingCount });

it.each([
  [10, confirmed(8), 0, "8 cancelled, 2 had already started"],
  [3, confirmed(3), 0, "3 cancelled"],
  [2, confirmed(3), 0, "3 cancelled"],
  [3, unconfirmed(0), 0, "None of the 3 jobs is waiting. The service's response was lost"],
  [3, unconfirmed(3), 3, "3 jobs are still waiting. The service's response was lost"],
  [1, confirmed(undefined), 0, "The job is no longer waiting. The service does not report which jobs it cancelled"],
  [3, confirmed(0), 0, "None of the 3 jobs is waiting. The service does not report which jobs it cancelled"],
  [3, confirmed(undefined), 2, "2 jobs are still waiting. The service does not report which jobs it cancelled"],
])("shows the result of clearing %i jobs: %j, %i waiting", (requestedCount, outcome, waitingCount, text) => {
  renderInApp(<ClearResult requestedCount={requestedCount} outcome={outcome} waitingCount={waitingCount} onDismiss={() => undefined} />);
  expect(screen.getByRole("status").textContent).toBe(text);
});

describe("confirmation", () => {
  const bodies: unknown[] = [];
  let responses: Response[] = [];
  const createRefusal = (code: string, status: number, message = "") => Response.json({ code, message }, { status });
  const createdResponse = () => Response.json({ id: "made" }, { status: 201 });

  // The page loads the dialog at the first refusal. The test loads it beforehand.
  beforeAll(() => import("@/components/frame/account/confirm-dialog"));
  beforeEach(() => {
    bodies.length = 0;
    vi.stubGlobal("fetch", async (_path: string, { body }: RequestInit = {}) => {
      if (typeof body === "string") bodies.push(JSON.parse(body));
      return responses.shift() ?? new Response(null, { status: 204 });
    });
  });

  const show = () => renderScreen(<ConfirmGate email="ana@example.com" methods={{ password: true, providers: [] }} />);
  const invite = (email: string) => callApi("/api/console/members/invitations", { method: "POST", json: { email } });
  const findDialog = async () => within(await waitFor(() => screen.getByRole("dialog", { name: "Confirm it's you" }), { timeout: 10_000 }));
  async function enterPassword(password: string) {
    const confirmation = await findDialog();
    fireEvent.change(confirmation.getByLabelText("Password"), { target: { value: password } });
    await act(async () => fireEvent.click(confirmation.getByRole("button", { name: "Confirm" })));
  }

  test("asks for the password once and repeats every waiting request", async () => {
    responses = [createRefusal("SIGN_IN_AGAIN", 403), createRefusal("SIGN_IN_AGAIN", 403)];
    await show();
    const results = Promise.all([invite("one@example.com"), invite("two@example.com")]);
    responses.push(createRefusal("INVALID_BODY", 400, "password: is not your current password"));
    await enterPassword("guess");
    expect((await findDialog()).getByText("This is not your password.")).toBeDefined();
    responses = [new Response(null, { status: 204 }), createdResponse(), createdResponse()];
    await enterPassword("the right one");
    expect((await results).map(({ ok }) => ok)).toEqual([true, true]);
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(bodies).toEqual([
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
    await show();
    const result = invite("one@example.com");
    const confirmation = await findDialog();
    await act(async () => fireEvent.click(confirmation.getByRole("button", { name: "Cancel" })));
    expect(await result).toMatchObject({ ok: false, failure: { code: "SIGN_IN_AGAIN" } });
    expect(bodies).toHaveLength(1);
  });

  test("returns the refusal when no dialog is shown", async () => {
    responses = [createRefusal("SIGN_IN_AGAIN", 403)];
    expect(await invite("one@example.com")).toMatchObject({ ok: false, failure: { code: "SIGN_IN_AGAIN" } });
  });
});

it("shows each tone of a badge with its own icon, text and a colour", () => {
  renderInApp(tones.map((tone) => <StatusBadge key={tone} tone={tone} label={tone} />));
  const badges = tones.map((tone) => screen.getByText(tone));
  for (const badge of badges) expect(badge.className).toMatch(/\bbg-\w+-soft\b/);
  const icons = badges.map((badge) => badge.querySelector("svg[aria-hidden=true]")?.innerHTML ?? "");
  expect(icons).not.toContain("");
  expect(new Set(icons).size).toBe(tones.length);
});

it.each([
  ["executing", "Running", "run"],
  ["queued_waiting", "Pending", "wait"],
  ["success", "Completed", "ok"],
  ["lost", "Failed", "bad"],
  ["canceled", "Cancelled", "off"],
  ["simmering", "simmering", "unknown"],
])("shows the service's status %s as %s", (word, expected, tone) => {
  renderInApp(<JobStatus word={word} />);
  const badge = screen.getByText(expected);
  expect(badge.dataset.tone).toBe(tone);
  expect(`${badge.title} ${badge.textContent}`).toContain(word);
});
