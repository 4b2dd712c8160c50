// A large brush is drawn coarsely while it moves. Its full pixels are computed afterwards in slices.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactTile, copyTile, createCoverage, findTileIndexes, fullRect, getTileRect, putTile } from "@/components/mask/drawing/coverage";
import { createMaskDocument } from "@/components/mask/drawing/mask-document";

const createPenPoint = (x: number, y: number) => ({ x, y, pressure: 1 });

describe("a large brush", () => {
  const largeSize = { width: 1500, height: 1100 };
  const brush = { diameter: 400, hardness: 0.3, isErasing: false };
  const start = createPenPoint(300, 300);
  const strokePoints = [createPenPoint(700, 420), createPenPoint(720, 800), createPenPoint(1200, 500), createPenPoint(400, 500)];
  const coarseFlagsArbitrary = fc.array(fc.boolean(), { minLength: strokePoints.length + 1, maxLength: strokePoints.length + 1 });

  it("paints the same pixels at any zoom and reports all changes", () => {
    const expected = createMaskDocument(createCoverage(largeSize));
    const points = fc.array(fc.record({ x: fc.integer({ min: -100, max: 1600 }), y: fc.integer({ min: -100, max: 1200 }) }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(points, coarseFlagsArbitrary, fc.boolean(), (points, farFlags, isErasing) => {
        const path = points.map(({ x, y }) => createPenPoint(x, y));
        const drawing = createMaskDocument(createCoverage(largeSize));
        for (const document of [expected, drawing]) {
          document.coverage.data.fill(isErasing ? 255 : 0);
          document.coarse.update(fullRect(largeSize));
        }
        const bytes = drawing.coarse.data.slice();
        drawing.onPaint(({ left, top, right, bottom }) => {
          for (let y = Math.floor(top / 4); y < Math.min(275, Math.ceil(bottom / 4)); y += 1) {
            const [from, to] = [Math.floor(left / 4), Math.min(375, Math.ceil(right / 4))];
            bytes.set(drawing.coarse.data.subarray(y * 375 + from, y * 375 + to), y * 375 + from);
          }
        });
        for (const [document, flags] of [
          [expected, [] as readonly boolean[]],
          [drawing, farFlags],
        ] as const) {
          document.startStroke({ ...brush, isErasing }, path[0] ?? createPenPoint(0, 0), flags[0]);
          for (const [index, point] of path.entries()) document.extendStroke([point], flags[index]);
          document.endStroke();
        }
        expect(Buffer.compare(drawing.coverage.data, expected.coverage.data)).toBe(0);
        expect(Buffer.compare(drawing.coarse.data, expected.coarse.data)).toBe(0);
        expect(Buffer.compare(bytes, drawing.coarse.data)).toBe(0);
        expect(drawing.getState().paintedFraction).toBe(expected.getState().paintedFraction);
      }),
      { numRuns: 8 },
    );
  });

  it("paints the same pixels in slices as one history step", async () => {
    let clock = 0;
    const pauseStates: unknown[] = [];
    const slicedDocument = createMaskDocument(createCoverage(largeSize), {
      // Each clock reading ends a slice.
      now: () => (clock += 20),
      pause: async () => void pauseStates.push([slicedDocument.coarse.data[200 * 375 + 180], slicedDocument.getState().undo]),
    });
    const maskDocument = createMaskDocument(createCoverage(largeSize));
    for (const drawing of [maskDocument, slicedDocument]) {
      drawing.startStroke(brush, start, true);
      for (const point of strokePoints) drawing.extendStroke([point], true);
    }
    maskDocument.endStroke();
    await slicedDocument.endStrokeInSlices();
    expect(pauseStates.length).toBeGreaterThan(10);
    expect(pauseStates).toEqual(pauseStates.map(() => [255, undefined]));
    expect(Buffer.compare(slicedDocument.coverage.data, maskDocument.coverage.data)).toBe(0);
    expect(Buffer.compare(slicedDocument.coarse.data, maskDocument.coarse.data)).toBe(0);
    expect(slicedDocument.getState()).toEqual(maskDocument.getState());
    await slicedDocument.undo();
    expect(slicedDocument.coverage.data.every((value) => value === 0)).toBe(true);
    expect(slicedDocument.getState()).toMatchObject({ undo: undefined, redo: "brush", isUnsaved: false });
  });

  it("finishes before the next stroke or undo", async () => {
    let clock = 0;
    const drawing = createMaskDocument(createCoverage(largeSize), { now: () => (clock += 20) });
    drawing.startStroke(brush, start, true);
    drawing.extendStroke(strokePoints, true);
    const first = drawing.endStrokeInSlices();
    expect(drawing.startStroke({ ...brush, isErasing: true }, createPenPoint(700, 420), true)).toBe(true);
    const second = drawing.endStrokeInSlices();
    await drawing.undo();
    await Promise.all([first, second]);
    expect(drawing.getState()).toMatchObject({ undo: "brush", redo: "eraser", isUnsaved: true });
    await drawing.undo();
    expect(drawing.coverage.data.every((value) => value === 0)).toBe(true);
  });

  it("finishes in slices when copied early", async () => {
    let clock = 0;
    let pauses = 0;
    const drawing = createMaskDocument(createCoverage(largeSize), { now: () => (clock += 20), pause: async () => void (pauses += 1) });
    drawing.startStroke(brush, start, true);
    drawing.extendStroke(strokePoints, true);
    void drawing.endStrokeInSlices();
    const [before, pendingCopy] = [pauses, drawing.snapshot()];
    const copy = await pendingCopy;
    expect(pauses - before).toBeGreaterThan(10);
    expect(Buffer.compare(copy?.data ?? new Uint8Array(), drawing.coverage.data)).toBe(0);
    expect([copy?.data[800 * 1500 + 720], drawing.getState().undo]).toEqual([255, "brush"]);
  });

  it("previews a moving brush and clears it when the stroke is canceled", () => {
    const drawing = createMaskDocument(createCoverage(largeSize));
    const getCoarseValue = (x: number, y: number) => drawing.coarse.data[Math.floor(y / 4) * 375 + Math.floor(x / 4)] ?? -1;
    drawing.startStroke(brush, start, true);
    expect(getCoarseValue(300, 300)).toBe(255);
    for (const point of strokePoints) {
      drawing.extendStroke([point], true);
      expect(getCoarseValue(point.x, point.y)).toBe(255);
    }
    drawing.cancelStroke();
    expect(drawing.coverage.data.every((value) => value === 0)).toBe(true);
    expect(drawing.coarse.data.every((value) => value === 0)).toBe(true);
    expect([drawing.getState().undo, drawing.coarse.getPaintedFraction()]).toEqual([undefined, 0]);
  });
});

it("restores every byte of a tile and stores a uniform tile as one byte", () => {
  const runs = fc.array(fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 9000 })), { maxLength: 20 });
  fc.assert(
    fc.property(runs, fc.constantFrom(256, 300, 7), (byteRuns, width) => {
      const coverage = createCoverage({ width, height: 290 });
      const bytes = byteRuns.flatMap(([value, count]) => Array.from({ length: count }, () => value));
      coverage.data.set(bytes.slice(0, coverage.data.length));
      const before = coverage.data.slice();
      const tiles = findTileIndexes(coverage, fullRect(coverage)).map((index) => getTileRect(coverage, index));
      const compactTiles = tiles.map((rect) => [rect, compactTile(copyTile(coverage, rect))] as const);
      coverage.data.fill(9);
      for (const [rect, tile] of compactTiles) putTile(coverage, rect, tile);
      expect(Buffer.compare(coverage.data, before)).toBe(0);
    }),
    { numRuns: 40 },
  );
  const blank = createCoverage({ width: 256, height: 256 });
  expect(compactTile(copyTile(blank, fullRect(blank)))).toHaveLength(1);
});
