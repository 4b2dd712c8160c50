// One mask with its history, through its public interface.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lasso, rectangle } from "@/components/mask/drawing/areas";
import { emptyCoverage, fullRect } from "@/components/mask/drawing/coverage";
import { createMaskDocument } from "@/components/mask/drawing/mask-document";

const size = { width: 700, height: 400 };
const pen = (x: number, y: number) => ({ x, y, pressure: 1 });
type Drawing = ReturnType<typeof createMaskDocument>;

function stroke(drawing: Drawing, x: number, y: number, isErasing = false): void {
  drawing.begin({ diameter: 60, hardness: 0.4, isErasing }, pen(x, y));
  drawing.extend([pen(x + 80, y + 30), pen(x + 20, y + 70)]);
  drawing.end();
}

const arbitrary = fc.record({ x: fc.integer({ min: 0, max: size.width }), y: fc.integer({ min: 0, max: size.height }) });
const anyAct = fc.oneof(
  fc.record({
    kind: fc.constantFrom("stroke" as const, "erase" as const, "rectangle" as const, "lasso" as const, "fill" as const),
    at: arbitrary,
  }),
  fc.record({ kind: fc.constantFrom("invert" as const, "clear" as const), at: arbitrary }),
);

async function perform(drawing: Drawing, { kind, at }: { kind: string; at: { x: number; y: number } }): Promise<void> {
  const { x, y } = at;
  if (kind === "stroke" || kind === "erase") stroke(drawing, x, y, kind === "erase");
  if (kind === "rectangle") await drawing.shape("rectangle", rectangle(size, { left: x, top: y, right: x + 90, bottom: y + 50 }), false);
  if (kind === "lasso") await drawing.shape("lasso", lasso(size, [at, { x: x + 200, y }, { x, y: y + 130 }]), true);
  if (kind === "fill") await drawing.fill(at, x % 2 === 0);
  if (kind === "invert") await drawing.invert();
  if (kind === "clear") await drawing.clear();
}

it("shows a small brush immediately when zoomed out, also after zooming", () => {
  const drawing = createMaskDocument(emptyCoverage(size));
  const mean = (x: number, y: number) => drawing.coarse.data[Math.floor(y / 4) * 175 + Math.floor(x / 4)];
  const brush = { diameter: 30, hardness: 1, isErasing: false };
  drawing.begin(brush, pen(50, 50), true);
  expect(mean(50, 50)).toBe(255);
  drawing.extend([pen(120, 50)], true);
  expect(mean(85, 50)).toBe(255);
  drawing.end();
  drawing.begin(brush, pen(50, 250), false);
  drawing.extend([pen(120, 250)], false);
  drawing.extend([pen(190, 250)], true);
  expect([mean(50, 250), mean(85, 250), mean(190, 250)]).toEqual([255, 255, 255]);
});

it.each([
  [64, 9],
  [61, 8],
  [3, 2],
])("averages pixels when zoomed out: %i by %i", (width, height) => {
  const { coverage, coarse } = createMaskDocument(emptyCoverage({ width, height }));
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
  expect(coarse.paintedShare()).toBeCloseTo(expected.reduce((sum, value) => sum + value, 0) / expected.length / 255, 9);
});

describe("a drawing", () => {
  it("undoes to the first bytes and redoes to the last within the budget", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyAct, { minLength: 1, maxLength: 14 }),
        fc.constantFrom(0, 3_000, 1e9),
        async (actions, historyBudget) => {
          const drawing = createMaskDocument(emptyCoverage(size), { historyBudget });
          const snapshots = [drawing.coverage.data.slice()];
          for (const action of actions) {
            const before = drawing.version();
            await perform(drawing, action);
            if (drawing.version() !== before) snapshots.push(drawing.coverage.data.slice());
            expect(drawing.savedBytes()).toBeLessThanOrEqual(Math.max(historyBudget, actions.length * 256));
          }
          for (const pixels of snapshots.slice(0, -1).toReversed()) {
            await drawing.undo();
            expect(Buffer.compare(drawing.coverage.data, pixels)).toBe(0);
          }
          expect(drawing.state()).toMatchObject({ undo: undefined, isUnsaved: false });
          for (const pixels of snapshots.slice(1)) {
            await drawing.redo();
            expect(Buffer.compare(drawing.coverage.data, pixels)).toBe(0);
          }
          expect(drawing.state().redo).toBeUndefined();
        },
      ),
      { numRuns: 25 },
    );
  });

  it("keeps hundreds of steps while the page stays within its budget", async () => {
    const drawing = createMaskDocument(emptyCoverage(size), { historyBudget: 200_000 });
    for (let step = 0; step < 400; step += 1) stroke(drawing, (step * 37) % 650, (step * 53) % 350, step % 3 === 2);
    expect(drawing.savedBytes()).toBeLessThanOrEqual(200_000 + 400 * 256);
    for (let step = 0; step < 400; step += 1) await drawing.undo();
    expect(drawing.coverage.data.every((value) => value === 0)).toBe(true);
    expect(drawing.state().undo).toBeUndefined();
  });

  it("applies quick undo presses one after another", async () => {
    const drawing = createMaskDocument(emptyCoverage(size), { historyBudget: 0 });
    for (const x of [50, 250, 450]) stroke(drawing, x, 100);
    await Promise.all([drawing.undo(), drawing.undo(), drawing.undo(), drawing.undo()]);
    expect(drawing.state().isBusy).toBe(false);
    while (drawing.state().undo) await drawing.undo();
    expect(drawing.coverage.data.every((value) => value === 0)).toBe(true);
  });

  it("forgets undone steps after a new one", async () => {
    const drawing = createMaskDocument(emptyCoverage(size));
    stroke(drawing, 50, 50);
    await drawing.undo();
    expect(drawing.state().redo).toBe("brush");
    stroke(drawing, 300, 50, true);
    expect(drawing.state()).toMatchObject({ redo: undefined, undo: "eraser" });
  });

  it("tracks unsaved changes from stroke, save and undo", async () => {
    const drawing = createMaskDocument(emptyCoverage(size));
    expect(drawing.state().isUnsaved).toBe(false);
    stroke(drawing, 50, 50);
    expect(drawing.state().isUnsaved).toBe(true);
    const sentVersion = drawing.version();
    stroke(drawing, 90, 90);
    drawing.saved(sentVersion);
    expect(drawing.state().isUnsaved).toBe(true);
    await drawing.undo();
    expect(drawing.state().isUnsaved).toBe(false);
    await drawing.undo();
    expect(drawing.state().isUnsaved).toBe(true);
  });

  it("drops a stroke without a trace in picture and history", () => {
    const drawing = createMaskDocument(emptyCoverage(size));
    stroke(drawing, 50, 50);
    const before = drawing.coverage.data.slice();
    drawing.begin({ diameter: 200, hardness: 0, isErasing: true }, pen(60, 60));
    drawing.extend([pen(400, 300)]);
    drawing.drop();
    expect(Buffer.compare(drawing.coverage.data, before)).toBe(0);
    expect(drawing.state()).toMatchObject({ undo: "brush", isUnsaved: true });
  });

  it("yields to the page during large work and starts nothing else", async () => {
    let clock = 0;
    let pauses = 0;
    const drawing = createMaskDocument(emptyCoverage({ width: 3000, height: 2000 }), {
      now: () => (clock += 20),
      pause: async () => void (pauses += 1),
    });
    const work = drawing.fill({ x: 10, y: 10 }, false);
    expect(drawing.state().isBusy).toBe(true);
    expect(drawing.begin({ diameter: 5, hardness: 1, isErasing: false }, pen(5, 5))).toBe(false);
    await drawing.invert();
    await drawing.clear();
    await work;
    expect(pauses).toBeGreaterThan(3);
    expect(drawing.state()).toMatchObject({ isBusy: false, undo: "fill", paintedShare: 1 });
  });

  it("continues after interrupted work and reports it", async () => {
    let clock = 0;
    let breaks = true;
    const drawing = createMaskDocument(emptyCoverage({ width: 3000, height: 2000 }), {
      now: () => (clock += 20),
      pause: async () => {
        if (breaks) throw new Error("no memory");
      },
    });
    await expect(drawing.fill({ x: 10, y: 10 }, false)).rejects.toThrow("no memory");
    expect(drawing.state().isBusy).toBe(false);
    breaks = false;
    await drawing.clear();
    await drawing.invert();
    expect([drawing.state().undo, (await drawing.snapshot())?.data[0]]).toEqual(["invert", 255]);
  });

  it("returns a copy that later strokes don't change", async () => {
    const drawing = createMaskDocument(emptyCoverage({ width: 4000, height: 3001 }));
    stroke(drawing, 30, 30);
    const before = drawing.coverage.data.slice();
    const copying = drawing.snapshot();
    expect(drawing.begin({ diameter: 5, hardness: 1, isErasing: false }, pen(5, 5))).toBe(false);
    const copy = await copying;
    drawing.begin({ diameter: 50, hardness: 1, isErasing: false }, pen(500, 500));
    expect(await drawing.snapshot()).toBeUndefined();
    drawing.end();
    expect([copy?.width, copy?.height, Buffer.compare(copy?.data ?? new Uint8Array(), before)]).toEqual([4000, 3001, 0]);
  });

  it("reports changed pixels and the painted share", async () => {
    const drawing = createMaskDocument(emptyCoverage(size));
    const bytes = new Uint8Array(size.width * size.height);
    drawing.onPaint(({ left, top, right, bottom }) => {
      for (let y = top; y < bottom; y += 1) {
        bytes.set(drawing.coverage.data.subarray(y * size.width + left, y * size.width + right), y * size.width + left);
      }
    });
    const follow = async (work: () => unknown) => {
      await work();
      expect(Buffer.compare(bytes, drawing.coverage.data)).toBe(0);
    };
    await follow(() => stroke(drawing, 30, 30));
    await follow(() => drawing.shape("rectangle", rectangle(size, { left: 350, top: 0, right: 700, bottom: 400 }), false));
    await follow(() => drawing.undo());
    await follow(() => drawing.invert());
    await follow(() => drawing.clear());
    await follow(() => drawing.shape("rectangle", rectangle(size, { left: 0, top: 0, right: 350, bottom: 400 }), false));
    expect(drawing.state().paintedShare).toBeCloseTo(0.5, 3);
    await follow(() => drawing.fill({ x: 600, y: 10 }, false));
    expect(drawing.state().paintedShare).toBe(1);
  });
});
