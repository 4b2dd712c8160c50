// Measures the list of jobs with a thousand rows on one page, on a slow machine.
import { type Browser, type Page } from "@playwright/test";
import { formatSpread, formatTable } from "../figures";
import { type ConsoleProcess } from "../processes";
import { openEmptyPage, openSlowPage, SLOWDOWN, type SlowPage, waitUntilQuiet } from "./open-page";
import { type CpuTime, traceCpuTime } from "./trace";
import { countFrames, getArrivalMs, getViewFullMs, watchPressResponse } from "./watch-page";

const RUNS = 5;
const WHEEL_PX = 20_000;
const WHEEL_PX_PER_SECOND = 4_000;
const LONG_TASK_MS = 50;

type Press = { responseMs: number; cpuTime: CpuTime };
type Scroll = { framesPerSecond: number; slowestFrameMs: number; cpuTime: CpuTime };
type Run = {
  lcpMs: number;
  layoutShift: number;
  blockedMs: number;
  filter: Press & { rowsMs: number };
  selectAll: Press;
  openPanel: Press;
  scroll: Scroll;
  fullSpeed: Scroll;
  empty: Scroll;
  jumpMs: number;
};

/** Measures the list five times, each time in a new browser context. */
export async function measureJobsList(browser: Browser, desk: ConsoleProcess, logProgress: (text: string) => void): Promise<Run[]> {
  const runs: Run[] = [];
  for (let run = 0; run <= RUNS; run += 1) {
    const measured = await measureOnce(browser, desk);
    // The first run warms up the server.
    if (run > 0) runs.push(measured);
    logProgress(`  ${JSON.stringify(measured)}`);
  }
  return runs;
}

async function measureOnce(browser: Browser, desk: ConsoleProcess): Promise<Run> {
  const slowPage = await openSlowPage(browser, desk, "/jobs?limit=1000");
  const { page } = slowPage;
  try {
    const { lcpMs, shift, fcpMs, longTasks } = await page.evaluate(() => window.bench);
    const blockedMs = longTasks.filter(({ atMs }) => atMs >= fcpMs).reduce((sum, { ms }) => sum + Math.max(0, ms - LONG_TASK_MS), 0);
    const selectAll = await press(slowPage, "th input[type=checkbox]", "tr[data-row] input:checked");
    await page.keyboard.press("Escape");
    const openPanel = await press(slowPage, "tr[data-row]:nth-of-type(5) .row-link", "tr[data-selected]");
    await page.keyboard.press("Escape");
    await waitUntilQuiet(page);
    const scroll = await scrollByWheel(slowPage);
    const empty = await scrollEmptyPage(browser, await page.evaluate(() => document.body.scrollHeight));
    const jumpMs = await jumpToEnd(page);
    const fullSpeed = await scrollAtFullSpeed(slowPage);
    const filterPress = await press(
      slowPage,
      "[data-filters] a:has-text('Failed')",
      "[data-filters] a[aria-current=true]:not(:first-of-type)",
    );
    const rowsArrived = await page.waitForFunction(getArrivalMs, "status=failed");
    const filter = { ...filterPress, rowsMs: Number(await rowsArrived.jsonValue()) };
    return { lcpMs, layoutShift: shift, blockedMs, filter, selectAll, openPanel, scroll, fullSpeed, empty, jumpMs };
  } finally {
    await slowPage.close();
  }
}

/**
 * Measures a mouse press until the page responds, by the slower of two clocks: the page's and the browser's event timing. Sends raw mouse
 * events, since Playwright's click runs its own checks in the page.
 */
async function press({ page, cdp }: SlowPage, selector: string, expectedSelector: string): Promise<Press> {
  const box = await page.locator(selector).first().boundingBox();
  if (!box) throw new Error(`no element to press: ${selector}`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await waitUntilQuiet(page);
  await page.evaluate(watchPressResponse, expectedSelector);
  let responseMs = NaN;
  const cpuTime = await traceCpuTime(cdp, async () => {
    await page.mouse.down();
    await page.mouse.up();
    const ms = await page.evaluate(() => window.bench.pressResponseMs);
    const events = await page.evaluate(() => window.bench.presses);
    responseMs = Math.max(ms, ...events.map((event) => event.ms));
  });
  return { responseMs, cpuTime };
}

/** Scrolls down from the top without CPU throttling. */
async function scrollAtFullSpeed(slowPage: SlowPage): Promise<Scroll> {
  const { page, cdp } = slowPage;
  const scrollToTop = async () => {
    await page.evaluate(() => window.scrollTo(0, 0));
    await waitUntilQuiet(page);
  };
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  await scrollToTop();
  const scroll = await scrollByWheel(slowPage);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  await scrollToTop();
  return scroll;
}

async function scrollEmptyPage(browser: Browser, lengthPx: number): Promise<Scroll> {
  const empty = await openEmptyPage(browser, lengthPx);
  try {
    return await scrollByWheel(empty);
  } finally {
    await empty.close();
  }
}

async function scrollByWheel({ page, cdp }: SlowPage): Promise<Scroll> {
  await page.evaluate(countFrames);
  const cpuTime = await traceCpuTime(cdp, async () => {
    await cdp.send("Input.synthesizeScrollGesture", {
      x: 700,
      y: 500,
      yDistance: -WHEEL_PX,
      speed: WHEEL_PX_PER_SECOND,
      gestureSourceType: "mouse",
      preventFling: true,
    });
  });
  const frames = await page.evaluate(() => window.bench.frames.splice(0));
  const gaps = frames.slice(1).map((at, index) => at - (frames[index] ?? at));
  const spanMs = (frames.at(-1) ?? 0) - (frames[0] ?? 0);
  return { framesPerSecond: gaps.length / (spanMs / 1000), slowestFrameMs: Math.max(...gaps), cpuTime };
}

/** Measures a jump to the end until the view is filled with rows. */
async function jumpToEnd(page: Page): Promise<number> {
  const startedMs = await page.evaluate(() => {
    window.scrollTo(0, document.body.scrollHeight);
    return performance.now();
  });
  const viewFull = await page.waitForFunction(getViewFullMs);
  return Number(await viewFull.jsonValue()) - startedMs;
}

export function formatJobsList(runs: readonly Run[]): string {
  const row = (name: string, target: string, pick: (run: Run) => number, digits = 0) => [
    name,
    target,
    formatSpread(runs.map(pick), digits),
  ];
  return formatTable(
    ["", "target", "median"],
    [
      row("largest contentful paint, ms", "", (run) => run.lcpMs),
      row("layout shift", "", (run) => run.layoutShift, 3),
      row("blocked after the first paint, ms", "", (run) => run.blockedMs),
      row("filter, ms", "under 100", (run) => run.filter.responseMs),
      row("- longest task, processor ms", "", (run) => run.filter.cpuTime.longestMs),
      row("- until its rows are visible, ms", "", (run) => run.filter.rowsMs),
      row("select all, ms", "under 100", (run) => run.selectAll.responseMs),
      row("- longest task, processor ms", "", (run) => run.selectAll.cpuTime.longestMs),
      row("open panel, ms", "under 100", (run) => run.openPanel.responseMs),
      row("- longest task, processor ms", "", (run) => run.openPanel.cpuTime.longestMs),
      row("scrolling, frames per second", "60", (run) => run.scroll.framesPerSecond),
      row("- an empty page of the same length, frames per second", "60", (run) => run.empty.framesPerSecond),
      row("- relative to the empty page, %", "", (run) => (run.scroll.framesPerSecond / run.empty.framesPerSecond) * 100),
      row("- slowest frame, ms", "", (run) => run.scroll.slowestFrameMs),
      row("- tasks over 50 ms processor time", "none", (run) => run.scroll.cpuTime.longTasks),
      row("- longest task, processor ms", "50", (run) => run.scroll.cpuTime.longestMs),
      row("- processor, total ms", "", (run) => run.scroll.cpuTime.totalMs),
      row("- processor of the empty page, total ms", "", (run) => run.empty.cpuTime.totalMs),
      row("scrolling at full speed, frames per second", "60", (run) => run.fullSpeed.framesPerSecond),
      row("- slowest frame, ms", "", (run) => run.fullSpeed.slowestFrameMs),
      row("- tasks over 50 ms processor time", "none", (run) => run.fullSpeed.cpuTime.longTasks),
      row("- longest task, processor ms", "50", (run) => run.fullSpeed.cpuTime.longestMs),
      row("jump to the end, until all rows in view are visible, ms", "", (run) => run.jumpMs),
    ],
  );
}
