import { type Page } from "@playwright/test";
import { type Desk } from "./support/desk";
import { clearHistory, createSlowGraph, failingGraph, submitJob, waitForState } from "./support/jobs";
import { mockLiveUpdates } from "./support/live";
import { expect, test } from "./support/test";

/** Runs `count` quick jobs that complete, and one that fails. Returns the failed job's id. */
async function createJobs(page: Page, desk: Desk, count: number): Promise<string> {
  for (let at = 0; at < count; at++) await submitJob(page.request, desk, createSlowGraph(0.02, `-list-${at}`));
  const failed = await submitJob(page.request, desk, failingGraph);
  await waitForState(page.request, desk, failed, "failed");
  return failed;
}

const getRows = (page: Page) => page.locator("tr[data-row]");
const getFilterChip = (page: Page, name: RegExp) => page.getByRole("group", { name: "Filters" }).getByRole("link", { name });

/** Returns the hidden parts of the toolbar, and the distance of the table's header below it when scrolled. */
async function measureToolbar(page: Page): Promise<{ hidden: string[]; headBelowPx: number }> {
  await page.mouse.wheel(0, 400);
  await page.waitForFunction(() => window.scrollY > 200);
  const filterBar = await page.getByRole("group", { name: "Filters" }).evaluate((bar) => {
    const { right, bottom } = bar.getBoundingClientRect();
    const hiddenElements = [...bar.querySelectorAll("a, button, select")].filter((element) => {
      const box = element.getBoundingClientRect();
      return box.right > right || box.bottom > bottom;
    });
    const head = document.querySelector("thead")?.getBoundingClientRect();
    return { hidden: hiddenElements.map(({ textContent }) => textContent ?? ""), headBelowPx: Math.round((head?.top ?? 0) - bottom) };
  });
  await page.evaluate(() => window.scrollTo(0, 0));
  return filterBar;
}

test("restores filters, sort and page from the URL", async ({ signedIn: page, desk }) => {
  await clearHistory(page.request, desk);
  const failed = await createJobs(page, desk, 30);
  await page.goto(`${desk.url}/jobs`);
  await expect(getRows(page)).toHaveCount(31);

  await getFilterChip(page, /^Failed/).click();
  await expect(page).toHaveURL(/status=failed$/);
  await expect(getRows(page)).toHaveCount(1);
  await page.reload();
  await expect(getRows(page)).toHaveCount(1);
  await expect(page.getByTitle(failed)).toBeVisible();
  await getFilterChip(page, /^All/).click();
  await expect(getRows(page)).toHaveCount(31);
  await page.goBack();
  await expect(getRows(page)).toHaveCount(1);
  await page.goForward();
  await expect(getRows(page)).toHaveCount(31);

  await page.getByLabel("Rows per page").selectOption("25");
  await expect(page.getByText("1–25 of 31")).toBeVisible();
  // On narrow screens, the page field is visible and nothing is wider than the screen.
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByLabel("Page", { exact: true })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  // Filters and view controls are visible without scrolling, with the table's header below them.
  for (const width of [1024, 1280, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await measureToolbar(page), `${width} px`).toEqual({ hidden: [], headBelowPx: 0 });
  }
  await page.getByLabel("Page", { exact: true }).fill("2");
  await page.getByLabel("Page", { exact: true }).press("Enter");
  await expect(page.getByText("26–31 of 31")).toBeVisible();
  await expect(getRows(page)).toHaveCount(6);

  const submittedHeader = page.getByRole("columnheader", { name: "Submitted" });
  await expect(submittedHeader).toHaveAttribute("aria-sort", "descending");
  await submittedHeader.getByRole("button").click();
  await expect(submittedHeader).toHaveAttribute("aria-sort", "ascending");
  await expect(page).toHaveURL(/sort_order=asc/);

  await page.goto(`${desk.url}/jobs?status=failed&status=completed&limit=9999`);
  await expect(page.getByText(/ignored: limit=9999/).filter({ visible: true })).toBeVisible();
  await expect(page.getByText("1–31 of 31")).toBeVisible();
  await page.goto(`${desk.url}/jobs?offset=400`);
  await expect(page.getByText("0 on this page, 31 in total")).toBeVisible();
  await page.getByRole("link", { name: "Go to last page" }).click();
  await expect(getRows(page)).toHaveCount(31);
});

test("keeps the position after a jump in a thousand rows and restores it on Back", async ({ signedIn: page, desk }) => {
  const id = await submitJob(page.request, desk, createSlowGraph(0.02, "-long"));
  const jobs = Array.from({ length: 1000 }, (_, index) => ({
    id: index === 500 ? id : `${String(index).padStart(8, "0")}-0000-4000-8000-000000000000`,
    status: "completed",
    create_time: 1_767_225_600_000 - index,
  }));
  const thousandJobs = { jobs, pagination: { offset: 0, limit: 1000, total: 1000, has_more: false } };
  await mockLiveUpdates(page, { jobs: thousandJobs });
  // Too narrow for a panel, so a click opens the job's page.
  await page.setViewportSize({ width: 900, height: 900 });
  await page.goto(`${desk.url}/jobs?limit=1000`);
  await expect(page.getByText("1–1,000 of 1,000")).toBeVisible();
  // After scrolling away from the focused row, the next key returns to it.
  const getFocusedRow = () => page.evaluate(() => document.activeElement?.closest("tr")?.getAttribute("aria-rowindex"));
  for (const position of ["2", "3"]) {
    await page.keyboard.press("j");
    await expect.poll(getFocusedRow).toBe(position);
  }
  await page.evaluate(() => window.scrollTo(0, 40_000));
  await expect.poll(() => page.evaluate(() => document.elementFromPoint(600, 450)?.closest("tr")?.dataset.row !== undefined)).toBe(true);
  await page.keyboard.press("j");
  await expect.poll(getFocusedRow).toBe("4");
  expect(await page.evaluate(() => window.scrollY)).toBeLessThan(1_000);
  await page.keyboard.press("k");
  await expect.poll(getFocusedRow).toBe("3");
  for (const y of [44_000, 200, 30_800]) {
    await page.evaluate((scrollTop) => window.scrollTo(0, scrollTop), y);
    const isRowInMiddle = () => page.evaluate(() => document.elementFromPoint(600, 450)?.closest("tr")?.dataset.row !== undefined);
    await expect.poll(isRowInMiddle).toBe(true);
    expect(await page.evaluate(() => window.scrollY)).toBe(y);
  }
  const scrollTopBefore = await page.evaluate(() => window.scrollY);
  await page.getByTitle(id, { exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/jobs/${id}`));
  await expect(page.getByRole("heading", { name: "Details" })).toBeVisible();
  await page.goBack();
  await expect(page.getByTitle(id, { exact: true })).toBeInViewport();
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(scrollTopBefore);
});
