// The pixels of a mask: strokes, areas, fill. Compared with brute force and arithmetic.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clearAll, floodFill, lasso, paintShape, rectangle } from "@/components/mask/drawing/areas";
import { type Coverage, emptyCoverage, type Point, type Rect, rectBetween } from "@/components/mask/drawing/coverage";
import { beginStroke, type BrushPoint } from "@/components/mask/drawing/stroke";
import { evenly } from "@/tests/support/evenly";

const pixelAt = ({ data, width }: Coverage, x: number, y: number) => data[y * width + x];
const sum = ({ data }: Coverage) => data.reduce((all, value) => all + value, 0);
const pen = (x: number, y: number, pressure = 1): BrushPoint => ({ x, y, pressure });
const run = (work: Generator<Rect, unknown>) => [...work];

function draw(coverage: Coverage, points: readonly BrushPoint[], brush: { diameter: number; hardness: number; isErasing?: boolean }) {
  const [first = pen(0, 0), ...rest] = points;
  const stroke = beginStroke(coverage, { isErasing: false, ...brush }, first);
  return { stroke, rects: [...run(stroke.to([])), ...rest.flatMap((point) => run(stroke.to([point])))] };
}

const anyPoint = fc.record({
  x: evenly(-40, 640),
  y: evenly(-40, 340),
  pressure: evenly(0.05, 1),
});

describe("a stroke", () => {
  it("paints a disc of the brush's diameter around a point", () => {
    const coverage = emptyCoverage({ width: 300, height: 300 });
    draw(coverage, [pen(150, 150)], { diameter: 100, hardness: 1 });
    expect(pixelAt(coverage, 150, 150)).toBe(255);
    expect([pixelAt(coverage, 150 + 48, 150), pixelAt(coverage, 150 + 52, 150)]).toEqual([255, 0]);
    expect(sum(coverage) / 255).toBeCloseTo(Math.PI * 50 ** 2, -2);
  });

  it("has no gaps between distant points and is as wide as the brush", () => {
    const coverage = emptyCoverage({ width: 600, height: 300 });
    draw(coverage, [pen(20, 40), pen(580, 250)], { diameter: 12, hardness: 1 });
    for (let share = 0; share <= 1; share += 0.01) {
      expect(pixelAt(coverage, Math.floor(20 + 560 * share), Math.floor(40 + 210 * share))).toBe(255);
    }
    const length = Math.hypot(560, 210);
    expect(Math.abs(sum(coverage) / 255 - (length * 12 + Math.PI * 36))).toBeLessThan(40);
  });

  it("is the maximum of its path at every pixel", () => {
    // Points are further apart than the minimum move.
    const arbitrary = fc.record({
      x: fc.integer({ min: -1, max: 11 }),
      y: fc.integer({ min: -1, max: 6 }),
      pressure: fc.constantFrom(0.3, 0.7, 1),
    });
    const path = fc
      .uniqueArray(arbitrary, { minLength: 1, maxLength: 4, selector: ({ x, y }) => `${x} ${y}` })
      .map((points) => points.map(({ x, y, pressure }) => pen(x * 61.3, y * 57.7, pressure)));
    const hands = fc.record({
      diameter: fc.integer({ min: 8, max: 120 }),
      hardness: evenly(0, 1),
      /** How many points arrive together, and whether the brush's tip is drawn after each group. */
      together: fc.integer({ min: 1, max: 3 }),
      tips: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    });
    fc.assert(
      fc.property(path, hands, (points, { diameter, hardness, together, tips }) => {
        const size = { width: 600, height: 300 };
        const coverage = emptyCoverage(size);
        const [first = pen(0, 0), ...rest] = points;
        const stroke = beginStroke(coverage, { diameter, hardness, isErasing: false }, first);
        run(stroke.to([], tips[0]));
        for (let at = 0; at < rest.length; at += together) run(stroke.to(rest.slice(at, at + together), tips[at + 1]));
        run(stroke.end());
        // Draws each part as a separate stroke, so that no pixels are skipped as already painted.
        const maxima = new Uint8Array(coverage.data.length);
        for (const [index, from] of points.entries()) {
          const part = emptyCoverage(size);
          run(draw(part, [from, points[index + 1] ?? from], { diameter, hardness }).stroke.end());
          part.data.forEach((value, at) => (maxima[at] = Math.max(maxima[at] ?? 0, value)));
        }
        expect(Buffer.compare(coverage.data, maxima)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it("grows paler outwards when it is soft, evenly in all directions", () => {
    const coverage = emptyCoverage({ width: 200, height: 200 });
    draw(coverage, [pen(100.5, 100.5)], { diameter: 120, hardness: 0 });
    const outwards = Array.from({ length: 60 }, (_, step) => pixelAt(coverage, 100 + step, 100) ?? 0);
    expect(outwards[0]).toBe(255);
    expect(outwards.at(-1)).toBeLessThan(5);
    for (const [step, value] of outwards.entries()) {
      expect(value).toBeLessThanOrEqual(outwards[step - 1] ?? 255);
      expect([pixelAt(coverage, 100 - step, 100), pixelAt(coverage, 100, 100 + step), pixelAt(coverage, 100, 100 - step)]).toEqual([
        value,
        value,
        value,
      ]);
    }
  });

  it("is thinner where the pen presses less", () => {
    const coverage = emptyCoverage({ width: 400, height: 100 });
    draw(coverage, [pen(50, 50, 0.2), pen(350, 50, 1)], { diameter: 60, hardness: 1 });
    const getWidthAt = (x: number) =>
      Array.from({ length: 100 }, (_, y) => pixelAt(coverage, x, y) ?? 0).filter((value) => value > 127).length;
    expect([getWidthAt(60), getWidthAt(340)].map((width) => Math.round(width / 10))).toEqual([1, 6]);
  });

  it("paints a pixel once per stroke; a second stroke adds to it", () => {
    const once = emptyCoverage({ width: 200, height: 100 });
    const often = emptyCoverage({ width: 200, height: 100 });
    draw(once, [pen(40, 50), pen(160, 50)], { diameter: 60, hardness: 0 });
    const [forward, back] = [pen(160, 50), pen(40, 50)];
    draw(often, [pen(40, 50), forward, back, forward, back, forward], { diameter: 60, hardness: 0 });
    expect(Buffer.compare(often.data, once.data)).toBe(0);
    draw(often, [pen(40, 50), forward], { diameter: 60, hardness: 0 });
    expect(sum(often)).toBeGreaterThan(sum(once));
  });

  it("erases with the same edge as it paints", () => {
    fc.assert(
      fc.property(fc.array(anyPoint, { minLength: 1, maxLength: 5 }), evenly(0, 1), (points, hardness) => {
        const painted = emptyCoverage({ width: 600, height: 300 });
        draw(painted, points, { diameter: 50, hardness });
        const erased = emptyCoverage({ width: 600, height: 300 });
        erased.data.fill(255);
        draw(erased, points, { diameter: 50, hardness, isErasing: true });
        expect(erased.data.every((value, index) => value === 255 - (painted.data[index] ?? 0))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it("reports the pixels it changed and can be undone whole", () => {
    fc.assert(
      fc.property(fc.array(anyPoint, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 90 }), (points, diameter) => {
        const coverage = emptyCoverage({ width: 600, height: 300 });
        const { stroke, rects } = draw(coverage, points, { diameter, hardness: 0.5 });
        const outside = coverage.data.findIndex((value, index) => {
          const [x, y] = [index % 600, Math.floor(index / 600)];
          return value > 0 && !rects.some(({ left, top, right, bottom }) => x >= left && x < right && y >= top && y < bottom);
        });
        expect(outside).toBe(-1);
        run(stroke.drop());
        expect(sum(coverage)).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});

describe("a rectangle", () => {
  it("covers whole pixels from corner to corner, clipped to the picture", () => {
    const coverage = emptyCoverage({ width: 700, height: 300 });
    run(paintShape(coverage, rectangle(coverage, rectBetween({ x: 690.2, y: 10.9 }, { x: -5, y: 12 })), false));
    expect(sum(coverage) / 255).toBe(691 * 3);
    expect([pixelAt(coverage, 0, 10), pixelAt(coverage, 690, 12), pixelAt(coverage, 691, 12), pixelAt(coverage, 0, 9)]).toEqual([
      255, 255, 0, 0,
    ]);
    run(paintShape(coverage, rectangle(coverage, { left: 0, top: 0, right: 100, bottom: 300 }), true));
    expect(sum(coverage) / 255).toBe(591 * 3);
  });
});

describe("a lasso", () => {
  const area = (points: readonly Point[]) =>
    Math.abs(points.reduce((all, point, index) => all + cross(point, points[(index + 1) % points.length] ?? point), 0)) / 2;
  const cross = (point: Point, other: Point) => point.x * other.y - other.x * point.y;
  const inside = fc.record({ x: evenly(1, 299), y: evenly(1, 299) });

  it("covers the geometric area with antialiased edges", () => {
    fc.assert(
      fc.property(fc.tuple(inside, inside, inside), (triangle) => {
        const coverage = emptyCoverage({ width: 300, height: 300 });
        run(paintShape(coverage, lasso(coverage, triangle), false));
        expect(Math.abs(sum(coverage) / 255 - area(triangle))).toBeLessThan(3 + area(triangle) * 0.002);
      }),
      { numRuns: 60 },
    );
  });

  it("fills the enclosed area and clips to the picture", () => {
    const coverage = emptyCoverage({ width: 100, height: 100 });
    const star = Array.from({ length: 5 }, (_, index) => {
      const turn = (index * 4 * Math.PI) / 5;
      return { x: 50 + 45 * Math.sin(turn), y: 50 - 45 * Math.cos(turn) };
    });
    run(paintShape(coverage, lasso(coverage, star), false));
    expect([pixelAt(coverage, 50, 50), pixelAt(coverage, 2, 2)]).toEqual([255, 0]);
    const around = emptyCoverage({ width: 100, height: 100 });
    run(paintShape(around, lasso(around, [pen(-50, -50), pen(500, -50), pen(500, 500), pen(-50, 500)]), false));
    expect(sum(around)).toBe(100 * 100 * 255);
  });

  it("paints nothing without an area", () => {
    const coverage = emptyCoverage({ width: 50, height: 50 });
    for (const points of [[], [pen(3, 3)], [pen(3, 3), pen(40, 40)]]) run(paintShape(coverage, lasso(coverage, points), false));
    expect(sum(coverage)).toBe(0);
  });
});

describe("fill", () => {
  /** Fills pixel by pixel, without spans. */
  function reference({ width, height, data }: Coverage, start: number): Set<number> {
    const rows = new Set<number>();
    const open = [start];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (rows.has(index) || (data[index] ?? 255) >= 128) continue;
      rows.add(index);
      const x = index % width;
      if (x > 0) open.push(index - 1);
      if (x + 1 < width) open.push(index + 1);
      if (index >= width) open.push(index - width);
      if (index + width < width * height) open.push(index + width);
    }
    return rows;
  }

  it("fills the same area as a flood fill, when painting and erasing", () => {
    const pictures = fc.uint8Array({ minLength: 30 * 20, maxLength: 30 * 20 }).map((bytes) => bytes.map((byte) => (byte < 140 ? 0 : 255)));
    fc.assert(
      fc.property(pictures, fc.nat(30 * 20 - 1), fc.boolean(), (bytes, start, isErasing) => {
        const before: Coverage = { width: 30, height: 20, data: bytes };
        const coverage: Coverage = { ...before, data: bytes.map((byte) => (isErasing ? 255 - byte : byte)) };
        const expected = reference(before, start);
        run(floodFill(coverage, { x: (start % 30) + 0.5, y: Math.floor(start / 30) + 0.5 }, isErasing));
        const expectedBytes = bytes.map((byte, index) => {
          const filled = expected.has(index) ? 255 : byte;
          return isErasing ? 255 - filled : filled;
        });
        expect(Buffer.compare(coverage.data, expectedBytes)).toBe(0);
      }),
    );
  });

  it("fills soft outlines without seams and keeps the outside soft", () => {
    const coverage = emptyCoverage({ width: 400, height: 400 });
    const ring = Array.from({ length: 61 }, (_, step) => pen(200 + 120 * Math.cos(step / 9.5), 200 + 120 * Math.sin(step / 9.5)));
    draw(coverage, ring, { diameter: 40, hardness: 0 });
    const outside = Array.from({ length: 60 }, (_, step) => pixelAt(coverage, 200 + 124 + step, 200));
    run(floodFill(coverage, { x: 200, y: 200 }, false));
    for (let x = 200; x < 316; x += 1) expect(pixelAt(coverage, x, 200)).toBe(255);
    expect(Array.from({ length: 60 }, (_, step) => pixelAt(coverage, 200 + 124 + step, 200))).toEqual(outside);
    expect(pixelAt(coverage, 5, 5)).toBe(0);
  });

  it.each([
    [127, 100],
    [128, 40],
  ])("stops at a half-strength line: one of %i lets it fill %i columns", (strength, columns) => {
    const coverage = emptyCoverage({ width: 100, height: 3 });
    for (let y = 0; y < 3; y += 1) coverage.data[y * 100 + 40] = strength;
    run(floodFill(coverage, { x: 5, y: 1 }, false));
    const filled = coverage.data.subarray(100, 200).filter((value, x) => value === 255 && x !== 40);
    expect(filled.length).toBe(columns === 100 ? 99 : 40);
  });

  it("grows in small steps on wide soft edges", () => {
    const coverage = emptyCoverage({ width: 700, height: 700 });
    draw(coverage, [pen(350, 350)], { diameter: 690, hardness: 0 });
    const work = floodFill(coverage, { x: 2, y: 2 }, false);
    const full = () => coverage.data.reduce((count, value) => (value === 255 ? count + 1 : count), 0);
    let before = full();
    let max = 0;
    for (let step = work.next(); !step.done; step = work.next()) {
      const now = full();
      max = Math.max(max, now - before);
      before = now;
    }
    expect(before).toBe(700 * 700);
    expect(max).toBeLessThan(60_000);
  });

  it("starts neither outside the picture nor on painted pixels", () => {
    const coverage = emptyCoverage({ width: 10, height: 10 });
    for (const x of [-1, 10, 11.5]) expect([...floodFill(coverage, { x, y: 5 }, false)]).toEqual([]);
    coverage.data.fill(255);
    expect([...floodFill(coverage, { x: 5, y: 5 }, false)]).toEqual([]);
  });
});

describe("Clear", () => {
  it("keeps no tile where nothing was painted", () => {
    const coverage = emptyCoverage({ width: 1024, height: 1024 });
    draw(coverage, [pen(100, 100)], { diameter: 20, hardness: 1 });
    const work = clearAll(coverage);
    let step = work.next();
    while (!step.done) step = work.next();
    expect([...step.value.keys()]).toEqual([0]);
    expect(sum(coverage)).toBe(0);
  });
});
