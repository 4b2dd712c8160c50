import { type Page } from "@playwright/test";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { type Desk } from "./support/desk";
import { readSample } from "./support/files";
import { failingGraph, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

type SampleIds = { job: string; picture: string };

/** Each page with the element that shows that it has loaded. */
const pages = [
  { name: "the overview", path: () => "/", ready: "Newest images" },
  { name: "Jobs", path: () => "/jobs", ready: "Completed" },
  { name: "a job", path: ({ job }: SampleIds) => `/jobs/${job}`, ready: "Timeline" },
  { name: "Queue", path: () => "/queue", ready: "The queue is empty" },
  { name: "History", path: () => "/history", ready: "Removing a job" },
  { name: "Assets", path: () => "/assets?name_contains=photo.png", ready: "photo.png" },
  { name: "the mask editor", path: ({ picture }: SampleIds) => `/assets/${picture}/mask`, ready: "0% painted" },
  { name: "Run", path: () => "/run", ready: "Drop a workflow file here" },
  { name: "Apps", path: () => "/apps", ready: "Favourites" },
  { name: "Settings", path: () => "/settings", ready: "Connections" },
  { name: "Members", path: () => "/settings/members", ready: "Invite a member" },
  { name: "the audit log", path: () => "/settings/audit", ready: "Outcome" },
  { name: "Account", path: () => "/settings/account", ready: "Time zone" },
  { name: "Tokens", path: () => "/settings/tokens", ready: "Your tokens" },
  { name: "the API reference", path: () => "/docs/api", ready: "Jobs and queue" },
  { name: "a missing page", path: () => "/nowhere", ready: "Page not found" },
] as const;

test("has no accessibility violations on any page and fits 390 px", async ({ signedIn: page, browser, desk }) => {
  test.slow(); // checks every page in both themes and on a phone
  const visitor = await (await browser.newContext()).newPage();
  await test.step("sign-in", async () => expectPageAccessible(visitor, `${desk.url}/sign-in`, "Password"));
  await test.step("set-up", async () => expectPageAccessible(visitor, `${desk.url}/set-up?token=spent`, "Lightdesk is already set up"));
  await visitor.context().close();
  const samples = await createSamples(page, desk);
  for (const { name, path, ready } of pages) {
    await test.step(name, async () => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await expectPageAccessible(page, desk.url + path(samples), ready);
      await expectPageFitsPhone(page, ready);
    });
  }
  await test.step("fits the widest possible row and links pages from the bottom bar", async () => {
    // A placeholder for a missing picture and an age of two digits.
    await waitForState(page.request, desk, await submitJob(page.request, desk, failingGraph), "failed");
    await page.clock.setFixedTime(Date.now() + 48 * 60_000);
    for (const [path, ready] of [
      ["/", "Failed recently"],
      ["/history", "Removing a job"],
      ["/jobs", "Completed"],
    ] as const) {
      await page.goto(desk.url + path);
      await expectPageFitsPhone(page, ready);
    }
    await page.getByRole("link", { name: "Queue" }).filter({ visible: true }).click();
    await expect(page.getByRole("heading", { name: "Queue" })).toBeVisible();
  });
});

async function expectPageFitsPhone(page: Page, ready: string): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByText(ready).filter({ visible: true }).first()).toBeVisible();
  await page.waitForFunction(() => [...document.images].every(({ complete }) => complete));
  // The page may still be adapting to the width.
  await expect.poll(() => findOverflowingElements(page, 390)).toEqual([]);
  await expectAccessibleInBothThemes(page);
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

async function expectPageAccessible(page: Page, address: string, ready: string): Promise<void> {
  await page.goto(address);
  await expect(page.getByText(ready).filter({ visible: true }).first()).toBeVisible();
  await expectAccessibleInBothThemes(page);
}

async function createSamples(page: Page, desk: Desk): Promise<SampleIds> {
  const job = await submitJob(page.request, desk, JSON.parse(readSample("01-invert").bytes.toString("utf8")));
  await waitForState(page.request, desk, job, "completed");
  const assetResponse = await page.request.get(`${desk.url}/api/assets`, { params: { name_contains: "photo.png", limit: 1 } });
  const { assets }: { assets: { id: string }[] } = await assetResponse.json();
  return { job, picture: assets[0]?.id ?? "" };
}
