import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { computeGalleryLayout, getRowsAround, getRowsToDraw, MAX_TILES, tileSizes } from "@/components/assets/gallery/gallery-layout";
import { MAX_PX, toFullScroll, toPageHeight, toScroll, updatePosition } from "@/components/assets/gallery/gallery-scroll";
import { findTilesUnder } from "@/components/assets/gallery/rubber-band";
import { createScrollMotion, SETTLE_MS } from "@/components/assets/gallery/scroll-motion";
import { uniformFloat } from "@/tests/support/uniform-float";
import { until } from "@/tests/support/until";

const screens = fc.record({
  widthPx: fc.integer({ min: 280, max: 8_000 }),
  screenPx: fc.integer({ min: 400, max: 4_400 }),
  size: fc.constantFrom(...tileSizes),
});

describe("gallery layout", () => {
  it("draws at most 150 tiles on any screen and covers the view", () => {
    fc.assert(
      fc.property(
        screens,
        fc.integer({ min: 0, max: 1_000_000 }),
        uniformFloat(-0.1, 1.1),
        fc.boolean(),
        (screen, count, scrolledShare, isBare) => {
          const { columns, rowPx } = computeGalleryLayout(screen);
          const rows = Math.ceil(count / columns);
          const atPx = scrolledShare * rows * rowPx;
          const { from, to } = getRowsAround({ atPx, screenPx: screen.screenPx, rowPx, columns, rows, isVisibleOnly: isBare });
          expect((to - from) * columns).toBeLessThanOrEqual(Math.max(MAX_TILES, columns * (Math.ceil(screen.screenPx / rowPx) + 3)));
          expect(to).toBeGreaterThanOrEqual(from);
          if (columns > 1) expect((to - from) * columns).toBeLessThanOrEqual(150);
          const first = Math.floor(Math.max(0, atPx) / rowPx);
          const last = Math.min(rows - 1, Math.floor((atPx + screen.screenPx - 1) / rowPx));
          if (first <= last && last >= 0 && first < rows) {
            expect(from).toBeLessThanOrEqual(first);
            expect(to).toBeGreaterThan(last);
          }
        },
      ),
    );
  });

  it("adds rows around the view unless only the view is requested", () => {
    const view = { atPx: 155_000, screenPx: 900, rowPx: 155, columns: 7, rows: 142_858 };
    expect(getRowsAround({ ...view, isVisibleOnly: true })).toEqual({ from: 1000, to: 1006 });
    expect(getRowsAround(view)).toEqual({ from: 997, to: 1009 });
  });

  it("keeps drawn rows near the view and adds the rows in view", () => {
    const [inView, targetRows] = [
      { from: 100, to: 110 },
      { from: 90, to: 120 },
    ];
    expect(getRowsToDraw(inView, targetRows, undefined)).toEqual(inView);
    expect(getRowsToDraw(inView, targetRows, { from: 0, to: 20 })).toEqual(inView);
    expect(getRowsToDraw(inView, targetRows, { from: 300, to: 320 })).toEqual(inView);
    expect(getRowsToDraw(inView, targetRows, { from: 80, to: 105 })).toEqual({ from: 90, to: 110 });
    expect(getRowsToDraw(inView, targetRows, { from: 105, to: 130 })).toEqual({ from: 100, to: 120 });
  });

  it("uses two columns on a phone and seven on a laptop", () => {
    expect(computeGalleryLayout({ widthPx: 358, screenPx: 844, size: "medium" }).columns).toBe(2);
    expect(computeGalleryLayout({ widthPx: 1192, screenPx: 900, size: "medium" })).toEqual({ columns: 7, rowPx: 155, picturePx: 120 });
    expect(computeGalleryLayout({ widthPx: 358, screenPx: 844, size: "large" }).columns).toBe(1);
  });
});

describe("scrolling a list that exceeds the browser's height limit", () => {
  const lists = fc.integer({ min: 1_000, max: 400_000_000 });

  it("stays below the height limit and maps offsets back", () => {
    fc.assert(
      fc.property(lists, uniformFloat(0, 1), (fullPx, share) => {
        expect(toPageHeight(fullPx)).toBeLessThanOrEqual(8_000_000);
        const atPx = share * fullPx;
        expect(toScroll(atPx, fullPx)).toBeLessThanOrEqual(MAX_PX);
        expect(Math.abs(toFullScroll(toScroll(atPx, fullPx), fullPx) - atPx)).toBeLessThan(1);
      }),
    );
  });

  it("maps the first and last offset to the ends of the page", () => {
    expect(toFullScroll(0, 30_000_000)).toBe(0);
    expect(toFullScroll(MAX_PX, 30_000_000)).toBe(30_000_000);
    expect(toFullScroll(-103, 30_000_000)).toBe(-103);
  });

  it("moves by pixels on small scrolls and in proportion on long jumps", () => {
    const extent = { fullPx: 80_000_000, screenPx: 800 };
    const middle = { scrollPx: 4_000_000, atPx: toFullScroll(4_000_000, extent.fullPx) };
    expect(updatePosition(middle, 4_000_120, extent)).toEqual({ scrollPx: 4_000_120, atPx: middle.atPx + 120 });
    expect(updatePosition(middle, 4_100_000, extent).atPx).toBe(toFullScroll(4_100_000, extent.fullPx));
  });
});

describe("a settle listener", () => {
  /** Frames run immediately, or when the test calls `runFrame`. */
  function createMotion(frameMode: "immediate" | "manual" = "immediate") {
    const clock = { ms: 0 };
    const frames: (() => void)[] = [];
    const nextFrame = (act: () => void) => void (frameMode === "immediate" ? act() : frames.push(act));
    const motion = createScrollMotion({ now: () => clock.ms, nextFrame });
    onTestFinished(motion.stop);
    function scrollTo(...offsets: number[]) {
      for (const px of offsets) {
        clock.ms += 16;
        motion.recordPosition(px);
      }
    }
    const waitForFrame = () => until("the settle timer", () => frames.length > 0);
    return { motion, clock, scrollTo, waitForFrame, runFrame: () => frames.shift()?.() };
  }

  it("is called once when scrolling stops unless it was cancelled", async () => {
    const { motion, clock, scrollTo } = createMotion();
    const called: string[] = [];
    scrollTo(0, 5_000, 10_000, 15_000);
    expect(motion.isScrollingFast()).toBe(true);
    motion.onSettle(() => called.push("stays"));
    motion.onSettle(() => called.push("left"))();
    expect(called).toEqual([]);
    clock.ms += SETTLE_MS * 2;
    await until("the call", () => called.length > 0);
    expect(called).toEqual(["stays"]);
    expect(motion.isScrollingFast()).toBe(false);
  });

  it("is called during slow scrolling", async () => {
    const { motion, scrollTo } = createMotion();
    let isCalled = false;
    motion.onSettle(() => (isCalled = true));
    scrollTo(0, 4, 8, 12, 16, 20, 24, 28, 32, 36);
    await until("the call", () => isCalled);
    expect(motion.isScrollingFast()).toBe(false);
  });

  it("is called when its own tile has settled", async () => {
    const { motion, clock } = createMotion();
    const called: string[] = [];
    motion.onSettle(() => called.push("first"));
    clock.ms += SETTLE_MS - 10;
    motion.onSettle(() => called.push("later"));
    clock.ms += 10;
    await until("the first call", () => called.length > 0);
    expect(called).toEqual(["first"]);
    clock.ms += SETTLE_MS;
    await until("the second call", () => called.length === 2);
  });

  it("is called for tiles in view first", async () => {
    const { motion, clock } = createMotion();
    const called: string[] = [];
    motion.onSettle(
      () => called.push("outside"),
      () => false,
    );
    motion.onSettle(() => called.push("in view"));
    clock.ms += SETTLE_MS;
    await until("both calls", () => called.length === 2);
    expect(called).toEqual(["in view", "outside"]);
  });

  it("waits for the second frame after fast scrolling, also while frames are slow", async () => {
    const { motion, clock, scrollTo, waitForFrame, runFrame } = createMotion("manual");
    let calls = 0;
    motion.onSettle(() => (calls += 1));
    scrollTo(0, 20, 40, 60, 80, 100);
    clock.ms += SETTLE_MS * 2;
    await waitForFrame();
    runFrame();
    // Scrolling during one long frame is reported in the next one.
    scrollTo(90_000);
    runFrame();
    expect([calls, motion.isScrollingFast()]).toEqual([0, true]);
    clock.ms += SETTLE_MS * 2;
    await waitForFrame();
    runFrame();
    runFrame();
    expect(calls).toBe(1);
  });
});

describe("rubber band", () => {
  const grid = { columns: 3, rowPx: 100, picturePx: 65, widthPx: 320, count: 8 };

  it("selects the tiles that it touches in list order", () => {
    const [a, b] = [
      { x: 150, y: 20 },
      { x: 300, y: 120 },
    ];
    expect(findTilesUnder(a, b, grid)).toEqual([1, 2, 4, 5]);
    expect(findTilesUnder(b, a, grid)).toEqual([1, 2, 4, 5]);
  });

  it("selects nothing in gaps or beyond the end", () => {
    expect(findTilesUnder({ x: 102, y: 5 }, { x: 108, y: 90 }, grid)).toEqual([]);
    expect(findTilesUnder({ x: 0, y: 210 }, { x: 320, y: 900 }, grid)).toEqual([6, 7]);
  });
});

describe("rubber band", () => {
  const grid = { columns: 3, rowPx: 100, picturePx: 65, widthPx: 320, count: 8 };

  it("selects the tiles that it touches in list order", () => {
    const [a, b] = [
      { x: 150, y: 20 },
      { x: 300, y: 120 },
    ];
    expect(findTilesUnder(a, b, grid)).toEqual([1, 2, 4, 5]);
    expect(findTilesUnder(b, a, grid)).toEqual([1, 2, 4, 5]);
  });

  it("selects nothing in gaps or beyond the end", () => {
    expect(findTilesUnder({ x: 102, y: 5 }, { x: 108, y: 90 }, grid)).toEqual([]);
    expect(findTilesUnder({ x: 0, y: 210 }, { x: 320, y: 900 }, grid)).toEqual([6, 7]);
  });
});
