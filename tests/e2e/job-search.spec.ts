// Finds jobs of any age by words and time range in Jobs and History. The filter by member is tested in team.spec.ts.
import { type APIRequestContext, type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { type Desk } from "./support/desk";
import { clearHistory, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

const getRows = (page: Page) => page.locator("tr[data-row]");
const getSearchField = (page: Page) => page.getByRole("searchbox", { name: "Search jobs" });
const createGraph = (value: string) => ({
  "1": { class_type: "PrimitiveString", inputs: { value } },
  "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
});
const DAY_MS = 24 * 60 * 60_000;
const formatDay = (ms: number) => new Intl.DateTimeFormat("sv-SE").format(ms);

async function runToCompletion(request: APIRequestContext, desk: Desk, prompt: unknown): Promise<string> {
  const id = await submitJob(request, desk, prompt);
  await waitForState(request, desk, id, "completed");
  return id;
}

test("finds a job by words and time and keeps the filters on Back", async ({ signedIn: page, desk }) => {
  await clearHistory(page.request, desk);
  const jobId = await runToCompletion(page.request, desk, createGraph("a lighthouse in the fog"));
  const otherId = await runToCompletion(page.request, desk, createGraph("a meadow at noon"));
  await page.goto(`${desk.url}/jobs`);
  await expect(getRows(page)).toHaveCount(2);
  const request = page.waitForRequest(/api\/console\/jobs\/search/);
  await getSearchField(page).fill("lighthouse");
  // The search sends exactly the text in the field.
  expect(new URL((await request).url()).searchParams.get("text")).toBe("lighthouse");
  await expect(getRows(page)).toHaveCount(1);
  await expect(page).toHaveURL(/text=lighthouse/);
  await expect(getSearchField(page)).toBeFocused();

  await page.getByLabel("Time", { exact: true }).selectOption("Choose dates…");
  const dates = page.getByRole("dialog", { name: "Filter by submission date" });
  const today = await page.evaluate(() => new Intl.DateTimeFormat("sv-SE").format(Date.now()));
  await dates.getByLabel("First day").fill(formatDay(Date.parse(today) - 2 * DAY_MS));
  await dates.getByLabel("Last day").fill(formatDay(Date.parse(today) - DAY_MS));
  await dates.getByRole("button", { name: "Show jobs" }).click();
  await expect(page.getByText("No jobs match these filters")).toBeVisible();
  await page.getByLabel("Time", { exact: true }).selectOption("Last 24 hours");
  await expect(page).toHaveURL(/within=24/);
  await expect(getRows(page)).toHaveCount(1);
  await expectAccessible(page);

  await page.goto(`${desk.url}/jobs/${jobId}`);
  await page.goBack();
  await expect(page).toHaveURL(/text=lighthouse/);
  await expect(page).toHaveURL(/within=24/);
  await expect(getSearchField(page)).toHaveValue("lighthouse");
  await expect(page.locator(`tr[data-row="${jobId}"]`)).toBeVisible();
  await expect(getRows(page)).toHaveCount(1);
  await page.goto(`${desk.url}/history?text=meadow`);
  await expect(getRows(page)).toHaveCount(1);
  await expect(page.getByRole("link", { name: otherId.slice(0, 8) })).toBeVisible();
  await getSearchField(page).fill("no such text");
  await expect(page.getByText("No entries match these filters")).toBeVisible();
  await expect(page).toHaveURL(/text=no\+such\+text/);
});
