// A browser, four times slower than this machine, signed in to a console and showing one page.
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from "@playwright/test";
import { browserFlags, findBrowser } from "@/bin/browser.mjs";
import { type Desk } from "../processes";
import { watchPage } from "./watch-page";

export const SLOWDOWN = 4;
const QUIET_MS = 1_500;
const viewport = { width: 1440, height: 900 };

export type SlowPage = { page: Page; cdp: CDPSession; close(): Promise<void> };

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findBrowser(), args: [...browserFlags] });
}

export async function openSlowly(browser: Browser, desk: Desk, path: string): Promise<SlowPage> {
  const slow = await openBlank(browser, desk);
  await slow.page.goto(desk.url + path);
  await untilQuiet(slow.page);
  return slow;
}

/** Signed in, with no page opened yet. */
export async function openBlank(browser: Browser, desk: Desk): Promise<SlowPage> {
  const context = await browser.newContext({ viewport, locale: "en-GB", timezoneId: "UTC" });
  const { hostname } = new URL(desk.url);
  await context.addCookies(
    (desk.headers.cookie ?? "").split("; ").map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return { name, value: value.join("="), domain: hostname, path: "/" };
    }),
  );
  return slowPage(context);
}

/** An empty page of the given length, as this machine's best case. */
export async function openEmpty(browser: Browser, lengthPx: number): Promise<SlowPage> {
  const slow = await slowPage(await browser.newContext({ viewport }));
  await slow.page.goto(`data:text/html,<title>empty</title><p>empty</p><div style="height:${lengthPx}px"></div>`);
  await untilQuiet(slow.page);
  return slow;
}

async function slowPage(context: BrowserContext): Promise<SlowPage> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  await page.addInitScript(watchPage);
  return { page, cdp, close: () => context.close() };
}

/** Waits until no long task has run for a while. */
export async function untilQuiet(page: Page): Promise<void> {
  await page.waitForFunction(
    (quietMs) => {
      const last = window.bench.longTasks.at(-1);
      return performance.now() - (last ? last.atMs + last.ms : window.bench.fcpMs) > quietMs && document.readyState === "complete";
    },
    QUIET_MS,
    { timeout: 60_000 },
  );
}
