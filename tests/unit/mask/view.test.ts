// Which part of the picture is visible, and what the screen shows of the mask there.
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createCoarse, emptyCoverage } from "@/components/mask/drawing/coverage";
import { createSampler } from "@/components/mask/screen/surface";
import {
  createViewStore,
  fitted,
  panned,
  revealed,
  toFrame,
  toPicture,
  type View,
  watchRatio,
  zoomed,
} from "@/components/mask/screen/view-store";
import { evenly } from "@/tests/support/evenly";

const frame = { width: 800, height: 600 };
const sizes = fc.record({ width: fc.integer({ min: 1, max: 16_384 }), height: fc.integer({ min: 1, max: 4_096 }) });
const inFrame = fc.record({ x: fc.integer({ min: 0, max: 800 }), y: fc.integer({ min: 0, max: 600 }) });

describe("the view", () => {
  it("begins with all of the picture in the middle of the frame", () => {
    fc.assert(
      fc.property(sizes, (picture) => {
        const view = fitted(picture, frame);
        expect(view.x).toBeGreaterThanOrEqual(0);
        expect(view.y).toBeGreaterThanOrEqual(0);
        expect(view.x + picture.width * view.scale).toBeLessThanOrEqual(frame.width);
        expect(view.y + picture.height * view.scale).toBeLessThanOrEqual(frame.height);
      }),
    );
  });

  it("never loses the picture, whatever is zoomed and panned", () => {
    const moves = fc.array(fc.tuple(inFrame, evenly(-3000, 3000), fc.boolean()), { maxLength: 30 });
    fc.assert(
      fc.property(sizes, moves, (picture, all) => {
        let view = fitted(picture, frame);
        for (const [at, by, isZoom] of all) {
          view = isZoom ? zoomed(view, Math.exp(by / 500), at, picture, frame) : panned(view, { x: by, y: -by }, picture, frame);
          const [right, bottom] = [view.x + picture.width * view.scale, view.y + picture.height * view.scale];
          expect(Math.min(right, frame.width) - Math.max(0, view.x)).toBeGreaterThan(0);
          expect(Math.min(bottom, frame.height) - Math.max(0, view.y)).toBeGreaterThan(0);
        }
      }),
    );
  });

  it("keeps what lies under the pointer there while it zooms", () => {
    const picture = { width: 4000, height: 3000 };
    const view = fitted(picture, frame);
    const at = { x: 300, y: 200 };
    const before = toPicture(view, at);
    const after = toPicture(zoomed(view, 3, at, picture, frame), at);
    expect(after.x).toBeCloseTo(before.x, 6);
    expect(after.y).toBeCloseTo(before.y, 6);
  });

  it("follows a cursor that would leave it, and stays for one that is seen", () => {
    const picture = { width: 4000, height: 3000 };
    const view = zoomed(fitted(picture, frame), 8, { x: 400, y: 300 }, picture, frame);
    const shown = revealed(view, { x: 3999, y: 20 }, picture, frame);
    const at = toFrame(shown, { x: 3999, y: 20 });
    expect(at.x >= 0 && at.x <= 800 && at.y >= 0 && at.y <= 600).toBe(true);
    expect(revealed(shown, { x: 3999, y: 20 }, picture, frame)).toBe(shown);
  });

  it("keeps in the middle what was there when a phone is turned, and all of the picture where that was shown", () => {
    const views = createViewStore({ width: 4000, height: 3000 });
    const [tall, wide] = [
      { width: 390, height: 600 },
      { width: 844, height: 250 },
    ];
    const middle = () => toPicture(views.view(), { x: views.frame().width / 2, y: views.frame().height / 2 });
    views.resize(tall);
    views.resize(wide);
    expect(views.view()).toEqual(fitted({ width: 4000, height: 3000 }, wide));
    views.resize(tall);
    views.zoom(6, { x: 300, y: 250 });
    const before = middle();
    views.resize(wide);
    expect([middle().x, middle().y]).toEqual([expect.closeTo(before.x, 6), expect.closeTo(before.y, 6)]);
  });
});

it("another screen is reported each time, until nobody listens any more", () => {
  const queries: EventTarget[] = [];
  const matchMedia = vi.fn(() => queries[queries.push(new EventTarget()) - 1]);
  vi.stubGlobal("matchMedia", matchMedia);
  const listener = vi.fn();
  const stop = watchRatio(listener);
  for (const ratio of [2, 1]) {
    vi.stubGlobal("devicePixelRatio", ratio);
    queries.at(-1)?.dispatchEvent(new Event("change"));
    expect(matchMedia).toHaveBeenLastCalledWith(`(resolution: ${ratio}dppx)`);
  }
  expect(listener).toHaveBeenCalledTimes(2);
  stop();
  queries.at(-1)?.dispatchEvent(new Event("change"));
  expect(listener).toHaveBeenCalledTimes(2);
  vi.unstubAllGlobals();
});

describe("the mask on the screen", () => {
  const size = { width: 64, height: 48 };
  function shown(fill: (x: number, y: number) => number, view: View, kind: "overlay" | "mask" | "result" = "mask") {
    const coverage = emptyCoverage(size);
    coverage.data.forEach((_, index) => (coverage.data[index] = fill(index % size.width, Math.floor(index / size.width))));
    const coarse = createCoarse(coverage);
    coarse.update({ left: 0, top: 0, right: size.width, bottom: size.height });
    const look = { overlay: { kind, colour: [255, 0, 0] }, mask: { kind }, result: { kind, board: [255, 200] } } as const;
    const looks = {
      overlay: { kind: "overlay", colour: look.overlay.colour },
      mask: { kind: "mask" },
      result: { kind: "result", board: look.result.board },
    } as const;
    const sample = createSampler(coverage, coarse, looks[kind]);
    return (rect: { left: number; top: number; right: number; bottom: number }) => {
      const words = new Uint32Array((rect.right - rect.left) * (rect.bottom - rect.top));
      sample(view, rect, words);
      return new Uint8Array(words.buffer);
    };
  }

  it("is the mask itself at one to one, and nothing beside the picture", () => {
    const pixels = shown((x, y) => (x * 5 + y * 3) % 256, { x: 2, y: 1, scale: 1 })({ left: 0, top: 0, right: 10, bottom: 4 });
    const grey = (x: number, y: number) => [...pixels.subarray((y * 10 + x) * 4, (y * 10 + x) * 4 + 4)];
    expect(grey(5, 3)).toEqual([3 * 5 + 2 * 3, 3 * 5 + 2 * 3, 3 * 5 + 2 * 3, 255]);
    expect([grey(1, 3), grey(5, 0)]).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  it("shows half of a fine pattern as half, from afar too", () => {
    for (const scale of [0.5, 0.25, 0.125]) {
      const pixels = shown((x) => (x % 2 === 0 ? 255 : 0), { x: 0, y: 0, scale })({ left: 1, top: 1, right: 5, bottom: 4 });
      for (let at = 0; at < pixels.length; at += 4) expect(Math.abs((pixels[at] ?? 0) - 128)).toBeLessThan(3);
    }
  });

  it("is as strong in the overlay's colour as it is painted, and a board of squares where it is cut out", () => {
    const overlay = shown(() => 77, { x: 0, y: 0, scale: 1 }, "overlay")({ left: 0, top: 0, right: 1, bottom: 1 });
    expect([...overlay]).toEqual([255, 0, 0, 77]);
    const board = shown(() => 255, { x: 0, y: 0, scale: 1 }, "result")({ left: 7, top: 0, right: 9, bottom: 1 });
    expect([...board]).toEqual([255, 255, 255, 255, 200, 200, 200, 255]);
  });
});
