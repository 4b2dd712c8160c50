// The visible part of the image, the displayed mask and pointer input.
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createCoarseCoverage, createCoverage } from "@/components/mask/drawing/coverage";
import {
  createViewStore,
  fitView,
  panView,
  revealPoint,
  subscribeToDeviceRatio,
  toFramePoint,
  toImagePoint,
  type View,
  zoomView,
} from "@/components/mask/screen/painter";
import { createSampler } from "@/components/mask/screen/surface";
import { type Contact, handleContact, type Move, noPointers } from "@/components/mask/screen/use-input";
import { uniformFloat } from "@/tests/support/uniform-float";

const frame = { width: 800, height: 600 };
const sizes = fc.record({ width: fc.integer({ min: 1, max: 16_384 }), height: fc.integer({ min: 1, max: 4_096 }) });
const anyFramePoint = fc.record({ x: fc.integer({ min: 0, max: 800 }), y: fc.integer({ min: 0, max: 600 }) });

describe("the view", () => {
  it("starts with the whole image centered in the frame", () => {
    fc.assert(
      fc.property(sizes, (picture) => {
        const view = fitView(picture, frame);
        expect(view.x).toBeGreaterThanOrEqual(0);
        expect(view.y).toBeGreaterThanOrEqual(0);
        expect(view.x + picture.width * view.scale).toBeLessThanOrEqual(frame.width);
        expect(view.y + picture.height * view.scale).toBeLessThanOrEqual(frame.height);
      }),
    );
  });

  it("keeps part of the image visible when zooming and panning", () => {
    const moves = fc.array(fc.tuple(anyFramePoint, uniformFloat(-3000, 3000), fc.boolean()), { maxLength: 30 });
    fc.assert(
      fc.property(sizes, moves, (picture, steps) => {
        let view = fitView(picture, frame);
        for (const [point, distance, isZoom] of steps) {
          view = isZoom
            ? zoomView(view, Math.exp(distance / 500), point, picture, frame)
            : panView(view, { x: distance, y: -distance }, picture, frame);
          const [right, bottom] = [view.x + picture.width * view.scale, view.y + picture.height * view.scale];
          expect(Math.min(right, frame.width) - Math.max(0, view.x)).toBeGreaterThan(0);
          expect(Math.min(bottom, frame.height) - Math.max(0, view.y)).toBeGreaterThan(0);
        }
      }),
    );
  });

  it("keeps the pixel under the pointer while zooming", () => {
    const picture = { width: 4000, height: 3000 };
    const view = fitView(picture, frame);
    const at = { x: 300, y: 200 };
    const before = toImagePoint(view, at);
    const after = toImagePoint(zoomView(view, 3, at, picture, frame), at);
    expect(after.x).toBeCloseTo(before.x, 6);
    expect(after.y).toBeCloseTo(before.y, 6);
  });

  it("pans only when the cursor leaves the view", () => {
    const picture = { width: 4000, height: 3000 };
    const view = zoomView(fitView(picture, frame), 8, { x: 400, y: 300 }, picture, frame);
    const viewport = revealPoint(view, { x: 3999, y: 20 }, picture, frame);
    const at = toFramePoint(viewport, { x: 3999, y: 20 });
    expect(at.x >= 0 && at.x <= 800 && at.y >= 0 && at.y <= 600).toBe(true);
    expect(revealPoint(viewport, { x: 3999, y: 20 }, picture, frame)).toBe(viewport);
  });

  it("keeps the center or the whole image when a phone rotates", () => {
    const views = createViewStore({ width: 4000, height: 3000 });
    const [tall, wide] = [
      { width: 390, height: 600 },
      { width: 844, height: 250 },
    ];
    const getCenter = () => toImagePoint(views.getView(), { x: views.getFrame().width / 2, y: views.getFrame().height / 2 });
    views.resize(tall);
    views.resize(wide);
    expect(views.getView()).toEqual(fitView({ width: 4000, height: 3000 }, wide));
    views.resize(tall);
    views.zoom(6, { x: 300, y: 250 });
    const before = getCenter();
    views.resize(wide);
    expect([getCenter().x, getCenter().y]).toEqual([expect.closeTo(before.x, 6), expect.closeTo(before.y, 6)]);
  });
});

it("reports pixel ratio changes until unsubscribed", () => {
  const queries: EventTarget[] = [];
  const matchMedia = vi.fn(() => queries[queries.push(new EventTarget()) - 1]);
  vi.stubGlobal("matchMedia", matchMedia);
  const listener = vi.fn();
  const stop = subscribeToDeviceRatio(listener);
  for (const ratio of [2, 1]) {
    vi.stubGlobal("devicePixelRatio", ratio);
    queries.at(-1)?.dispatchEvent(new Event("change"));
    expect(matchMedia).toHaveBeenLastCalledWith(`(resolution: ${ratio}dppx)`);
  }
  expect(listener).toHaveBeenCalledTimes(2);
  stop();
  queries.at(-1)?.dispatchEvent(new Event("change"));
  expect(listener).toHaveBeenCalledTimes(2);
});

describe("displaying the mask", () => {
  const size = { width: 64, height: 48 };
  function renderMask(fill: (x: number, y: number) => number, view: View, kind: "overlay" | "mask" | "result" = "mask") {
    const coverage = createCoverage(size);
    coverage.data.forEach((_, index) => (coverage.data[index] = fill(index % size.width, Math.floor(index / size.width))));
    const coarse = createCoarseCoverage(coverage);
    coarse.update({ left: 0, top: 0, right: size.width, bottom: size.height });
    const looks = {
      overlay: { kind: "overlay", colour: [255, 0, 0] },
      mask: { kind: "mask" },
      result: { kind: "result", board: [255, 200] },
    } as const;
    const sample = createSampler(coverage, coarse, looks[kind]);
    return (rect: { left: number; top: number; right: number; bottom: number }) => {
      const pixelWords = new Uint32Array((rect.right - rect.left) * (rect.bottom - rect.top));
      sample(view, rect, pixelWords);
      return new Uint8Array(pixelWords.buffer);
    };
  }

  it("matches the mask at 1:1 with transparent pixels around the image", () => {
    const pixels = renderMask((x, y) => (x * 5 + y * 3) % 256, { x: 2, y: 1, scale: 1 })({ left: 0, top: 0, right: 10, bottom: 4 });
    const getPixel = (x: number, y: number) => [...pixels.subarray((y * 10 + x) * 4, (y * 10 + x) * 4 + 4)];
    expect(getPixel(5, 3)).toEqual([3 * 5 + 2 * 3, 3 * 5 + 2 * 3, 3 * 5 + 2 * 3, 255]);
    expect([getPixel(1, 3), getPixel(5, 0)]).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  it("averages a fine pattern when zoomed out", () => {
    for (const scale of [0.5, 0.25, 0.125]) {
      const pixels = renderMask((x) => (x % 2 === 0 ? 255 : 0), { x: 0, y: 0, scale })({ left: 1, top: 1, right: 5, bottom: 4 });
      for (let index = 0; index < pixels.length; index += 4) expect(Math.abs((pixels[index] ?? 0) - 128)).toBeLessThan(3);
    }
  });

  it("draws the overlay by strength and the result with a checkerboard", () => {
    const overlay = renderMask(() => 77, { x: 0, y: 0, scale: 1 }, "overlay")({ left: 0, top: 0, right: 1, bottom: 1 });
    expect([...overlay]).toEqual([255, 0, 0, 77]);
    const board = renderMask(() => 255, { x: 0, y: 0, scale: 1 }, "result")({ left: 7, top: 0, right: 9, bottom: 1 });
    expect([...board]).toEqual([255, 255, 255, 255, 200, 200, 200, 255]);
  });
});

type ContactInput = Partial<Contact> & { kind: Contact["kind"] };

/** Returns the resulting moves with their pointer ids. */
function handleContacts(...contacts: ContactInput[]): string[] {
  let pointers = noPointers;
  const all: Move[] = [];
  for (const contact of contacts) {
    const next = handleContact(pointers, { id: 1, device: "mouse", button: 0, wantsPan: false, at: { x: 0, y: 0 }, ...contact });
    pointers = next.pointers;
    all.push(...next.moves);
  }
  return all.map((move) => ("id" in move ? `${move.do} ${move.id}` : move.do));
}
const touch = (kind: Contact["kind"], id: number, x = 0): ContactInput => ({ kind, id, device: "touch", at: { x, y: 0 } });
const pen = (kind: Contact["kind"], x = 0): ContactInput => ({ kind, id: 9, device: "pen", at: { x, y: 0 } });
const move: ContactInput = { kind: "move" };
const up: ContactInput = { kind: "up" };

it.each<[string, ContactInput[], string[]]>([
  ["draws with the left mouse button from press to release", [move, { kind: "down" }, move, up, move], ["begin 1", "extend 1", "end"]],
  ["pans with the middle button", [{ kind: "down", button: 1 }, { kind: "move", at: { x: 5, y: 5 } }, up], ["pan"]],
  ["pans with Space or the hand tool", [{ kind: "down", wantsPan: true }, move, up], ["pan"]],
  ["ignores the right button", [{ kind: "down", button: 2 }, move, up], []],
  ["drops a cancelled pointer", [{ kind: "down" }, move, { kind: "cancel" }], ["begin 1", "extend 1", "drop"]],
  [
    "draws with one finger and pans or zooms with two",
    [touch("down", 1), touch("move", 1, 4), touch("down", 2, 100), touch("move", 2, 140), touch("up", 1), touch("move", 2, 150)],
    ["begin 1", "extend 1", "drop", "pinch"],
  ],
  [
    "ends the stroke when the second finger is late",
    [touch("down", 1), touch("move", 1, 90), touch("down", 2, 200)],
    ["begin 1", "extend 1", "end"],
  ],
  [
    "undoes the strokes of an earlier palm touch when a pen draws",
    [touch("down", 1), touch("move", 1, 40), pen("down"), touch("move", 1, 80), pen("move", 3), touch("up", 1), pen("up")],
    ["begin 1", "extend 1", "drop", "begin 9", "extend 9", "end"],
  ],
  [
    "ignores a palm touch during a pen stroke",
    [pen("down"), touch("down", 1), touch("down", 2, 50), touch("move", 2, 90), pen("move", 5), pen("up")],
    ["begin 9", "extend 9", "end"],
  ],
  [
    "pans with one finger after the first pen stroke",
    [pen("down"), pen("up"), touch("down", 1), touch("move", 1, 30), touch("up", 1)],
    ["begin 9", "end", "pan"],
  ],
])("%s", (_, contacts, moves) => {
  expect(handleContacts(...contacts)).toEqual(moves);
});

it("zooms around the center of two fingers", () => {
  const contact = { device: "touch", button: 0, wantsPan: false } as const;
  let { pointers } = handleContact(noPointers, { ...contact, id: 1, kind: "down", at: { x: 0, y: 0 } });
  pointers = handleContact(pointers, { ...contact, id: 2, kind: "down", at: { x: 100, y: 0 } }).pointers;
  expect(handleContact(pointers, { ...contact, id: 2, kind: "move", at: { x: 200, y: 0 } }).moves).toEqual([
    { do: "pinch", at: { x: 100, y: 0 }, by: { x: 50, y: 0 }, factor: 2 },
  ]);
});

it("erases with the pen's eraser end", () => {
  const { moves } = handleContact(noPointers, { kind: "down", id: 9, device: "pen", button: 5, at: { x: 1, y: 2 }, wantsPan: false });
  expect(moves).toEqual([{ do: "begin", at: { x: 1, y: 2 }, id: 9, isEraser: true }]);
});
