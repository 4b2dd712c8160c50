// A mask document and its history, through the public interface.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLasso, createRectangle } from "@/components/mask/drawing/areas";
import { createCoverage, fullRect } from "@/components/mask/drawing/coverage";
import { createMaskDocument } from "@/components/mask/drawing/mask-document";

const size = { width: 700, height: 400 };
const createPenPoint = (x: number, y: number) => ({ x, y, pressure: 1 });
type Drawing = ReturnType<typeof createMaskDocument>;

function drawStroke(drawing: Drawing, x: number, y: number, isErasing = false): void {
  drawing.startStroke({ diameter: 60, hardness: 0.4, isErasing }, createPenPoint(x, y));
  drawing.extendStroke([createPenPoint(x + 80, y + 30), createPenPoint(x + 20, y + 70)]);
  drawing.endStroke();
}

const anyPosition = fc.record({ x: fc.integer({ min: 0, max: size.width }), y: fc.integer({ min: 0, max: size.height }) });
// Invert and clear change every pixel, so they are rarer.
const anyKind = fc.constantFrom("stroke", "stroke", "erase", "erase", "rectangle", "lasso", "fill", "fill", "invert", "clear");

async function performAction(drawing: Drawing, kind: string, at: { x: number; y: number }): Promise<void> {
  const { x, y } = at;
  if (kind === "stroke" || kind === "erase") drawStroke(drawing, x, y, kind === "erase");
  if (kind === "rectangle")
    await drawing.drawShape("rectangle", createRectangle(size, { left: x, top: y, right: x + 90, bottom: y + 50 }), false);
  if (kind === "lasso") await drawing.drawShape("lasso", createLasso(size, [at, { x: x + 200, y }, { x, y: y + 130 }]), true);
  if (kind === "fill") await drawing.fill(at, x % 2 === 0);
  if (kind === "invert") await drawing.invert();
  if (kind === "clear") await drawing.clear();
}

it("shows a small brush immediately when zoomed out before or during a stroke", () => {
  const drawing = createMaskDocument(createCoverage(size));
  const getCoarseValue = (x: number, y: number) => drawing.coarse.data[Math.floor(y / 4) * 175 + Math.floor(x / 4)];
  const brush = { diameter: 30, hardness: 1, isErasing: false };
  drawing.startStroke(brush, createPenPoint(50, 50), true);
  expect(getCoarseValue(50, 50)).toBe(255);
  drawing.extendStroke([createPenPoint(120, 50)], true);
  expect(getCoarseValue(85, 50)).toBe(255);
  drawing.endStroke();
  drawing.startStroke(brush, createPenPoint(50, 250), false);
  drawing.extendStroke([createPenPoint(120, 250)], false);
  drawing.extendStroke([createPenPoint(190, 250)], true);
  expect([getCoarseValue(50, 250), getCoarseValue(85, 250), getCoarseValue(190, 250)]).toEqual([255, 255, 255]);
});

it.each([
  [64, 9],
  [61, 8],
  [3, 2],
])("averages pixels when zoomed out: %i by %i", (width, height) => {
  const { coverage, coarse } = createMaskDocument(createCoverage({ width, height }));
  coverage.data.forEach((_, index) => (coverage.data[index] = (index * 97 + (index >> 3) * 31) & 255));
  coarse.update(fullRect(coverage));
  const expected = Array.from(coarse.data, (_, index) => {
    const [left, top] = [(index % coarse.width) * 4, Math.floor(index / coarse.width) * 4];
    const pixels = [];
    for (let y = top; y < Math.min(height, top + 4); y += 1)
      pixels.push(...coverage.data.subarray(y * width + left, y * width + Math.min(width, left + 4)));
    return Math.round(pixels.reduce((sum, value) => sum + value, 0) / pixels.length);
  });
  expect([...coarse.data]).toEqual(expected);
  expect(coarse.getPaintedFraction()).toBeCloseTo(expected.reduce((sum, value) => sum + value, 0) / expected.length / 255, 9);
});

describe("a mask document", () => {
  it("undoes to the first bytes and redoes to the last within the budget", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(anyKind, anyPosition), { minLength: 1, maxLength: 14 }),
        fc.constantFrom(0, 3_000, 1e9),
        async (actions, historyBudget) => {
          const drawing = createMaskDocument(createCoverage(size), { historyBudget });
          const snapshots = [drawing.coverage.data.slice()];
          for (const [kind, at] of actions) {
            const before = drawing.getVersion();
            await performAction(drawing, kind, at);
            if (drawing.getVersion() !== before) snapshots.push(drawing.coverage.data.slice());
            expect(drawing.getSavedBytes()).toBeLessThanOrEqual(Math.max(historyBudget, actions.length * 256));
          }
          for (const pixels of snapshots.slice(0, -1).toReversed()) {
            await drawing.undo();
            expect(Buffer.compare(drawing.coverage.data, pixels)).toBe(0);
          }
          expect(drawing.getState()).toMatchObject({ undo: undefined, isUnsaved: false });
          for (const pixels of snapshots.slice(1)) {
            await drawing.redo();
            expect(Buffer.compare(drawing.coverage.data, pixels)).toBe(0);
          }
          expect(drawing.getState().redo).toBeUndefined();
        },
      ),
      { numRuns: 25 },
    );
  });

  it("applies quick undo presses one after another", async () => {
    const drawing = createMaskDocument(createCoverage(size), { historyBudget: 0 });
    for (const x of [50, 250, 450]) drawStroke(drawing, x, 100);
    await Promise.all([drawing.undo(), drawing.undo(), drawing.undo(), drawing.undo()]);
    expect(drawing.getState().isBusy).toBe(false);
    while (drawing.getState().undo) await drawing.undo();
    expect(drawing.coverage.data.every((value) => value === 0)).toBe(true);
  });

  it("drops undone steps after a new one", async () => {
    const drawing = createMaskDocument(createCoverage(size));
    drawStroke(drawing, 50, 50);
    await drawing.undo();
    expect(drawing.getState().redo).toBe("brush");
    drawStroke(drawing, 300, 50, true);
    expect(drawing.getState()).toMatchObject({ redo: undefined, undo: "eraser" });
  });

  it("tracks unsaved changes from stroke, save and undo", async () => {
    const drawing = createMaskDocument(createCoverage(size));
    expect(drawing.getState().isUnsaved).toBe(false);
    drawStroke(drawing, 50, 50);
    expect(drawing.getState().isUnsaved).toBe(true);
    const sentVersion = drawing.getVersion();
    drawStroke(drawing, 90, 90);
    drawing.markSaved(sentVersion);
    expect(drawing.getState().isUnsaved).toBe(true);
    await drawing.undo();
    expect(drawing.getState().isUnsaved).toBe(false);
    await drawing.undo();
    expect(drawing.getState().isUnsaved).toBe(true);
  });

  it("drops a stroke without changing the pixels or the history", () => {
    const drawing = createMaskDocument(createCoverage(size));
    drawStroke(drawing, 50, 50);
    const before = drawing.coverage.data.slice();
    drawing.startStroke({ diameter: 200, hardness: 0, isErasing: true }, createPenPoint(60, 60));
    drawing.extendStroke([createPenPoint(400, 300)]);
    drawing.cancelStroke();
    expect(Buffer.compare(drawing.coverage.data, before)).toBe(0);
    expect(drawing.getState()).toMatchObject({ undo: "brush", isUnsaved: true });
  });

  it("yields during a large operation and rejects others meanwhile", async () => {
    let clock = 0;
    let pauses = 0;
    const drawing = createMaskDocument(createCoverage({ width: 3000, height: 2000 }), {
      now: () => (clock += 20),
      pause: async () => void (pauses += 1),
    });
    const work = drawing.fill({ x: 10, y: 10 }, false);
    expect(drawing.getState().isBusy).toBe(true);
    expect(drawing.startStroke({ diameter: 5, hardness: 1, isErasing: false }, createPenPoint(5, 5))).toBe(false);
    await drawing.invert();
    await drawing.clear();
    await work;
    expect(pauses).toBeGreaterThan(3);
    expect(drawing.getState()).toMatchObject({ isBusy: false, undo: "fill", paintedFraction: 1 });
  });

  it("reports a failed operation and continues afterwards", async () => {
    let clock = 0;
    let shouldFail = true;
    const drawing = createMaskDocument(createCoverage({ width: 3000, height: 2000 }), {
      now: () => (clock += 20),
      pause: async () => {
        if (shouldFail) throw new Error("no memory");
      },
    });
    await expect(drawing.fill({ x: 10, y: 10 }, false)).rejects.toThrow("no memory");
    expect(drawing.getState().isBusy).toBe(false);
    shouldFail = false;
    await drawing.clear();
    await drawing.invert();
    expect([drawing.getState().undo, (await drawing.snapshot())?.data[0]]).toEqual(["invert", 255]);
  });

  it("returns a copy that later strokes don't change", async () => {
    const drawing = createMaskDocument(createCoverage({ width: 4000, height: 3001 }));
    drawStroke(drawing, 30, 30);
    const before = drawing.coverage.data.slice();
    const pendingCopy = drawing.snapshot();
    expect(drawing.startStroke({ diameter: 5, hardness: 1, isErasing: false }, createPenPoint(5, 5))).toBe(false);
    const copy = await pendingCopy;
    drawing.startStroke({ diameter: 50, hardness: 1, isErasing: false }, createPenPoint(500, 500));
    expect(await drawing.snapshot()).toBeUndefined();
    drawing.endStroke();
    expect([copy?.width, copy?.height, Buffer.compare(copy?.data ?? new Uint8Array(), before)]).toEqual([4000, 3001, 0]);
  });

  it("reports changed pixels and the painted share", async () => {
    const drawing = createMaskDocument(createCoverage(size));
    const bytes = new Uint8Array(size.width * size.height);
    drawing.onPaint(({ left, top, right, bottom }) => {
      for (let y = top; y < bottom; y += 1) {
        bytes.set(drawing.coverage.data.subarray(y * size.width + left, y * size.width + right), y * size.width + left);
      }
    });
    const expectReported = async (work: () => unknown) => {
      await work();
      expect(Buffer.compare(bytes, drawing.coverage.data)).toBe(0);
    };
    await expectReported(() => drawStroke(drawing, 30, 30));
    await expectReported(() =>
      drawing.drawShape("rectangle", createRectangle(size, { left: 350, top: 0, right: 700, bottom: 400 }), false),
    );
    await expectReported(() => drawing.undo());
    await expectReported(() => drawing.invert());
    await expectReported(() => drawing.clear());
    await expectReported(() => drawing.drawShape("rectangle", createRectangle(size, { left: 0, top: 0, right: 350, bottom: 400 }), false));
    expect(drawing.getState().paintedFraction).toBeCloseTo(0.5, 3);
    await expectReported(() => drawing.fill({ x: 600, y: 10 }, false));
    expect(drawing.getState().paintedFraction).toBe(1);
  });
});
