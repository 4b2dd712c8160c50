// The list of jobs with a thousand rows on its page, on a slow machine.
import { type Browser, type Page } from "@playwright/test";
import { spread, table } from "../figures";
import { type Desk } from "../processes";
import { openEmpty, openSlowly, SLOWDOWN, type SlowPage, untilQuiet } from "./open-page";
import { type Busy, traced } from "./trace";
import { awaitAnswer, countFrames, hasArrived, isViewFull } from "./watch-page";

const RUNS = 5;
const WHEEL_PX = 16_000;
const WHEEL_PX_PER_SECOND = 4_000;
const TBT_FROM_MS = 50;

type Press = { answerMs: number; busy: Busy };
type Scroll = { framesPerSecond: number; slowestFrameMs: number; busy: Busy };
type Run = {
  lcpMs: number;
  shift: number;
  blockedMs: number;
  filter: Press & { rowsMs: number };
  selectAll: Press;
  openPanel: Press;
  scroll: Scroll;
  fullSpeed: Scroll;
  empty: Scroll;
  jumpMs: number;
};

/** Five measurements of one list, each in its own browser context. */
export async function measureJobsList(browser: Browser, desk: Desk, tell: (text: string) => void): Promise<Run[]> {
  const runs: Run[] = [];
  for (let run = 0; run <= RUNS; run += 1) {
    const measured = await measureOnce(browser, desk);
    // The first run warms up the server.
    if (run > 0) runs.push(measured);
    tell(`  ${JSON.stringify(measured)}`);
  }
  return runs;
}

async function measureOnce(browser: Browser, desk: Desk): Promise<Run> {
  const opened = await openSlowly(browser, desk, "/jobs?limit=1000");
  const { page } = opened;
  try {
    const { lcpMs, shift, fcpMs, longTasks } = await page.evaluate(() => window.bench);
    const blockedMs = longTasks.filter(({ atMs }) => atMs >= fcpMs).reduce((sum, { ms }) => sum + Math.max(0, ms - TBT_FROM_MS), 0);
    const selectAll = await press(opened, "th input[type=checkbox]", "tr[data-row] input:checked");
    await page.keyboard.press("Escape");
    const openPanel = await press(opened, "tr[data-row]:nth-of-type(5) .row-link", "tr[data-selected]");
    await page.keyboard.press("Escape");
    await untilQuiet(page);
    const scroll = await wheel(opened);
    const empty = await wheelEmpty(browser, await page.evaluate(() => document.body.scrollHeight));
    const jumpMs = await jump(page);
    const fullSpeed = await wheelAtFullSpeed(opened);
    const pressed = await press(opened, "[data-filters] a:has-text('Failed')", "[data-filters] a[aria-current=true]:not(:first-of-type)");
    const arrived = await page.waitForFunction(hasArrived, "status=failed");
    const filter = { ...pressed, rowsMs: Number(await arrived.jsonValue()) };
    return { lcpMs, shift, blockedMs, filter, selectAll, openPanel, scroll, fullSpeed, empty, jumpMs };
  } finally {
    await opened.close();
  }
}

/**
 * Presses with the mouse, already in place, until the page shows a reaction. Takes the slower of two clocks: the page's own and the
 * browser's event timing. Sends the raw mouse event, since the driver's click runs checks of its own in the page before the answer.
 */
async function press({ page, cdp }: SlowPage, target: string, answer: string): Promise<Press> {
  const place = await page.locator(target).first().boundingBox();
  if (!place) throw new Error(`nothing to press: ${target}`);
  await page.mouse.move(place.x + place.width / 2, place.y + place.height / 2);
  await untilQuiet(page);
  await page.evaluate(awaitAnswer, answer);
  let answerMs = NaN;
  const busy = await traced(cdp, async () => {
    await page.mouse.down();
    await page.mouse.up();
    const ms = await page.evaluate(() => window.bench.answered);
    const events = await page.evaluate(() => window.bench.presses);
    answerMs = Math.max(ms, ...events.map((event) => event.ms));
  });
  return { answerMs, busy };
}

/** From the top down and back, without slowing the processor. */
async function wheelAtFullSpeed(opened: SlowPage): Promise<Scroll> {
  const { page, cdp } = opened;
  const toTop = async () => {
    await page.evaluate(() => window.scrollTo(0, 0));
    await untilQuiet(page);
  };
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  await toTop();
  const scroll = await wheel(opened);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  await toTop();
  return scroll;
}

async function wheelEmpty(browser: Browser, lengthPx: number): Promise<Scroll> {
  const opened = await openEmpty(browser, lengthPx);
  try {
    return await wheel(opened);
  } finally {
    await opened.close();
  }
}

async function wheel({ page, cdp }: SlowPage): Promise<Scroll> {
  await page.evaluate(countFrames);
  const busy = await traced(cdp, async () => {
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
  return { framesPerSecond: gaps.length / (spanMs / 1000), slowestFrameMs: Math.max(...gaps), busy };
}

/** Jumps to the far end: the time until every place in view has its row. */
async function jump(page: Page): Promise<number> {
  const started = await page.evaluate(() => {
    window.scrollTo(0, document.body.scrollHeight);
    return performance.now();
  });
  const ended = await page.waitForFunction(isViewFull);
  return Number(await ended.jsonValue()) - started;
}

export function jobsListTable(runs: readonly Run[]): string {
  const row = (name: string, wanted: string, pick: (run: Run) => number, digits = 0) => [name, wanted, spread(runs.map(pick), digits)];
  return table(
    ["", "figure to reach", "median"],
    [
      row("largest contentful paint, ms", "", (run) => run.lcpMs),
      row("layout shift", "", (run) => run.shift, 3),
      row("blocked after the first paint, ms", "", (run) => run.blockedMs),
      row("filter pressed to answered, ms", "under 100", (run) => run.filter.answerMs),
      row("- longest task, processor ms", "", (run) => run.filter.busy.longestMs),
      row("- until its rows stand there, ms", "", (run) => run.filter.rowsMs),
      row("select all, ms", "under 100", (run) => run.selectAll.answerMs),
      row("- longest task, processor ms", "", (run) => run.selectAll.busy.longestMs),
      row("open panel, ms", "under 100", (run) => run.openPanel.answerMs),
      row("- longest task, processor ms", "", (run) => run.openPanel.busy.longestMs),
      row("scrolling, frames a second", "60", (run) => run.scroll.framesPerSecond),
      row("- an empty page of the same length, frames a second", "60", (run) => run.empty.framesPerSecond),
      row("- of what the empty page reaches, %", "", (run) => (run.scroll.framesPerSecond / run.empty.framesPerSecond) * 100),
      row("- slowest frame, ms", "", (run) => run.scroll.slowestFrameMs),
      row("- tasks over 50 ms of the processor", "none", (run) => run.scroll.busy.over50),
      row("- longest task, processor ms", "50", (run) => run.scroll.busy.longestMs),
      row("- processor, ms in all", "", (run) => run.scroll.busy.allMs),
      row("- of it the empty page's own", "", (run) => run.empty.busy.allMs),
      row("scrolling at full speed, frames a second", "60", (run) => run.fullSpeed.framesPerSecond),
      row("- slowest frame, ms", "", (run) => run.fullSpeed.slowestFrameMs),
      row("- tasks over 50 ms of the processor", "none", (run) => run.fullSpeed.busy.over50),
      row("- longest task, processor ms", "50", (run) => run.fullSpeed.busy.longestMs),
      row("jump to the end, until all rows in view stand there, ms", "", (run) => run.jumpMs),
    ],
  );
}
