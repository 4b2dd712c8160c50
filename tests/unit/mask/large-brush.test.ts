// A large brush is drawn coarsely while it moves. Its pixels follow, and its end is computed in slices.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactTile, copyTile, emptyCoverage, findTiles, fullRect, putTile, tileRect } from "@/components/mask/drawing/coverage";
import { createMaskDocument } from "@/components/mask/drawing/mask-document";

const pen = (x: number, y: number) => ({ x, y, pressure: 1 });

describe("a large brush", () => {
  const large = { width: 1500, height: 1100 };
  const brush = { diameter: 400, hardness: 0.3, isErasing: false };
  const strokePath = [pen(300, 300), pen(700, 420), pen(720, 800), pen(1200, 500), pen(400, 500)] as const;
  const looks = fc.array(fc.boolean(), { minLength: strokePath.length, maxLength: strokePath.length });

  it("paints the same pixels at any zoom and reports all changes", () => {
    const expected = createMaskDocument(emptyCoverage(large));
    const points = fc.array(fc.record({ x: fc.integer({ min: -100, max: 1600 }), y: fc.integer({ min: -100, max: 1200 }) }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(points, looks, fc.boolean(), (points, isFar, isErasing) => {
        const path = points.map(({ x, y }) => pen(x, y));
        const drawing = createMaskDocument(emptyCoverage(large));
        for (const document of [expected, drawing]) {
          document.coverage.data.fill(isErasing ? 255 : 0);
          document.coarse.update(fullRect(large));
        }
        const bytes = drawing.coarse.data.slice();
        drawing.onPaint(({ left, top, right, bottom }) => {
          for (let y = Math.floor(top / 4); y < Math.min(275, Math.ceil(bottom / 4)); y += 1) {
            const [from, to] = [Math.floor(left / 4), Math.min(375, Math.ceil(right / 4))];
            bytes.set(drawing.coarse.data.subarray(y * 375 + from, y * 375 + to), y * 375 + from);
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
        expect(Buffer.compare(bytes, drawing.coarse.data)).toBe(0);
        expect(drawing.state().paintedShare).toBe(expected.state().paintedShare);
      }),
      { numRuns: 8 },
    );
  });

  it("paints equal pixels in slices, as one history step", async () => {
    let clock = 0;
    const between: unknown[] = [];
    const sliced = createMaskDocument(emptyCoverage(large), {
      // Each reading of the clock ends a slice.
      now: () => (clock += 20),
      pause: async () => void between.push([sliced.coarse.data[200 * 375 + 180], sliced.state().undo]),
    });
    const maskDocument = createMaskDocument(emptyCoverage(large));
    for (const drawing of [maskDocument, sliced]) {
      drawing.begin(brush, strokePath[0], true);
      for (const point of strokePath.slice(1)) drawing.extend([point], true);
    }
    maskDocument.end();
    await sliced.endInSlices();
    expect(between.length).toBeGreaterThan(10);
    expect(between).toEqual(between.map(() => [255, undefined]));
    expect(Buffer.compare(sliced.coverage.data, maskDocument.coverage.data)).toBe(0);
    expect(Buffer.compare(sliced.coarse.data, maskDocument.coarse.data)).toBe(0);
    expect(sliced.state()).toEqual(maskDocument.state());
    await sliced.undo();
    expect(sliced.coverage.data.every((value) => value === 0)).toBe(true);
    expect(sliced.state()).toMatchObject({ undo: undefined, redo: "brush", isUnsaved: false });
  });

  it("finishes before the next stroke or undo", async () => {
    let clock = 0;
    const drawing = createMaskDocument(emptyCoverage(large), { now: () => (clock += 20) });
    drawing.begin(brush, strokePath[0], true);
    drawing.extend(strokePath.slice(1), true);
    const first = drawing.endInSlices();
    expect(drawing.begin({ ...brush, isErasing: true }, strokePath[1], true)).toBe(true);
    const second = drawing.endInSlices();
    await drawing.undo();
    await Promise.all([first, second]);
    expect(drawing.state()).toMatchObject({ undo: "brush", redo: "eraser", isUnsaved: true });
    await drawing.undo();
    expect(drawing.coverage.data.every((value) => value === 0)).toBe(true);
  });

  it("finishes in slices when undone, copied or filled early", async () => {
    let clock = 0;
    let pauses = 0;
    const drawing = createMaskDocument(emptyCoverage(large), { now: () => (clock += 20), pause: async () => void (pauses += 1) });
    drawing.begin(brush, strokePath[0], true);
    drawing.extend(strokePath.slice(1), true);
    void drawing.endInSlices();
    const [before, copying] = [pauses, drawing.snapshot()];
    const copy = await copying;
    expect(pauses - before).toBeGreaterThan(10);
    expect(Buffer.compare(copy?.data ?? new Uint8Array(), drawing.coverage.data)).toBe(0);
    expect([copy?.data[800 * 1500 + 720], drawing.state().undo]).toEqual([255, "brush"]);
  });

  it("shows while moving and disappears when dropped", () => {
    const drawing = createMaskDocument(emptyCoverage(large));
    const mean = (x: number, y: number) => drawing.coarse.data[Math.floor(y / 4) * 375 + Math.floor(x / 4)] ?? -1;
    drawing.begin(brush, strokePath[0], true);
    expect(mean(300, 300)).toBe(255);
    for (const point of strokePath.slice(1)) {
      drawing.extend([point], true);
      expect(mean(point.x, point.y)).toBe(255);
    }
    drawing.drop();
    expect(drawing.coverage.data.every((value) => value === 0)).toBe(true);
    expect(drawing.coarse.data.every((value) => value === 0)).toBe(true);
    expect([drawing.state().undo, drawing.coarse.paintedShare()]).toEqual([undefined, 0]);
  });
});

it("restores every byte of a tile and stores a uniform tile as one byte", () => {
  const runs = fc.array(fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 9000 })), { maxLength: 20 });
  fc.assert(
    fc.property(runs, fc.constantFrom(256, 300, 7), (parts, width) => {
      const coverage = emptyCoverage({ width, height: 290 });
      const bytes = parts.flatMap(([value, count]) => Array.from({ length: count }, () => value));
      coverage.data.set(bytes.slice(0, coverage.data.length));
      const before = coverage.data.slice();
      const tiles = findTiles(coverage, fullRect(coverage)).map((index) => tileRect(coverage, index));
      const compactTiles = tiles.map((rect) => [rect, compactTile(copyTile(coverage, rect))] as const);
      coverage.data.fill(9);
      for (const [rect, tile] of compactTiles) putTile(coverage, rect, tile);
      expect(Buffer.compare(coverage.data, before)).toBe(0);
    }),
    { numRuns: 40 },
  );
  const blank = emptyCoverage({ width: 256, height: 256 });
  expect(compactTile(copyTile(blank, fullRect(blank)))).toHaveLength(1);
});
