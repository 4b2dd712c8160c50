// Scrolls the gallery of a million assets in a browser. Measures frames, tasks, requests while scrolling, and the heap afterwards.
import { type Browser, type CDPSession, type Page } from "@playwright/test";
import { formatTable } from "../figures";
import { type ConsoleProcess } from "../processes";
import { openSlowPage, waitUntilQuiet } from "./open-page";
import { type CpuTime, traceCpuTime } from "./trace";
import { countFrames } from "./watch-page";

const WHEEL_PX = 20_000;
const WHEEL_PX_PER_SECOND = 4_000;
const DRAG_MS = 3_000;
const QUIET_MS = 1_000;
const LONG_SCROLL_MS = 5 * 60_000;

const galleries = { gallery: "/assets", table: "/assets?look=table" } as const;

export type GalleryFigure = {
  look: keyof typeof galleries;
  slowdown: number;
  pagePx: number;
  maxTiles: number;
  framesPerSecond: number;
  slowestFrameMs: number;
  wheelCpuTime: CpuTime;
  dragCpuTime: CpuTime;
  /** Thumbnails requested while the scroll bar was dragged from one end to the other. */
  requestsDuringDrag: number;
  /** From the end of the drag until rows are in view. */
  rowsInViewMs: number;
  heapMiB: { opened: number; scrolled: number; long?: number };
};

/** `isLong` adds five minutes of scrolling up and down. */
export async function measureGallery(
  browser: Browser,
  desk: ConsoleProcess,
  { look, slowdown, isLong }: Pick<GalleryFigure, "look" | "slowdown"> & { isLong: boolean },
): Promise<GalleryFigure> {
  const { page, cdp, close } = await openSlowPage(browser, desk, galleries[look]);
  try {
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    let [thumbnailCount, lastRequestMs] = [0, performance.now()];
    page.on("request", (request) => {
      lastRequestMs = performance.now();
      if (request.url().includes("/api/console/thumbnail")) thumbnailCount += 1;
    });
    await page.evaluate(watchTiles);
    const openedMiB = await measureHeapMiB(cdp);
    await page.evaluate(countFrames);
    const wheelCpuTime = await traceCpuTime(cdp, () => scrollByWheel(cdp, WHEEL_PX));
    const frames = await page.evaluate(() => window.bench.frames.splice(0));
    const gaps = frames.slice(1).map((at, index) => at - (frames[index] ?? at));
    await waitUntilQuiet(page);
    const scrolled = await measureHeapMiB(cdp);
    // Pictures requested where the wheel stopped are not counted.
    while (performance.now() - lastRequestMs < QUIET_MS) await page.waitForTimeout(50);
    thumbnailCount = 0;
    let requestsDuringDrag = 0;
    let rowsInViewMs = NaN;
    const dragCpuTime = await traceCpuTime(cdp, async () => {
      await page.evaluate(dragScrollBar, DRAG_MS);
      requestsDuringDrag = thumbnailCount;
      rowsInViewMs = await page.evaluate(waitForRowsInView);
    });
    return {
      ...{ look, slowdown, wheelCpuTime, dragCpuTime, requestsDuringDrag, rowsInViewMs },
      pagePx: await page.evaluate(() => document.documentElement.scrollHeight),
      maxTiles: await page.evaluate(() => Number(document.body.dataset.maxTiles)),
      framesPerSecond: gaps.length / (((frames.at(-1) ?? 0) - (frames[0] ?? 0)) / 1000),
      slowestFrameMs: Math.max(...gaps),
      heapMiB: { opened: openedMiB, scrolled, ...(isLong && { long: await measureHeapAfterLongScroll(page, cdp) }) },
    };
  } finally {
    await close();
  }
}

async function scrollByWheel(cdp: CDPSession, px: number): Promise<void> {
  await cdp.send("Input.synthesizeScrollGesture", {
    ...{ x: 700, y: 500, yDistance: -px, speed: WHEEL_PX_PER_SECOND },
    ...{ gestureSourceType: "mouse", preventFling: true },
  });
}

async function measureHeapMiB(cdp: CDPSession): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  return (await cdp.send("Runtime.getHeapUsage")).usedSize / 1024 ** 2;
}

async function measureHeapAfterLongScroll(page: Page, cdp: CDPSession): Promise<number> {
  for (const deadline = Date.now() + LONG_SCROLL_MS; Date.now() < deadline;) {
    await scrollByWheel(cdp, WHEEL_PX);
    await page.evaluate(() => window.scrollTo(0, Math.random() * 7_000_000));
    await scrollByWheel(cdp, -WHEEL_PX / 2);
  }
  await waitUntilQuiet(page);
  return measureHeapMiB(cdp);
}

/** Records the highest number of tiles in the document at the end of any frame. */
function watchTiles(): void {
  const countTiles = () => {
    const tileCount = document.querySelectorAll("a[data-index], tr[data-row]").length;
    document.body.dataset.maxTiles = String(Math.max(tileCount, Number(document.body.dataset.maxTiles ?? 0)));
    requestAnimationFrame(countTiles);
  };
  countTiles();
}

/** Simulates a drag of the scroll bar, with a new position in every frame. */
function dragScrollBar(ms: number): Promise<void> {
  const started = performance.now();
  const maxPx = document.documentElement.scrollHeight;
  return new Promise((resolve) => {
    const move = () => {
      const progress = (performance.now() - started) / ms;
      window.scrollTo({ top: Math.min(1, progress) * maxPx * 0.6, behavior: "instant" });
      if (progress < 1) requestAnimationFrame(move);
      else resolve();
    };
    move();
  });
}

function waitForRowsInView(): Promise<number> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const checkRows = () => {
      const inView = [...document.querySelectorAll("a[data-index], tr[data-row]")].filter((tile) => {
        const { top, bottom } = tile.getBoundingClientRect();
        return top > 110 && bottom < window.innerHeight - 50;
      });
      const ms = performance.now() - started;
      if (inView.length > 0 && inView.every((tile) => tile.matches("[href], :has([href])"))) resolve(ms);
      else if (ms > 30_000) reject(new Error("the rows in view did not load within 30 s"));
      else requestAnimationFrame(checkRows);
    };
    checkRows();
  });
}

export function formatGallery(figures: readonly GalleryFigure[]): string {
  const row = (name: string, target: string, pick: (figure: GalleryFigure) => number | undefined, digits = 0) => [
    name,
    target,
    ...figures.map((figure) => pick(figure)?.toLocaleString("en", { maximumFractionDigits: digits }) ?? "not run"),
  ];
  return formatTable(
    ["", "target", ...figures.map(({ look, slowdown }) => (slowdown === 1 ? look : `${look}, ${slowdown} times slower`))],
    [
      row("length of the page, px", "8,000,000", (figure) => figure.pagePx),
      row("highest number of tiles or rows in the document", "150", (figure) => figure.maxTiles),
      row("20,000 px by wheel, frames per second", "60", (figure) => figure.framesPerSecond),
      row("- slowest frame, ms", "", (figure) => figure.slowestFrameMs),
      row("- tasks over 50 ms processor time", "none", (figure) => figure.wheelCpuTime.longTasks),
      row("- longest task, processor ms", "50", (figure) => figure.wheelCpuTime.longestMs),
      row("600,000 assets by scroll bar in 3 s, thumbnails requested meanwhile", "none", (figure) => figure.requestsDuringDrag),
      row("- tasks over 50 ms processor time", "none", (figure) => figure.dragCpuTime.longTasks),
      row("- longest task, processor ms", "50", (figure) => figure.dragCpuTime.longestMs),
      row("- until the rows in view are shown, ms", "", (figure) => figure.rowsInViewMs),
      row("heap when opened, MiB", "", (figure) => figure.heapMiB.opened, 1),
      row("heap after 20,000 px, MiB", "", (figure) => figure.heapMiB.scrolled, 1),
      row("heap after 5 minutes of scrolling, MiB", "", (figure) => figure.heapMiB.long, 1),
    ],
  );
}
