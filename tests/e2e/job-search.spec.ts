// Finds jobs of any age by words, time range and member in Jobs and History.
import { type APIRequestContext, type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { type Desk } from "./support/desk";
import { submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

const getRows = (page: Page) => page.locator("tr[data-row]");
const getSearchField = (page: Page) => page.getByRole("searchbox", { name: "Search jobs" });
const createGraph = (value: string) => ({
  "1": { class_type: "PrimitiveString", inputs: { value } },
  "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
});
const DAY_MS = 24 * 60 * 60_000;
const formatDay = (ms: number) => new Intl.DateTimeFormat("sv-SE").format(ms);

async function runToCompletion(request: APIRequestContext, desk: Desk, prompt: unknown, name?: string): Promise<string> {
  const id = await submitJob(request, desk, prompt, { name });
  await waitForState(request, desk, id, "completed");
  return id;
}

const grace = { name: "Grace Operator", email: "grace@example.com", password: "another good password" };

test("finds a job by words, time and member and keeps the filters on Back", async ({ page, ownDesk, browser }) => {
  const jobId = await runToCompletion(page.request, ownDesk, createGraph("a lighthouse in the fog"));
  const otherId = await runToCompletion(page.request, ownDesk, createGraph("a meadow at noon"));
  await page.goto(`${ownDesk.url}/jobs`);
  await expect(getRows(page)).toHaveCount(2);
  const request = page.waitForRequest(/api\/console\/jobs\/search/);
  await getSearchField(page).fill("lighthouse");
  // The search sends exactly the text in the field.
  expect(new URL((await request).url()).searchParams.get("text")).toBe("lighthouse");
  await expect(getRows(page)).toHaveCount(1);
  await expect(page).toHaveURL(/text=lighthouse/);
  await expect(getSearchField(page)).toBeFocused();

  await page.getByLabel("Time", { exact: true }).selectOption("Last 24 hours");
  await expect(page).toHaveURL(/within=24/);
  await expect(getRows(page)).toHaveCount(1);
  await page.getByLabel("Time", { exact: true }).selectOption("Choose dates…");
  const dates = page.getByRole("dialog", { name: "Filter by submission date" });
  const today = await page.evaluate(() => new Intl.DateTimeFormat("sv-SE").format(Date.now()));
  await dates.getByLabel("First day").fill(formatDay(Date.parse(today) - 2 * DAY_MS));
  await dates.getByLabel("Last day").fill(formatDay(Date.parse(today) - DAY_MS));
  await dates.getByRole("button", { name: "Show jobs" }).click();
  await expect(page.getByText("No jobs match these filters")).toBeVisible();
  await page.getByLabel("Time", { exact: true }).selectOption("Any time");
  await expect(getRows(page)).toHaveCount(1);

  await ownDesk.addOperator(page.request, grace);
  const graceContext = await browser.newContext();
  await ownDesk.signIn(graceContext, grace);
  const graceJobId = await runToCompletion(graceContext.request, ownDesk, createGraph("a lighthouse at night"));
  await graceContext.close();
  await page.reload();
  await expect(getRows(page)).toHaveCount(2);
  for (const [name, job] of [
    [grace.name, graceJobId],
    ["Ada Owner", jobId],
  ] as const) {
    await page.getByRole("button", { name: /^Filters/ }).click();
    await page.getByRole("group", { name: "Person" }).getByRole("button").click();
    await page.getByRole("dialog", { name: "Filter by person" }).getByRole("button", { name }).click();
    await expect(page.getByRole("group", { name: "Person" }).getByRole("button", { name })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(getRows(page)).toHaveCount(1);
    await expect(page.locator(`tr[data-row="${job}"]`)).toBeVisible();
  }
  await expectAccessible(page);

  await page.goto(`${ownDesk.url}/jobs/${jobId}`);
  await page.goBack();
  await expect(page).toHaveURL(/text=lighthouse.*member=/);
  await expect(getSearchField(page)).toHaveValue("lighthouse");
  await expect(getRows(page)).toHaveCount(1);
  await page.goto(`${ownDesk.url}/history?text=meadow`);
  await expect(getRows(page)).toHaveCount(1);
  await expect(page.getByRole("link", { name: otherId.slice(0, 8) })).toBeVisible();
  await getSearchField(page).fill("no such text");
  await expect(page.getByText("No entries match these filters")).toBeVisible();
  await expect(page).toHaveURL(/text=no\+such\+text/);
});
