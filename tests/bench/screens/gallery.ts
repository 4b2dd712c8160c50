// The gallery of a million assets, scrolled in a browser: frames, tasks, requests on the way, and the memory it keeps afterwards.
import { type Browser, type CDPSession, type Page } from "@playwright/test";
import { table } from "../figures";
import { type Desk } from "../processes";
import { openSlowly, untilQuiet } from "./open-page";
import { type CpuTime, traceCpuTime } from "./trace";
import { countFrames } from "./watch-page";

const WHEEL_PX = 20_000;
const WHEEL_PX_PER_SECOND = 4_000;
const DRAG_MS = 3_000;
const STILL_MS = 1_000;
const LONG_MS = 5 * 60_000;

const galleries = { gallery: "/assets", table: "/assets?look=table" } as const;

export type GalleryFigure = {
  look: keyof typeof galleries;
  slowdown: number;
  pagePx: number;
  mostTiles: number;
  framesPerSecond: number;
  slowestFrameMs: number;
  wheeling: CpuTime;
  dragging: CpuTime;
  /** Thumbnails requested while the scroll bar was dragged from one end to the other. */
  requestedInFlight: number;
  /** From the end of the drag until rows are in view. */
  rowsInViewMs: number;
  heapMiB: { opened: number; scrolled: number; long?: number };
};

/** `isLong`: five more minutes of scrolling up, down and across. */
export async function measureGallery(
  browser: Browser,
  desk: Desk,
  { look, slowdown, isLong }: Pick<GalleryFigure, "look" | "slowdown"> & { isLong: boolean },
): Promise<GalleryFigure> {
  const { page, cdp, close } = await openSlowly(browser, desk, galleries[look]);
  try {
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    let [thumbnailCount, lastRequestMs] = [0, performance.now()];
    page.on("request", (request) => {
      lastRequestMs = performance.now();
      if (request.url().includes("/api/console/thumbnail")) thumbnailCount += 1;
    });
    await page.evaluate(watchTiles);
    const openedMiB = await heapMiB(cdp);
    await page.evaluate(countFrames);
    const wheeling = await traceCpuTime(cdp, () => wheel(cdp, WHEEL_PX));
    const frames = await page.evaluate(() => window.bench.frames.splice(0));
    const gaps = frames.slice(1).map((at, index) => at - (frames[index] ?? at));
    await untilQuiet(page);
    const scrolled = await heapMiB(cdp);
    // Pictures requested where the wheel stopped are legitimate and not counted.
    while (performance.now() - lastRequestMs < STILL_MS) await page.waitForTimeout(50);
    thumbnailCount = 0;
    let requestedInFlight = 0;
    let rowsInViewMs = NaN;
    const dragging = await traceCpuTime(cdp, async () => {
      await page.evaluate(drag, DRAG_MS);
      requestedInFlight = thumbnailCount;
      rowsInViewMs = await page.evaluate(waitForRowsInView);
    });
    return {
      ...{ look, slowdown, wheeling, dragging, requestedInFlight, rowsInViewMs },
      pagePx: await page.evaluate(() => document.documentElement.scrollHeight),
      mostTiles: await page.evaluate(() => Number(document.body.dataset.mostTiles)),
      framesPerSecond: gaps.length / (((frames.at(-1) ?? 0) - (frames[0] ?? 0)) / 1000),
      slowestFrameMs: Math.max(...gaps),
      heapMiB: { opened: openedMiB, scrolled, ...(isLong && { long: await afterLong(page, cdp) }) },
    };
  } finally {
    await close();
  }
}

async function wheel(cdp: CDPSession, px: number): Promise<void> {
  await cdp.send("Input.synthesizeScrollGesture", {
    ...{ x: 700, y: 500, yDistance: -px, speed: WHEEL_PX_PER_SECOND },
    ...{ gestureSourceType: "mouse", preventFling: true },
  });
}

async function heapMiB(cdp: CDPSession): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  return (await cdp.send("Runtime.getHeapUsage")).usedSize / 1024 ** 2;
}

async function afterLong(page: Page, cdp: CDPSession): Promise<number> {
  for (const until = Date.now() + LONG_MS; Date.now() < until;) {
    await wheel(cdp, WHEEL_PX);
    await page.evaluate(() => window.scrollTo(0, Math.random() * 7_000_000));
    await wheel(cdp, -WHEEL_PX / 2);
  }
  await untilQuiet(page);
  return heapMiB(cdp);
}

/** Records the highest number of tiles in the document at the end of any frame. */
function watchTiles(): void {
  const look = () => {
    const now = document.querySelectorAll("a[data-index], tr[data-row]").length;
    document.body.dataset.mostTiles = String(Math.max(now, Number(document.body.dataset.mostTiles ?? 0)));
    requestAnimationFrame(look);
  };
  look();
}

/** Like dragging the thumb of the scroll bar: a new position in every frame, from one end to the other. */
function drag(ms: number): Promise<void> {
  const started = performance.now();
  const maxPx = document.documentElement.scrollHeight;
  return new Promise((resolve) => {
    const move = () => {
      const share = (performance.now() - started) / ms;
      window.scrollTo({ top: Math.min(1, share) * maxPx * 0.6, behavior: "instant" });
      if (share < 1) requestAnimationFrame(move);
      else resolve();
    };
    move();
  });
}

function waitForRowsInView(): Promise<number> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const look = () => {
      const inView = [...document.querySelectorAll("a[data-index], tr[data-row]")].filter((tile) => {
        const { top, bottom } = tile.getBoundingClientRect();
        return top > 110 && bottom < window.innerHeight - 50;
      });
      const ms = performance.now() - started;
      if (inView.length > 0 && inView.every((tile) => tile.matches("[href], :has([href])"))) resolve(ms);
      else if (ms > 30_000) reject(new Error("the rows did not come"));
      else requestAnimationFrame(look);
    };
    look();
  });
}

export function galleryTable(figures: readonly GalleryFigure[]): string {
  const row = (name: string, target: string, pick: (figure: GalleryFigure) => number | undefined, digits = 0) => [
    name,
    target,
    ...figures.map((figure) => pick(figure)?.toLocaleString("en", { maximumFractionDigits: digits }) ?? "not run"),
  ];
  return table(
    ["", "target", ...figures.map(({ look, slowdown }) => (slowdown === 1 ? look : `${look}, ${slowdown} times slower`))],
    [
      row("length of the page, px", "8,000,000", (figure) => figure.pagePx),
      row("most tiles or rows in the document", "150", (figure) => figure.mostTiles),
      row("20,000 px by the wheel, frames a second", "60", (figure) => figure.framesPerSecond),
      row("- slowest frame, ms", "", (figure) => figure.slowestFrameMs),
      row("- tasks over 50 ms of the processor", "none", (figure) => figure.wheeling.longTasks),
      row("- longest task, processor ms", "50", (figure) => figure.wheeling.longestMs),
      row("600,000 assets by the scroll bar in 3 s, thumbnails asked for in flight", "none", (figure) => figure.requestedInFlight),
      row("- tasks over 50 ms of the processor", "none", (figure) => figure.dragging.longTasks),
      row("- longest task, processor ms", "50", (figure) => figure.dragging.longestMs),
      row("- until the rows in view are there, ms", "", (figure) => figure.rowsInViewMs),
      row("heap when opened, MiB", "", (figure) => figure.heapMiB.opened, 1),
      row("heap after 20,000 px, MiB", "", (figure) => figure.heapMiB.scrolled, 1),
      row("heap after 5 minutes of scrolling, MiB", "", (figure) => figure.heapMiB.long, 1),
    ],
  );
}
