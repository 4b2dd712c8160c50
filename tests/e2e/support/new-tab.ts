import { type BrowserContext, type Page } from "@playwright/test";
import { expect } from "./test";

/**
 * Loads the page that `press` opens in a new tab. Reads the tab's URL from the browser, since Playwright sometimes misses the first navigation of
 * such a tab.
 */
export async function openInNewTab(context: BrowserContext, press: () => Promise<void>, address: RegExp): Promise<Page> {
  const browser = context.browser();
  if (!browser) throw new Error("The context belongs to no browser.");
  const session = await browser.newBrowserCDPSession();
  const tabs = async () => (await session.send("Target.getTargets")).targetInfos.filter(({ type }) => type === "page");
  const before = new Set((await tabs()).map(({ targetId }) => targetId));
  await press();
  const opened = async () => (await tabs()).find(({ targetId, url }) => !before.has(targetId) && address.test(url));
  await expect.poll(async () => (await opened())?.url ?? "no tab").toMatch(address);
  const tab = await opened();
  if (!tab) throw new Error("The new tab left its address.");
  await session.send("Target.closeTarget", { targetId: tab.targetId });
  await session.detach();
  const page = await context.newPage();
  await page.goto(tab.url);
  return page;
}
