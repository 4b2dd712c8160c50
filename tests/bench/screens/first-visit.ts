// The first visit to a list of jobs, with a slow processor, a slow line and an empty browser cache.
import { type Browser } from "@playwright/test";
import { watchTraffic } from "@/tests/support/traffic";
import { until } from "@/tests/support/until";
import { spread, table } from "../figures";
import { type Desk } from "../processes";
import { openBlank, type SlowPage } from "./open-page";
import { traced } from "./trace";
import { pressWhenReady } from "./watch-page";

const RUNS = 7;
export const MBIT_PER_SECOND = 10;
export const LATENCY_MS = 40;
const QUIET_MS = 2_000;
const BLOCKS_FROM_MS = 50;
const LIMIT_MS = 60_000;

export type FirstVisit = {
  readyMs: number;
  paintedMs: number;
  blockedMs: number;
  processorMs: number;
  processorBlockedMs: number;
  requests: number;
  pictures: number;
  kibibytes: number;
};

/** The first run warms up the server and is left out. */
export async function measureFirstVisits(browser: Browser, desk: Desk, tell: (text: string) => void): Promise<FirstVisit[]> {
  const visits: FirstVisit[] = [];
  for (let run = 0; run <= RUNS; run += 1) {
    // The press also loads what is fetched for selected rows, so the visit's own fetches are counted in a separate visit.
    const visit = { ...(await visitUntouched(browser, desk)), readyMs: await visitAndPress(browser, desk) };
    if (run > 0) visits.push(visit);
    tell(`  ${JSON.stringify(visit)}`);
  }
  return visits;
}

async function openOnSlowLine(browser: Browser, desk: Desk): Promise<SlowPage & { traffic: Awaited<ReturnType<typeof watchTraffic>> }> {
  const opened = await openBlank(browser, desk);
  const traffic = await watchTraffic(opened.cdp);
  const bytesPerSecond = (MBIT_PER_SECOND * 1_000_000) / 8;
  const line = { offline: false, latency: LATENCY_MS, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond };
  await opened.cdp.send("Network.emulateNetworkConditions", line);
  return { ...opened, traffic };
}

async function visitUntouched(browser: Browser, desk: Desk): Promise<Omit<FirstVisit, "readyMs">> {
  const { page, cdp, traffic, close } = await openOnSlowLine(browser, desk);
  try {
    const busy = await traced(cdp, async () => {
      await page.goto(`${desk.url}/jobs`);
      await until("the page is quiet", () => traffic.isQuietFor(QUIET_MS), { timeoutMs: LIMIT_MS });
    });
    const { fcpMs, longTasks } = await page.evaluate(() => window.bench);
    const fetched = traffic.fetched();
    const pictures = fetched.filter(({ kind }) => kind === "Image").length;
    const late = longTasks.filter(({ atMs }) => atMs >= fcpMs);
    return {
      paintedMs: fcpMs,
      blockedMs: late.reduce((sum, { ms }) => sum + Math.max(0, ms - BLOCKS_FROM_MS), 0),
      processorMs: busy.allMs,
      processorBlockedMs: busy.blockedMs,
      requests: fetched.length - pictures,
      pictures,
      kibibytes: traffic.kibibytes(),
    };
  } finally {
    await close();
  }
}

async function visitAndPress(browser: Browser, desk: Desk): Promise<number> {
  const { page, close } = await openOnSlowLine(browser, desk);
  try {
    await page.addInitScript(pressWhenReady);
    await page.goto(`${desk.url}/jobs`);
    return await page.evaluate(() => window.bench.answered);
  } finally {
    await close();
  }
}

export function firstVisitTable(visits: readonly FirstVisit[]): string {
  const row = (name: string, wanted: string, pick: (visit: FirstVisit) => number, digits = 0) => [
    name,
    wanted,
    spread(visits.map(pick), digits),
  ];
  return table(
    ["", "figure to reach", "median"],
    [
      row("ready: rows stand there and a press on them is answered, ms", "700", (visit) => visit.readyMs),
      row("first paint, ms", "", (visit) => visit.paintedMs),
      row("blocked after the first paint, ms", "150", (visit) => visit.blockedMs),
      row("- by the processor's time, from the start, ms", "", (visit) => visit.processorBlockedMs),
      row("processor until quiet, ms", "", (visit) => visit.processorMs),
      row("requests until quiet, beside the pictures of its rows", "25", (visit) => visit.requests),
      row("- pictures", "", (visit) => visit.pictures),
      row("fetched until quiet, KiB", "330", (visit) => visit.kibibytes),
    ],
  );
}
