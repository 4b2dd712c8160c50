// Opens a console page in a signed-in browser whose processor is throttled four times.
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from "@playwright/test";
import { browserFlags, findBrowser } from "@/bin/browser.mjs";
import { type ConsoleProcess } from "../processes";
import { watchPage } from "./watch-page";

export const SLOWDOWN = 4;
const QUIET_MS = 1_500;
const viewport = { width: 1440, height: 900 };

export type SlowPage = { page: Page; cdp: CDPSession; close(): Promise<void> };

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findBrowser(), args: [...browserFlags] });
}

export async function openSlowPage(browser: Browser, desk: ConsoleProcess, path: string): Promise<SlowPage> {
  const blankPage = await openBlankPage(browser, desk);
  await blankPage.page.goto(desk.url + path);
  await waitUntilQuiet(blankPage.page);
  return blankPage;
}

/** Opens a blank page in a signed-in browser context. */
export async function openBlankPage(browser: Browser, desk: ConsoleProcess): Promise<SlowPage> {
  const context = await browser.newContext({ viewport, locale: "en-GB", timezoneId: "UTC" });
  const { hostname } = new URL(desk.url);
  await context.addCookies(
    (desk.headers.cookie ?? "").split("; ").map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return { name, value: value.join("="), domain: hostname, path: "/" };
    }),
  );
  return createSlowPage(context);
}

/** Opens an empty page of the given length, the best case on this machine. */
export async function openEmptyPage(browser: Browser, lengthPx: number): Promise<SlowPage> {
  const emptyPage = await createSlowPage(await browser.newContext({ viewport }));
  await emptyPage.page.goto(`data:text/html,<title>empty</title><p>empty</p><div style="height:${lengthPx}px"></div>`);
  await waitUntilQuiet(emptyPage.page);
  return emptyPage;
}

async function createSlowPage(context: BrowserContext): Promise<SlowPage> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  await page.addInitScript(watchPage);
  return { page, cdp, close: () => context.close() };
}

/** Waits until no long task has run for a while. */
export async function waitUntilQuiet(page: Page): Promise<void> {
  await page.waitForFunction(
    (quietMs) => {
      const last = window.bench.longTasks.at(-1);
      return performance.now() - (last ? last.atMs + last.ms : window.bench.fcpMs) > quietMs && document.readyState === "complete";
    },
    QUIET_MS,
    { timeout: 60_000 },
  );
}
