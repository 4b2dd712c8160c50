// @vitest-environment jsdom
import "@/components/ui/toast-stack";
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { dismissToast, showToast, toastStore } from "@/components/ui/toast-store";
import { Toasts } from "@/components/ui/toasts";
import { renderInApp } from "./render";

const LONG_MS = 60_000;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  act(() => toastStore.getState().forEach(({ id }) => dismissToast(id)));
  cleanup();
  vi.useRealTimers();
});

const say = (text: string) => act(async () => showToast({ tone: "ok", text }));
const wait = () => act(() => void vi.advanceTimersByTime(LONG_MS));

it("announces a toast in an existing live region, and removes it after a while", async () => {
  renderInApp(<Toasts />);
  const region = screen.getByRole("status");
  expect(region.textContent).toBe("");
  await say("3 cancelled");
  expect(region.textContent).toContain("3 cancelled");
  wait();
  expect(region.textContent).toBe("");
});

it("keeps all toasts while one is hovered or focused", async () => {
  renderInApp(<Toasts />);
  await say("first");
  fireEvent.pointerEnter(screen.getByText("first"));
  await say("second");
  wait();
  expect(screen.getByRole("status").textContent).toContain("first");
  expect(screen.getByRole("status").textContent).toContain("second");
  fireEvent.pointerLeave(screen.getByText("first"));
  wait();
  expect(screen.getByRole("status").textContent).toBe("");

  await say("third");
  const button = screen.getByRole("button", { name: "Dismiss" });
  act(() => button.focus());
  wait();
  expect(screen.getByRole("status").textContent).toContain("third");
  // Dismissed while it stays for the focus: the next one still disappears by itself.
  fireEvent.click(button);
  await say("fourth");
  wait();
  expect(screen.getByRole("status").textContent).toBe("");
});

it("places toasts above bottom bars and beside side bars", async () => {
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
  await say("3 cancelled");
  // 8 px above the bar of actions, which is above the pager; the tray is beside it.
  const [stack] = screen.getByRole("status").children;
  expect(stack instanceof HTMLElement && stack.style.bottom).toBe(`${768 - 672 + 8}px`);
  vi.unstubAllGlobals();
});
