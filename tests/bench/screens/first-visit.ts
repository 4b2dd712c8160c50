// Measures the first visit to the list of jobs, with a slow processor, a slow network and an empty browser cache.
import { type Browser } from "@playwright/test";
import { watchTraffic } from "@/tests/support/traffic";
import { until } from "@/tests/support/until";
import { formatSpread, formatTable } from "../figures";
import { type ConsoleProcess } from "../processes";
import { openBlankPage, type SlowPage } from "./open-page";
import { traceCpuTime } from "./trace";
import { pressWhenReady } from "./watch-page";

const RUNS = 7;
export const MBIT_PER_SECOND = 10;
export const LATENCY_MS = 40;
const MIN_QUIET_MS = 2_000;
const LONG_TASK_MS = 50;
const TIMEOUT_MS = 60_000;

export type FirstVisit = {
  readyMs: number;
  paintedMs: number;
  blockedMs: number;
  cpuMs: number;
  cpuBlockedMs: number;
  requests: number;
  pictures: number;
  kibibytes: number;
};

/** The first run warms up the server and is left out. */
export async function measureFirstVisits(
  browser: Browser,
  desk: ConsoleProcess,
  logProgress: (text: string) => void,
): Promise<FirstVisit[]> {
  const visits: FirstVisit[] = [];
  for (let run = 0; run <= RUNS; run += 1) {
    // A press loads more code, so requests are counted in a separate visit without a press.
    const visit = { ...(await visitWithoutPress(browser, desk)), readyMs: await visitWithPress(browser, desk) };
    if (run > 0) visits.push(visit);
    logProgress(`  ${JSON.stringify(visit)}`);
  }
  return visits;
}

async function openOnSlowNetwork(
  browser: Browser,
  desk: ConsoleProcess,
): Promise<SlowPage & { traffic: Awaited<ReturnType<typeof watchTraffic>> }> {
  const blank = await openBlankPage(browser, desk);
  const traffic = await watchTraffic(blank.cdp);
  const bytesPerSecond = (MBIT_PER_SECOND * 1_000_000) / 8;
  const conditions = { offline: false, latency: LATENCY_MS, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond };
  await blank.cdp.send("Network.emulateNetworkConditions", conditions);
  return { ...blank, traffic };
}

async function visitWithoutPress(browser: Browser, desk: ConsoleProcess): Promise<Omit<FirstVisit, "readyMs">> {
  const { page, cdp, traffic, close } = await openOnSlowNetwork(browser, desk);
  try {
    const cpuTime = await traceCpuTime(cdp, async () => {
      await page.goto(`${desk.url}/jobs`);
      await until("the page is quiet", () => traffic.isQuietFor(MIN_QUIET_MS), { timeoutMs: TIMEOUT_MS });
    });
    const { fcpMs, longTasks } = await page.evaluate(() => window.bench);
    const fetched = traffic.listResources();
    const pictures = fetched.filter(({ kind }) => kind === "Image").length;
    const tasksAfterPaint = longTasks.filter(({ atMs }) => atMs >= fcpMs);
    return {
      paintedMs: fcpMs,
      blockedMs: tasksAfterPaint.reduce((sum, { ms }) => sum + Math.max(0, ms - LONG_TASK_MS), 0),
      cpuMs: cpuTime.totalMs,
      cpuBlockedMs: cpuTime.blockedMs,
      requests: fetched.length - pictures,
      pictures,
      kibibytes: traffic.getKibibytes(),
    };
  } finally {
    await close();
  }
}

async function visitWithPress(browser: Browser, desk: ConsoleProcess): Promise<number> {
  const { page, close } = await openOnSlowNetwork(browser, desk);
  try {
    await page.addInitScript(pressWhenReady);
    await page.goto(`${desk.url}/jobs`);
    return await page.evaluate(() => window.bench.pressResponseMs);
  } finally {
    await close();
  }
}

export function formatFirstVisits(visits: readonly FirstVisit[]): string {
  const row = (name: string, target: string, pick: (visit: FirstVisit) => number, digits = 0) => [
    name,
    target,
    formatSpread(visits.map(pick), digits),
  ];
  return formatTable(
    ["", "target", "median"],
    [
      row("ready: rows are visible and respond, ms", "700", (visit) => visit.readyMs),
      row("first paint, ms", "", (visit) => visit.paintedMs),
      row("blocked after the first paint, ms", "150", (visit) => visit.blockedMs),
      row("- in processor time, from the start, ms", "", (visit) => visit.cpuBlockedMs),
      row("processor time until idle, ms", "", (visit) => visit.cpuMs),
      row("requests until idle, without images", "25", (visit) => visit.requests),
      row("- pictures", "", (visit) => visit.pictures),
      row("downloaded until idle, KiB", "330", (visit) => visit.kibibytes),
    ],
  );
}
