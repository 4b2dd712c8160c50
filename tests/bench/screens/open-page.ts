// A browser that is four times slower than this machine, on one page of a console, signed in.
import { type Browser, chromium, type CDPSession, type Page } from "@playwright/test";
import { browserFlags, findBrowser } from "@/bin/browser.mjs";
import { type Desk } from "../processes";
import { watchPage } from "./watch-page";

export const SLOWDOWN = 4;
const QUIET_MS = 1_500;

export type SlowPage = { page: Page; cdp: CDPSession; close(): Promise<void> };

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findBrowser(), args: [...browserFlags] });
}

export async function openSlowly(browser: Browser, desk: Desk, path: string): Promise<SlowPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB", timezoneId: "UTC" });
  const { hostname } = new URL(desk.url);
  await context.addCookies(
    (desk.headers.cookie ?? "").split("; ").map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return { name, value: value.join("="), domain: hostname, path: "/" };
    }),
  );
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  await page.addInitScript(watchPage);
  await page.goto(desk.url + path);
  await untilQuiet(page);
  return { page, cdp, close: () => context.close() };
}

/** Nothing long has run for a while. */
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
