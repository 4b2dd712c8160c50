// Finds jobs of any age by words and time range in Jobs, History and the command palette.
import { type APIRequestContext, type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { type Desk } from "./support/desk";
import { submit, untilState } from "./support/jobs";
import { expect, test } from "./support/test";

const rows = (page: Page) => page.locator("tr[data-row]");
const field = (page: Page) => page.getByRole("searchbox", { name: "Search jobs" });
const withText = (value: string) => ({
  "1": { class_type: "PrimitiveString", inputs: { value } },
  "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
});
const DAY_MS = 24 * 60 * 60_000;
const formatDay = (ms: number) => new Intl.DateTimeFormat("sv-SE").format(ms);

async function ended(request: APIRequestContext, desk: Desk, prompt: unknown, name?: string): Promise<string> {
  const id = await submit(request, desk, prompt, { name });
  await untilState(request, desk, id, "completed");
  return id;
}

const grace = { name: "Grace Operator", email: "grace@example.com", password: "another good password" };

test("finds a job by words, time and member and keeps the filters on Back", async ({ page, ownDesk, browser }) => {
  const jobId = await ended(page.request, ownDesk, withText("a lighthouse in the fog"));
  const otherId = await ended(page.request, ownDesk, withText("a meadow at noon"));
  await page.goto(`${ownDesk.url}/jobs`);
  await expect(rows(page)).toHaveCount(2);
  const request = page.waitForRequest(/api\/console\/jobs\/search/);
  await field(page).fill("lighthouse");
  // The search sends exactly the text in the field.
  expect(new URL((await request).url()).searchParams.get("text")).toBe("lighthouse");
  await expect(rows(page)).toHaveCount(1);
  await expect(page).toHaveURL(/text=lighthouse/);
  await expect(field(page)).toBeFocused();

  await page.getByLabel("Time", { exact: true }).selectOption("Last 24 hours");
  await expect(page).toHaveURL(/within=24/);
  await expect(rows(page)).toHaveCount(1);
  await page.getByLabel("Time", { exact: true }).selectOption("Choose dates…");
  const dates = page.getByRole("dialog", { name: "Filter by submission date" });
  const today = await page.evaluate(() => new Intl.DateTimeFormat("sv-SE").format(Date.now()));
  await dates.getByLabel("First day").fill(formatDay(Date.parse(today) - 2 * DAY_MS));
  await dates.getByLabel("Last day").fill(formatDay(Date.parse(today) - DAY_MS));
  await dates.getByRole("button", { name: "Show jobs" }).click();
  await expect(page.getByText("No jobs match these filters")).toBeVisible();
  await page.getByLabel("Time", { exact: true }).selectOption("Any time");
  await expect(rows(page)).toHaveCount(1);

  await ownDesk.addOperator(page.request, grace);
  const hers = await browser.newContext();
  await ownDesk.signIn(hers, grace);
  const another = await ended(hers.request, ownDesk, withText("a lighthouse at night"));
  await hers.close();
  await page.reload();
  await expect(rows(page)).toHaveCount(2);
  for (const [name, job] of [
    [grace.name, another],
    ["Ada Owner", jobId],
  ] as const) {
    await page.getByRole("button", { name: /^Filters/ }).click();
    await page.getByRole("group", { name: "Person" }).getByRole("button").click();
    await page.getByRole("dialog", { name: "Filter by person" }).getByRole("button", { name }).click();
    await expect(page.getByRole("group", { name: "Person" }).getByRole("button", { name })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(rows(page)).toHaveCount(1);
    await expect(page.locator(`tr[data-row="${job}"]`)).toBeVisible();
  }
  await expectAccessible(page);

  await page.goto(`${ownDesk.url}/jobs/${jobId}`);
  await page.goBack();
  await expect(page).toHaveURL(/text=lighthouse.*member=/);
  await expect(field(page)).toHaveValue("lighthouse");
  await expect(rows(page)).toHaveCount(1);
  await page.goto(`${ownDesk.url}/history?text=meadow`);
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByRole("link", { name: otherId.slice(0, 8) })).toBeVisible();
  await field(page).fill("nothing of the kind");
  await expect(page.getByText("No entries match these filters")).toBeVisible();
  await expect(page).toHaveURL(/text=nothing/);
});
