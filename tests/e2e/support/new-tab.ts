import { type BrowserContext, type Page } from "@playwright/test";
import { expect } from "./test";

/**
 * Loads the page that `click` opens in a new tab. Reads the tab's URL from the browser, since Playwright sometimes misses the first navigation of
 * such a tab.
 */
export async function openInNewTab(context: BrowserContext, click: () => Promise<void>, urlPattern: RegExp): Promise<Page> {
  const browser = context.browser();
  if (!browser) throw new Error("The browser context has no browser.");
  const session = await browser.newBrowserCDPSession();
  const listTabs = async () => (await session.send("Target.getTargets")).targetInfos.filter(({ type }) => type === "page");
  const earlierIds = new Set((await listTabs()).map(({ targetId }) => targetId));
  await click();
  const findNewTab = async () => (await listTabs()).find(({ targetId, url }) => !earlierIds.has(targetId) && urlPattern.test(url));
  await expect.poll(async () => (await findNewTab())?.url ?? "no tab").toMatch(urlPattern);
  const tab = await findNewTab();
  if (!tab) throw new Error("The new tab was closed or left its URL.");
  await session.send("Target.closeTarget", { targetId: tab.targetId });
  await session.detach();
  const page = await context.newPage();
  await page.goto(tab.url);
  return page;
}
