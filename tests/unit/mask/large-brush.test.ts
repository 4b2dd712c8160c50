// A brush so large that it is drawn coarsely while it moves: its pixels follow, and its end is computed in slices.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyCoverage } from "@/components/mask/drawing/coverage";
import { wholeOf } from "@/components/mask/drawing/geometry";
import { createMaskDocument } from "@/components/mask/drawing/mask-document";

const pen = (x: number, y: number) => ({ x, y, pressure: 1 });

describe("a large brush", () => {
  const large = { width: 1500, height: 1100 };
  const brush = { diameter: 400, hardness: 0.3, isErasing: false };
  const way = [pen(300, 300), pen(700, 420), pen(720, 800), pen(1200, 500), pen(400, 500)] as const;
  const looks = fc.array(fc.boolean(), { minLength: way.length, maxLength: way.length });

  it("seen from afar or from near, by turns, leaves the same pixels and means, and says all that changed", () => {
    const expected = createMaskDocument(emptyCoverage(large));
    const points = fc.array(fc.record({ x: fc.integer({ min: -100, max: 1600 }), y: fc.integer({ min: -100, max: 1200 }) }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(points, looks, fc.boolean(), (places, isFar, isErasing) => {
        const path = places.map(({ x, y }) => pen(x, y));
        const drawing = createMaskDocument(emptyCoverage(large));
        for (const document of [expected, drawing]) {
          document.coverage.data.fill(isErasing ? 255 : 0);
          document.coarse.update(wholeOf(large));
        }
        const shown = drawing.coarse.data.slice();
        drawing.onPaint(({ left, top, right, bottom }) => {
          for (let y = Math.floor(top / 4); y < Math.min(275, Math.ceil(bottom / 4)); y += 1) {
            const [from, to] = [Math.floor(left / 4), Math.min(375, Math.ceil(right / 4))];
            shown.set(drawing.coarse.data.subarray(y * 375 + from, y * 375 + to), y * 375 + from);
          }
        });
        for (const [document, far] of [
          [expected, [] as readonly boolean[]],
          [drawing, isFar],
        ] as const) {
          document.begin({ ...brush, isErasing }, path[0] ?? pen(0, 0), far[0]);
          for (const [index, point] of path.entries()) document.extend([point], far[index]);
          document.end();
        }
        expect(Buffer.compare(drawing.coverage.data, expected.coverage.data)).toBe(0);
        expect(Buffer.compare(drawing.coarse.data, expected.coarse.data)).toBe(0);
        expect(Buffer.compare(shown, drawing.coarse.data)).toBe(0);
        expect(drawing.state().paintedShare).toBe(expected.state().paintedShare);
      }),
      { numRuns: 8 },
    );
  });

  it("that ends in slices leaves what it would have left at once, shows no less meanwhile, and is one step of the history", async () => {
    let clock = 0;
    const between: unknown[] = [];
    const sliced = createMaskDocument(emptyCoverage(large), {
      // Each reading of the clock ends a slice.
      now: () => (clock += 20),
      pause: async () => void between.push([sliced.coarse.data[200 * 375 + 180], sliced.state().undo]),
    });
    const whole = createMaskDocument(emptyCoverage(large));
    for (const drawing of [whole, sliced]) {
      drawing.begin(brush, way[0], true);
      for (const point of way.slice(1)) drawing.extend([point], true);
    }
    whole.end();
    await sliced.endInSlices();
    expect(between.length).toBeGreaterThan(10);
    expect(between).toEqual(between.map(() => [255, undefined]));
    expect(Buffer.compare(sliced.coverage.data, whole.coverage.data)).toBe(0);
    expect(Buffer.compare(sliced.coarse.data, whole.coarse.data)).toBe(0);
    expect(sliced.state()).toEqual(whole.state());
    await sliced.undo();
    expect(sliced.coverage.data.every((value) => value === 0)).toBe(true);
    expect(sliced.state()).toMatchObject({ undo: undefined, redo: "brush", isUnsaved: false });
  });

  it("that ends in slices keeps nothing waiting: the next stroke and an undo find it ended", async () => {
    let clock = 0;
    const drawing = createMaskDocument(emptyCoverage(large), { now: () => (clock += 20) });
    drawing.begin(brush, way[0], true);
    drawing.extend(way.slice(1), true);
    const first = drawing.endInSlices();
    expect(drawing.begin({ ...brush, isErasing: true }, way[1], true)).toBe(true);
    const second = drawing.endInSlices();
    await drawing.undo();
    await Promise.all([first, second]);
    expect(drawing.state()).toMatchObject({ undo: "brush", redo: "eraser", isUnsaved: true });
    await drawing.undo();
    expect(drawing.coverage.data.every((value) => value === 0)).toBe(true);
  });

  it("that has not quite ended is ended in slices too when it is undone, copied or filled around at once", async () => {
    let clock = 0;
    let pauses = 0;
    const drawing = createMaskDocument(emptyCoverage(large), { now: () => (clock += 20), pause: async () => void (pauses += 1) });
    drawing.begin(brush, way[0], true);
    drawing.extend(way.slice(1), true);
    void drawing.endInSlices();
    const [before, copying] = [pauses, drawing.snapshot()];
    const copy = await copying;
    expect(pauses - before).toBeGreaterThan(10);
    expect(Buffer.compare(copy?.data ?? new Uint8Array(), drawing.coverage.data)).toBe(0);
    expect([copy?.data[800 * 1500 + 720], drawing.state().undo]).toEqual([255, "brush"]);
  });

  it("is seen from afar where it is while it moves, and gone without a trace when it is dropped", () => {
    const drawing = createMaskDocument(emptyCoverage(large));
    const mean = (x: number, y: number) => drawing.coarse.data[Math.floor(y / 4) * 375 + Math.floor(x / 4)] ?? -1;
    drawing.begin(brush, way[0], true);
    expect(mean(300, 300)).toBe(255);
    for (const point of way.slice(1)) {
      drawing.extend([point], true);
      expect(mean(point.x, point.y)).toBe(255);
    }
    drawing.drop();
    expect(drawing.coverage.data.every((value) => value === 0)).toBe(true);
    expect(drawing.coarse.data.every((value) => value === 0)).toBe(true);
    expect([drawing.state().undo, drawing.coarse.paintedShare()]).toEqual([undefined, 0]);
  });
});
