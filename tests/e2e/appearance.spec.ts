import { type Page } from "@playwright/test";
import { expectAccessibleInBothThemes, expectAccessibleInTheme } from "./support/accessible";
import { type Desk } from "./support/desk";
import { readSample } from "./support/files";
import { failingGraph, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

type SampleIds = { job: string; picture: string };

type PageCheck = {
  name: string;
  path(samples: SampleIds): string;
  /** Appears when the page has loaded. */
  readyText: string;
  /** A selector of elements that look like others on the page. Only the first check includes them. */
  duplicates?: string;
};

const desktopSize = { width: 1440, height: 900 };
const pages: PageCheck[] = [
  { name: "the overview", path: () => "/", readyText: "Newest images" },
  { name: "Jobs", path: () => "/jobs", readyText: "Completed" },
  { name: "a job", path: ({ job }) => `/jobs/${job}`, readyText: "Timeline" },
  { name: "Queue", path: () => "/queue", readyText: "The queue is empty" },
  { name: "History", path: () => "/history", readyText: "Removing a job" },
  { name: "Assets", path: () => "/assets?name_contains=photo.png", readyText: "photo.png" },
  { name: "the mask editor", path: ({ picture }) => `/assets/${picture}/mask`, readyText: "0% painted" },
  { name: "Run", path: () => "/run", readyText: "Drop a workflow file here" },
  { name: "Apps", path: () => "/apps", readyText: "Favourites" },
  { name: "Settings", path: () => "/settings", readyText: "Connections" },
  { name: "Members", path: () => "/settings/members", readyText: "Invite a member" },
  { name: "the audit log", path: () => "/settings/audit", readyText: "Outcome" },
  { name: "Account", path: () => "/settings/account", readyText: "Time zone" },
  { name: "Tokens", path: () => "/settings/tokens", readyText: "Your tokens" },
  // All operations and schemas of a group except the first two.
  { name: "the API reference", path: () => "/docs/api", readyText: "Jobs and queue", duplicates: "main section > div:nth-of-type(n + 3)" },
  { name: "a missing page", path: () => "/nowhere", readyText: "Page not found" },
];

test("has no accessibility violations on any page and fits 390 px", async ({ signedIn: page, browser, desk }) => {
  test.slow(); // checks every page in both themes and on a phone
  const visitor = await (await browser.newContext()).newPage();
  for (const [path, readyText] of [
    ["/sign-in", "Password"],
    ["/set-up?token=spent", "Lightdesk is already set up"],
  ] as const) {
    await openPage(visitor, desk.url + path, readyText);
    await expectAccessibleInBothThemes(visitor);
  }
  await visitor.context().close();
  const samples = await createSamples(page, desk);
  for (const { name, path, readyText, duplicates } of pages) {
    await test.step(name, async () => {
      await page.setViewportSize(desktopSize);
      await openPage(page, desk.url + path(samples), readyText);
      await expectAccessibleInTheme(page, "light");
      await expectPageFitsPhone(page, readyText);
      if (duplicates) await page.locator(duplicates).evaluateAll((elements) => elements.forEach((element) => element.remove()));
      await expectAccessibleInBothThemes(page);
      await page.setViewportSize(desktopSize);
      await expectAccessibleInTheme(page, "dark");
    });
  }
  await test.step("fits the widest possible row and links pages from the bottom bar", async () => {
    // A placeholder for a missing picture and an age of two digits.
    await waitForState(page.request, desk, await submitJob(page.request, desk, failingGraph), "failed");
    await page.clock.setFixedTime(Date.now() + 48 * 60_000);
    for (const [path, readyText] of [
      ["/", "Failed recently"],
      ["/history", "Removing a job"],
      ["/jobs", "Completed"],
    ] as const) {
      await page.goto(desk.url + path);
      await expectPageFitsPhone(page, readyText);
      await expectAccessibleInBothThemes(page);
    }
    await page.getByRole("link", { name: "Queue" }).filter({ visible: true }).click();
    await expect(page.getByRole("heading", { name: "Queue" })).toBeVisible();
  });
});

async function expectPageFitsPhone(page: Page, readyText: string): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByText(readyText).filter({ visible: true }).first()).toBeVisible();
  await page.waitForFunction(() => [...document.images].every(({ complete }) => complete));
  // The page may still be adapting to the width.
  await expect.poll(() => findOverflowingElements(page, 390)).toEqual([]);
}

/** Lists elements that overflow the width, by tag, class and right edge. */
async function findOverflowingElements(page: Page, width: number): Promise<string[]> {
  return page.evaluate((width) => {
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll("body *")]
      .map((element) => ({ element, right: Math.round(element.getBoundingClientRect().right) }))
      .filter(({ right }) => right > width)
      .map(({ element, right }) => `${element.tagName} ${element.className} to ${right}: ${element.textContent.slice(0, 60)}`)
      .slice(0, 20);
  }, width);
}

async function openPage(page: Page, address: string, readyText: string): Promise<void> {
  await page.goto(address);
  await expect(page.getByText(readyText).filter({ visible: true }).first()).toBeVisible();
}

async function createSamples(page: Page, desk: Desk): Promise<SampleIds> {
  const job = await submitJob(page.request, desk, JSON.parse(readSample("01-invert").bytes.toString("utf8")));
  await waitForState(page.request, desk, job, "completed");
  const assetResponse = await page.request.get(`${desk.url}/api/assets`, { params: { name_contains: "photo.png", limit: 1 } });
  const { assets }: { assets: { id: string }[] } = await assetResponse.json();
  return { job, picture: assets[0]?.id ?? "" };
}
