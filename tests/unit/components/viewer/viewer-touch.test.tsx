// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { show, shown } from "./shown-viewer";
import { arrive, backToTheBrowser, standInForTheBrowser } from "./viewer-world";

beforeEach(standInForTheBrowser);
afterEach(cleanup);
afterEach(backToTheBrowser);

/** jsdom has no PointerEvent. */
class Finger extends MouseEvent {
  readonly pointerId: number;
  readonly pointerType = "touch";
  readonly isPrimary: boolean;
  constructor(type: string, { pointerId = 7, isPrimary = true, ...rest }: PointerEventInit) {
    super(type, rest);
    this.pointerId = pointerId;
    this.isPrimary = isPrimary;
  }
}

it("a second finger that joins a swipe begins a pinch from where the first one is", async () => {
  show();
  await arrive("one.png");
  HTMLElement.prototype.setPointerCapture = () => undefined;
  const picture = screen.getByRole("group", { name: /Picture/ });
  const touch = (type: string, clientX: number, more: PointerEventInit = {}) =>
    act(async () => void fireEvent(picture, new Finger(type, { clientX, clientY: 200, bubbles: true, ...more })));
  const transform = () => [...screen.getByAltText("one.png").style.transform.matchAll(/-?[\d.]+/g)].map(([n]) => Number(n).toFixed(3));
  const before = transform();
  await touch("pointerdown", 300);
  await touch("pointermove", 260);
  expect(transform()).not.toEqual(before);
  await touch("pointerdown", 400, { pointerId: 8, isPrimary: false });
  await touch("pointermove", 260);
  expect(transform()).toEqual(before);
  await touch("pointermove", 200);
  expect(transform()).not.toEqual(before);
});

it("a finger drawn aside turns the page while the whole picture is seen, and moves the picture where it is zoomed", async () => {
  show();
  await arrive("one.png");
  const swipe = async (from: number, to: number) => {
    const picture = screen.getByRole("group", { name: /Picture/ });
    const draw = (type: string, clientX: number) => fireEvent(picture, new Finger(type, { clientX, clientY: 200, bubbles: true }));
    await act(async () => {
      draw("pointerdown", from);
      draw("pointermove", (from + to) / 2);
      draw("pointerup", to);
    });
  };
  await swipe(300, 280);
  expect(shown()).toBe("1 of 4");
  await swipe(300, 120);
  expect(shown()).toBe("2 of 4");
  await swipe(120, 300);
  expect(shown()).toBe("1 of 4");
});
