// The visible part of the picture, and how the mask is displayed there.
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createCoarse, emptyCoverage } from "@/components/mask/drawing/coverage";
import {
  createViewStore,
  fitted,
  panView,
  revealPoint,
  toFrame,
  toPicture,
  type View,
  watchRatio,
  zoomed,
} from "@/components/mask/screen/painter";
import { createSampler } from "@/components/mask/screen/surface";
import { type Contact, handleContact, type Move, noPointers } from "@/components/mask/screen/use-input";
import { evenly } from "@/tests/support/evenly";

const frame = { width: 800, height: 600 };
const sizes = fc.record({ width: fc.integer({ min: 1, max: 16_384 }), height: fc.integer({ min: 1, max: 4_096 }) });
const inFrame = fc.record({ x: fc.integer({ min: 0, max: 800 }), y: fc.integer({ min: 0, max: 600 }) });

describe("the view", () => {
  it("starts with the whole picture centred in the frame", () => {
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

  it("never loses the picture by zooming and panning", () => {
    const moves = fc.array(fc.tuple(inFrame, evenly(-3000, 3000), fc.boolean()), { maxLength: 30 });
    fc.assert(
      fc.property(sizes, moves, (picture, all) => {
        let view = fitted(picture, frame);
        for (const [at, by, isZoom] of all) {
          view = isZoom ? zoomed(view, Math.exp(by / 500), at, picture, frame) : panView(view, { x: by, y: -by }, picture, frame);
          const [right, bottom] = [view.x + picture.width * view.scale, view.y + picture.height * view.scale];
          expect(Math.min(right, frame.width) - Math.max(0, view.x)).toBeGreaterThan(0);
          expect(Math.min(bottom, frame.height) - Math.max(0, view.y)).toBeGreaterThan(0);
        }
      }),
    );
  });

  it("keeps the pixel under the pointer while zooming", () => {
    const picture = { width: 4000, height: 3000 };
    const view = fitted(picture, frame);
    const at = { x: 300, y: 200 };
    const before = toPicture(view, at);
    const after = toPicture(zoomed(view, 3, at, picture, frame), at);
    expect(after.x).toBeCloseTo(before.x, 6);
    expect(after.y).toBeCloseTo(before.y, 6);
  });

  it("pans when the cursor leaves the view, and not otherwise", () => {
    const picture = { width: 4000, height: 3000 };
    const view = zoomed(fitted(picture, frame), 8, { x: 400, y: 300 }, picture, frame);
    const viewport = revealPoint(view, { x: 3999, y: 20 }, picture, frame);
    const at = toFrame(viewport, { x: 3999, y: 20 });
    expect(at.x >= 0 && at.x <= 800 && at.y >= 0 && at.y <= 600).toBe(true);
    expect(revealPoint(viewport, { x: 3999, y: 20 }, picture, frame)).toBe(viewport);
  });

  it("keeps its centre when a phone rotates, or the whole picture if shown", () => {
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

it("reports each screen until unsubscribed", () => {
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
});

describe("the mask on the screen", () => {
  const size = { width: 64, height: 48 };
  function renderMask(fill: (x: number, y: number) => number, view: View, kind: "overlay" | "mask" | "result" = "mask") {
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

  it("matches the mask at one to one, with nothing around the picture", () => {
    const pixels = renderMask((x, y) => (x * 5 + y * 3) % 256, { x: 2, y: 1, scale: 1 })({ left: 0, top: 0, right: 10, bottom: 4 });
    const grey = (x: number, y: number) => [...pixels.subarray((y * 10 + x) * 4, (y * 10 + x) * 4 + 4)];
    expect(grey(5, 3)).toEqual([3 * 5 + 2 * 3, 3 * 5 + 2 * 3, 3 * 5 + 2 * 3, 255]);
    expect([grey(1, 3), grey(5, 0)]).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  it("shows half of a fine pattern as half, from afar too", () => {
    for (const scale of [0.5, 0.25, 0.125]) {
      const pixels = renderMask((x) => (x % 2 === 0 ? 255 : 0), { x: 0, y: 0, scale })({ left: 1, top: 1, right: 5, bottom: 4 });
      for (let at = 0; at < pixels.length; at += 4) expect(Math.abs((pixels[at] ?? 0) - 128)).toBeLessThan(3);
    }
  });

  it("shows as colour by strength, and as a checkerboard when cut out", () => {
    const overlay = renderMask(() => 77, { x: 0, y: 0, scale: 1 }, "overlay")({ left: 0, top: 0, right: 1, bottom: 1 });
    expect([...overlay]).toEqual([255, 0, 0, 77]);
    const board = renderMask(() => 255, { x: 0, y: 0, scale: 1 }, "result")({ left: 7, top: 0, right: 9, bottom: 1 });
    expect([...board]).toEqual([255, 255, 255, 255, 200, 200, 200, 255]);
  });
});

type Short = Partial<Contact> & { kind: Contact["kind"]; at?: { x: number; y: number } };

/** The resulting actions in short: what happens, and to which pointer. */
function play(...contacts: Short[]): string[] {
  let pointers = noPointers;
  const all: Move[] = [];
  for (const contact of contacts) {
    const next = handleContact(pointers, { id: 1, device: "mouse", button: 0, wantsPan: false, at: { x: 0, y: 0 }, ...contact });
    pointers = next.pointers;
    all.push(...next.moves);
  }
  return all.map((move) => ("id" in move ? `${move.do} ${move.id}` : move.do));
}
const finger = (kind: Contact["kind"], id: number, x = 0, y = 0): Short => ({ kind, id, device: "touch", at: { x, y } });
const pen = (kind: Contact["kind"], x = 0, y = 0, button = 0): Short => ({ kind, id: 9, device: "pen", at: { x, y }, button });

describe("a mouse", () => {
  it("draws with its left button, from press to release", () => {
    expect(play({ kind: "move" }, { kind: "down" }, { kind: "move", at: { x: 5, y: 0 } }, { kind: "up" }, { kind: "move" })).toEqual([
      "begin 1",
      "extend 1",
      "end",
    ]);
  });

  it("pans with the middle button, Space or the hand tool", () => {
    expect(play({ kind: "down", button: 1 }, { kind: "move", at: { x: 5, y: 5 } }, { kind: "up" })).toEqual(["pan"]);
    expect(play({ kind: "down", wantsPan: true }, { kind: "move" }, { kind: "up" })).toEqual(["pan"]);
  });

  it("ignores the right button and drops a cancelled pointer", () => {
    expect(play({ kind: "down", button: 2 }, { kind: "move" }, { kind: "up" })).toEqual([]);
    expect(play({ kind: "down" }, { kind: "move" }, { kind: "cancel" })).toEqual(["begin 1", "extend 1", "drop"]);
  });
});

describe("fingers", () => {
  it("draws with one finger and pans or zooms with two", () => {
    expect(
      play(
        finger("down", 1),
        finger("move", 1, 4),
        finger("down", 2, 100),
        finger("move", 2, 140),
        finger("up", 1),
        finger("move", 2, 150),
      ),
    ).toEqual(["begin 1", "extend 1", "drop", "pinch"]);
  });

  it("end the stroke when the second one is late", () => {
    expect(play(finger("down", 1), finger("move", 1, 90), finger("down", 2, 200))).toEqual(["begin 1", "extend 1", "end"]);
  });

  it("zoom around their centre", () => {
    let { pointers } = handleContact(noPointers, { ...base, id: 1, kind: "down", at: { x: 0, y: 0 } });
    pointers = handleContact(pointers, { ...base, id: 2, kind: "down", at: { x: 100, y: 0 } }).pointers;
    expect(handleContact(pointers, { ...base, id: 2, kind: "move", at: { x: 200, y: 0 } }).moves).toEqual([
      { do: "pinch", at: { x: 100, y: 0 }, by: { x: 50, y: 0 }, factor: 2 },
    ]);
  });
  const base = { device: "touch", button: 0, wantsPan: false } as const;
});

describe("a pen", () => {
  it("rejects an earlier palm touch and undoes its strokes", () => {
    expect(
      play(finger("down", 1), finger("move", 1, 40), pen("down"), finger("move", 1, 80), pen("move", 3), finger("up", 1), pen("up")),
    ).toEqual(["begin 1", "extend 1", "drop", "begin 9", "extend 9", "end"]);
  });

  it("ignores the palm", () => {
    expect(play(pen("down"), finger("down", 1), finger("down", 2, 50), finger("move", 2, 90), pen("move", 5), pen("up"))).toEqual([
      "begin 9",
      "extend 9",
      "end",
    ]);
  });

  it("pans with one finger after the first pen stroke", () => {
    expect(play(pen("down"), pen("up"), finger("down", 1), finger("move", 1, 30), finger("up", 1))).toEqual(["begin 9", "end", "pan"]);
  });

  it("erases with the pen's other end", () => {
    const { moves } = handleContact(noPointers, { kind: "down", id: 9, device: "pen", button: 5, at: { x: 1, y: 2 }, wantsPan: false });
    expect(moves).toEqual([{ do: "begin", at: { x: 1, y: 2 }, id: 9, isEraser: true }]);
  });
});
