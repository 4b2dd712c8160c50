// Mask pixels of strokes, areas and fills, compared with brute-force results.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLasso, createRectangle, floodFill, paintShape } from "@/components/mask/drawing/areas";
import { type Coverage, createCoverage, createRectFromCorners, type Point, type Rect } from "@/components/mask/drawing/coverage";
import { type BrushPoint, startStroke } from "@/components/mask/drawing/stroke";
import { uniformFloat } from "@/tests/support/uniform-float";

const getPixel = ({ data, width }: Coverage, x: number, y: number) => data[y * width + x];
const sumPixels = ({ data }: Coverage) => data.reduce((all, value) => all + value, 0);
const createPenPoint = (x: number, y: number, pressure = 1): BrushPoint => ({ x, y, pressure });
const runAll = (work: Generator<Rect, unknown>) => [...work];

function drawStroke(coverage: Coverage, points: readonly BrushPoint[], brush: { diameter: number; hardness: number; isErasing?: boolean }) {
  const [first = createPenPoint(0, 0), ...otherPoints] = points;
  const stroke = startStroke(coverage, { isErasing: false, ...brush }, first);
  return { stroke, rects: [...runAll(stroke.extend([])), ...otherPoints.flatMap((point) => runAll(stroke.extend([point])))] };
}

const anyPoint = fc.record({ x: uniformFloat(-40, 640), y: uniformFloat(-40, 340), pressure: uniformFloat(0.05, 1) });

describe("a stroke", () => {
  it("paints a disc of the brush's diameter around a point", () => {
    const coverage = createCoverage({ width: 300, height: 300 });
    drawStroke(coverage, [createPenPoint(150, 150)], { diameter: 100, hardness: 1 });
    expect(getPixel(coverage, 150, 150)).toBe(255);
    expect([getPixel(coverage, 150 + 48, 150), getPixel(coverage, 150 + 52, 150)]).toEqual([255, 0]);
    expect(sumPixels(coverage) / 255).toBeCloseTo(Math.PI * 50 ** 2, -2);
  });

  it("draws without gaps between distant points at the brush's width", () => {
    const coverage = createCoverage({ width: 600, height: 300 });
    drawStroke(coverage, [createPenPoint(20, 40), createPenPoint(580, 250)], { diameter: 12, hardness: 1 });
    for (let share = 0; share <= 1; share += 0.01) {
      expect(getPixel(coverage, Math.floor(20 + 560 * share), Math.floor(40 + 210 * share))).toBe(255);
    }
    const length = Math.hypot(560, 210);
    expect(Math.abs(sumPixels(coverage) / 255 - (length * 12 + Math.PI * 36))).toBeLessThan(40);
  });

  it("draws the maximum of its segments at every pixel", () => {
    // The points are further apart than the minimum move.
    const arbitrary = fc.record({
      x: fc.integer({ min: -1, max: 11 }),
      y: fc.integer({ min: -1, max: 6 }),
      pressure: fc.constantFrom(0.3, 0.7, 1),
    });
    const path = fc
      .uniqueArray(arbitrary, { minLength: 1, maxLength: 4, selector: ({ x, y }) => `${x} ${y}` })
      .map((points) => points.map(({ x, y, pressure }) => createPenPoint(x * 61.3, y * 57.7, pressure)));
    const anyBrush = fc.record({
      diameter: fc.integer({ min: 8, max: 120 }),
      hardness: uniformFloat(0, 1),
      /** The number of points that arrive together. `tips` sets whether the tip is drawn after each group. */
      together: fc.integer({ min: 1, max: 3 }),
      tips: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    });
    fc.assert(
      fc.property(path, anyBrush, (points, { diameter, hardness, together, tips }) => {
        const size = { width: 600, height: 300 };
        const coverage = createCoverage(size);
        const [first = createPenPoint(0, 0), ...otherPoints] = points;
        const stroke = startStroke(coverage, { diameter, hardness, isErasing: false }, first);
        runAll(stroke.extend([], tips[0]));
        for (let start = 0; start < otherPoints.length; start += together)
          runAll(stroke.extend(otherPoints.slice(start, start + together), tips[start + 1]));
        runAll(stroke.end());
        // Draws each segment as a separate stroke, so that no pixel is skipped as already painted.
        const maxima = new Uint8Array(coverage.data.length);
        for (const [index, from] of points.entries()) {
          const segment = createCoverage(size);
          runAll(drawStroke(segment, [from, points[index + 1] ?? from], { diameter, hardness }).stroke.end());
          segment.data.forEach((value, pixelIndex) => (maxima[pixelIndex] = Math.max(maxima[pixelIndex] ?? 0, value)));
        }
        expect(Buffer.compare(coverage.data, maxima)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it("fades evenly outwards with a soft brush", () => {
    const coverage = createCoverage({ width: 200, height: 200 });
    drawStroke(coverage, [createPenPoint(100.5, 100.5)], { diameter: 120, hardness: 0 });
    const values = Array.from({ length: 60 }, (_, step) => getPixel(coverage, 100 + step, 100) ?? 0);
    expect(values[0]).toBe(255);
    expect(values.at(-1)).toBeLessThan(5);
    for (const [step, value] of values.entries()) {
      expect(value).toBeLessThanOrEqual(values[step - 1] ?? 255);
      const others = [getPixel(coverage, 100 - step, 100), getPixel(coverage, 100, 100 + step), getPixel(coverage, 100, 100 - step)];
      expect(others).toEqual([value, value, value]);
    }
  });

  it("draws a thinner line with less pen pressure", () => {
    const coverage = createCoverage({ width: 400, height: 100 });
    drawStroke(coverage, [createPenPoint(50, 50, 0.2), createPenPoint(350, 50, 1)], { diameter: 60, hardness: 1 });
    const getWidthAt = (x: number) =>
      Array.from({ length: 100 }, (_, y) => getPixel(coverage, x, y) ?? 0).filter((value) => value > 127).length;
    expect([getWidthAt(60), getWidthAt(340)].map((width) => Math.round(width / 10))).toEqual([1, 6]);
  });

  it("paints each pixel once per stroke and adds a second stroke", () => {
    const singleStroke = createCoverage({ width: 200, height: 100 });
    const repeatedStroke = createCoverage({ width: 200, height: 100 });
    drawStroke(singleStroke, [createPenPoint(40, 50), createPenPoint(160, 50)], { diameter: 60, hardness: 0 });
    const [forward, back] = [createPenPoint(160, 50), createPenPoint(40, 50)];
    drawStroke(repeatedStroke, [createPenPoint(40, 50), forward, back, forward, back, forward], { diameter: 60, hardness: 0 });
    expect(Buffer.compare(repeatedStroke.data, singleStroke.data)).toBe(0);
    drawStroke(repeatedStroke, [createPenPoint(40, 50), forward], { diameter: 60, hardness: 0 });
    expect(sumPixels(repeatedStroke)).toBeGreaterThan(sumPixels(singleStroke));
  });

  it("erases with the same edge as it paints", () => {
    fc.assert(
      fc.property(fc.array(anyPoint, { minLength: 1, maxLength: 5 }), uniformFloat(0, 1), (points, hardness) => {
        const painted = createCoverage({ width: 600, height: 300 });
        drawStroke(painted, points, { diameter: 50, hardness });
        const erased = createCoverage({ width: 600, height: 300 });
        erased.data.fill(255);
        drawStroke(erased, points, { diameter: 50, hardness, isErasing: true });
        expect(erased.data.every((value, index) => value === 255 - (painted.data[index] ?? 0))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it("reports the changed pixels and undoes the whole stroke", () => {
    fc.assert(
      fc.property(fc.array(anyPoint, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 90 }), (points, diameter) => {
        const coverage = createCoverage({ width: 600, height: 300 });
        const { stroke, rects } = drawStroke(coverage, points, { diameter, hardness: 0.5 });
        const unreportedIndex = coverage.data.findIndex((value, index) => {
          const [x, y] = [index % 600, Math.floor(index / 600)];
          return value > 0 && !rects.some(({ left, top, right, bottom }) => x >= left && x < right && y >= top && y < bottom);
        });
        expect(unreportedIndex).toBe(-1);
        runAll(stroke.drop());
        expect(sumPixels(coverage)).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});

describe("a rectangle", () => {
  it("covers whole pixels from corner to corner, clipped to the image", () => {
    const coverage = createCoverage({ width: 700, height: 300 });
    runAll(paintShape(coverage, createRectangle(coverage, createRectFromCorners({ x: 690.2, y: 10.9 }, { x: -5, y: 12 })), false));
    expect(sumPixels(coverage) / 255).toBe(691 * 3);
    expect([getPixel(coverage, 0, 10), getPixel(coverage, 690, 12), getPixel(coverage, 691, 12), getPixel(coverage, 0, 9)]).toEqual([
      255, 255, 0, 0,
    ]);
    runAll(paintShape(coverage, createRectangle(coverage, { left: 0, top: 0, right: 100, bottom: 300 }), true));
    expect(sumPixels(coverage) / 255).toBe(591 * 3);
  });
});

describe("a lasso", () => {
  const getArea = (points: readonly Point[]) =>
    Math.abs(points.reduce((all, point, index) => all + crossProduct(point, points[(index + 1) % points.length] ?? point), 0)) / 2;
  const crossProduct = (point: Point, other: Point) => point.x * other.y - other.x * point.y;
  const anyInnerPoint = fc.record({ x: uniformFloat(1, 299), y: uniformFloat(1, 299) });

  it("covers the geometric area with antialiased edges", () => {
    fc.assert(
      fc.property(fc.tuple(anyInnerPoint, anyInnerPoint, anyInnerPoint), (triangle) => {
        const coverage = createCoverage({ width: 300, height: 300 });
        runAll(paintShape(coverage, createLasso(coverage, triangle), false));
        expect(Math.abs(sumPixels(coverage) / 255 - getArea(triangle))).toBeLessThan(3 + getArea(triangle) * 0.002);
      }),
      { numRuns: 60 },
    );
  });

  it("fills the enclosed area and clips it to the image", () => {
    const coverage = createCoverage({ width: 100, height: 100 });
    const star = Array.from({ length: 5 }, (_, index) => {
      const angle = (index * 4 * Math.PI) / 5;
      return { x: 50 + 45 * Math.sin(angle), y: 50 - 45 * Math.cos(angle) };
    });
    runAll(paintShape(coverage, createLasso(coverage, star), false));
    expect([getPixel(coverage, 50, 50), getPixel(coverage, 2, 2)]).toEqual([255, 0]);
    const outerCoverage = createCoverage({ width: 100, height: 100 });
    const corners = [createPenPoint(-50, -50), createPenPoint(500, -50), createPenPoint(500, 500), createPenPoint(-50, 500)];
    runAll(paintShape(outerCoverage, createLasso(outerCoverage, corners), false));
    expect(sumPixels(outerCoverage)).toBe(100 * 100 * 255);
  });

  it("paints nothing without an area", () => {
    const coverage = createCoverage({ width: 50, height: 50 });
    for (const points of [[], [createPenPoint(3, 3)], [createPenPoint(3, 3), createPenPoint(40, 40)]])
      runAll(paintShape(coverage, createLasso(coverage, points), false));
    expect(sumPixels(coverage)).toBe(0);
  });
});

describe("fill", () => {
  /** Finds the filled pixels one by one, without spans. */
  function findFilledPixels({ width, height, data }: Coverage, start: number): Set<number> {
    const filledPixels = new Set<number>();
    const pending = [start];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      if (filledPixels.has(index) || (data[index] ?? 255) >= 128) continue;
      filledPixels.add(index);
      const x = index % width;
      if (x > 0) pending.push(index - 1);
      if (x + 1 < width) pending.push(index + 1);
      if (index >= width) pending.push(index - width);
      if (index + width < width * height) pending.push(index + width);
    }
    return filledPixels;
  }

  it("fills the same area as a simple flood fill when painting and erasing", () => {
    const images = fc.uint8Array({ minLength: 30 * 20, maxLength: 30 * 20 }).map((bytes) => bytes.map((byte) => (byte < 140 ? 0 : 255)));
    fc.assert(
      fc.property(images, fc.nat(30 * 20 - 1), fc.boolean(), (bytes, start, isErasing) => {
        const before: Coverage = { width: 30, height: 20, data: bytes };
        const coverage: Coverage = { ...before, data: bytes.map((byte) => (isErasing ? 255 - byte : byte)) };
        const expected = findFilledPixels(before, start);
        runAll(floodFill(coverage, { x: (start % 30) + 0.5, y: Math.floor(start / 30) + 0.5 }, isErasing));
        const expectedBytes = bytes.map((byte, index) => {
          const filled = expected.has(index) ? 255 : byte;
          return isErasing ? 255 - filled : filled;
        });
        expect(Buffer.compare(coverage.data, expectedBytes)).toBe(0);
      }),
    );
  });

  it("fills soft outlines without seams and keeps the outside soft", () => {
    const coverage = createCoverage({ width: 400, height: 400 });
    const ringPoints = Array.from({ length: 61 }, (_, step) =>
      createPenPoint(200 + 120 * Math.cos(step / 9.5), 200 + 120 * Math.sin(step / 9.5)),
    );
    drawStroke(coverage, ringPoints, { diameter: 40, hardness: 0 });
    const outside = Array.from({ length: 60 }, (_, step) => getPixel(coverage, 200 + 124 + step, 200));
    runAll(floodFill(coverage, { x: 200, y: 200 }, false));
    for (let x = 200; x < 316; x += 1) expect(getPixel(coverage, x, 200)).toBe(255);
    expect(Array.from({ length: 60 }, (_, step) => getPixel(coverage, 200 + 124 + step, 200))).toEqual(outside);
    expect(getPixel(coverage, 5, 5)).toBe(0);
  });

  it.each([
    [127, 99],
    [128, 40],
  ])("stops at a line of half strength: strength %i fills %i other columns", (strength, columns) => {
    const coverage = createCoverage({ width: 100, height: 3 });
    for (let y = 0; y < 3; y += 1) coverage.data[y * 100 + 40] = strength;
    runAll(floodFill(coverage, { x: 5, y: 1 }, false));
    expect(coverage.data.subarray(100, 200).filter((value, x) => value === 255 && x !== 40)).toHaveLength(columns);
  });

  it("fills wide soft edges in small steps", () => {
    const coverage = createCoverage({ width: 700, height: 700 });
    drawStroke(coverage, [createPenPoint(350, 350)], { diameter: 690, hardness: 0 });
    const work = floodFill(coverage, { x: 2, y: 2 }, false);
    const countFilled = () => coverage.data.reduce((count, value) => (value === 255 ? count + 1 : count), 0);
    let previousCount = countFilled();
    let max = 0;
    for (let step = work.next(); !step.done; step = work.next()) {
      const filledCount = countFilled();
      max = Math.max(max, filledCount - previousCount);
      previousCount = filledCount;
    }
    expect(previousCount).toBe(700 * 700);
    expect(max).toBeLessThan(60_000);
  });

  it("starts neither outside the image nor on painted pixels", () => {
    const coverage = createCoverage({ width: 10, height: 10 });
    for (const x of [-1, 10, 11.5]) expect([...floodFill(coverage, { x, y: 5 }, false)]).toEqual([]);
    coverage.data.fill(255);
    expect([...floodFill(coverage, { x: 5, y: 5 }, false)]).toEqual([]);
  });
});
