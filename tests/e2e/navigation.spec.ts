// Features of every page: the command palette, languages, time zones and connections.
import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { readSample } from "./support/files";
import { createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { goTo, saveConnection } from "./support/steps";
import { expect, test } from "./support/test";

const createGraph = () => JSON.parse(readSample("01-invert").bytes.toString("utf8"));
const getPaletteField = (page: Page) => page.getByRole("combobox", { name: "Page, job, workflow, asset or action" });

async function openCommandPalette(page: Page, address: string): Promise<void> {
  await page.goto(address);
  // The page handles the key only once it is interactive, and the first press also loads the dialog that it opens.
  await expect(async () => {
    await page.keyboard.press("Control+k");
    await expect(getPaletteField(page)).toBeVisible({ timeout: 2_000 });
  }).toPass();
}

test("opens pages and jobs from the command palette with the keyboard alone", async ({ signedIn: page, desk }) => {
  const id = await submitJob(page.request, desk, createGraph());
  await waitForState(page.request, desk, id, "completed");

  await openCommandPalette(page, `${desk.url}/assets`);
  await page.keyboard.type("queue");
  await expect(page.getByRole("option", { name: "Queue" })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/queue$/);
  await expect(getPaletteField(page)).toBeHidden();

  await openCommandPalette(page, `${desk.url}/settings`);
  await page.keyboard.insertText(id.slice(0, 10));
  await expect(page.getByRole("option", { name: `Job ${id.slice(0, 8)}` })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/jobs/${id}`));

  await openCommandPalette(page, `${desk.url}/settings`);
  await page.keyboard.insertText("00000000-0000-4000-8000-000000000000");
  await expect(page.getByText("No job with this id, or you have no access to it.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(getPaletteField(page)).toBeHidden();
});

test("renders the whole page in Chinese and remembers a chosen language", async ({ browser, desk }) => {
  const context = await browser.newContext({ locale: "zh-CN" });
  await desk.signIn(context);
  const page = await context.newPage();
  const consoleErrors: string[] = [];
  page.on("console", (message) => message.type() === "error" && consoleErrors.push(message.text()));
  await page.goto(`${desk.url}/settings`);
  await expect(page.getByRole("heading", { name: "设置", level: 1 })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await expect(page).toHaveTitle(/设置/);
  await expectAccessible(page);
  // The page contains only the messages of its own language.
  expect(await page.content()).not.toContain("Leave empty to keep the key");

  // Navigates by link, so that the page is interactive when the language is selected.
  await page.getByRole("link", { name: "账户" }).click();
  await page.getByRole("combobox", { name: "语言" }).selectOption({ label: "English" });
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await page.goto(`${desk.url}/queue`);
  await expect(page.getByRole("heading", { name: "Queue" })).toBeVisible();

  await openCommandPalette(page, `${desk.url}/queue`);
  await page.keyboard.insertText("简体");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "队列" })).toBeVisible();
  expect(consoleErrors).toEqual([]);
  await context.close();
});

test("opens a linked job on its connection and keeps each tab's own", async ({ signedIn: page, context, desk, service }) => {
  const connection = await saveConnection(page, desk, { name: "Second studio", baseUrl: service.url, key: service.key });
  await test.step("opens a linked job on its own connection", async () => {
    const id = await submitJob(page.request, desk, createSlowGraph(0, "elsewhere"), { connection });
    const linkedPage = await context.newPage();
    await linkedPage.goto(`${desk.url}/jobs/${id}`);
    await expect(linkedPage).toHaveURL(`${desk.url}/jobs/${id}?connection=${connection}`);
    await expect(linkedPage.getByRole("button", { name: "Switch connection (current: Second studio)" })).toBeVisible();
    await expect(linkedPage.getByRole("heading", { name: "Job", level: 1 })).toBeVisible();
    await expect(linkedPage.getByText("Job not found")).toBeHidden();
    await linkedPage.close();
  });
  const connectionButton = page.getByRole("button", { name: "Switch connection (current: Embedded service)" }).filter({ visible: true });
  await page.goto(`${desk.url}/queue`);
  await expect(connectionButton).toBeVisible();
  const otherPage = await context.newPage();
  await otherPage.goto(`${desk.url}/settings`);
  await otherPage.getByRole("button", { name: "Use: Second studio" }).click();
  await expect(otherPage.getByRole("button", { name: "Switch connection (current: Second studio)" })).toBeVisible();
  await expect(page).toHaveURL(/connection=/);
  await page.reload();
  await expect(connectionButton).toBeVisible();
  await goTo(page, "History");
  await expect(page.getByRole("heading", { name: "History" })).toBeVisible();
  await expect(connectionButton).toBeVisible();
});

test("formats times and dates by locale and time zone", async ({ browser, desk }) => {
  const byLocale: Record<"titles" | "days", string[]>[] = [];
  for (const [locale, timezoneId, zonePattern] of [
    ["en-GB", "Asia/Tokyo", /GMT\+9/],
    ["en-US", "America/New_York", /E[SD]T/],
  ] as const) {
    const context = await browser.newContext({ timezoneId, locale });
    await desk.signIn(context);
    const page = await context.newPage();
    const consoleErrors: string[] = [];
    page.on("console", (message) => (message.type() === "error" ? consoleErrors.push(message.text()) : undefined));
    const id = await submitJob(page.request, desk, createGraph());
    await waitForState(page.request, desk, id, "completed");
    await page.goto(`${desk.url}/jobs/${id}`);
    const details = page.getByRole("region", { name: "Details" });
    await expect(details).toContainText(/\d:\d\d:\d\d/);
    const [timeText = ""] = /\d+:\d\d:\d\d(\s[AP]M)?/.exec(await details.innerText()) ?? [];
    expect(/M$/.test(timeText)).toBe(locale === "en-US");
    const titles: string[] = [];
    for (const path of ["", "/jobs", "/settings/audit"]) {
      if (path) await page.goto(`${desk.url}${path}`);
      const time = page.getByRole("main").locator("time[title]").filter({ visible: true }).first();
      await expect(time).toHaveAttribute("title", zonePattern);
      titles.push((await time.getAttribute("title")) ?? "");
    }
    await page.goto(desk.url);
    const runs = page.getByRole("region", { name: "Runs per day" });
    await runs.scrollIntoViewIfNeeded();
    await runs.getByText("Show as a table").click();
    await expect(runs.locator("tr[data-day]")).toHaveCount(14);
    byLocale.push({ titles, days: await runs.locator("tr[data-day] th").allInnerTexts() });
    expect(consoleErrors).toEqual([]);
    await context.close();
  }
  const [british, american] = byLocale;
  for (const title of british?.titles ?? []) expect(title).toMatch(/^\d{1,2} \w+ \d{4}, \d\d:\d\d:\d\d GMT/);
  for (const title of american?.titles ?? []) expect(title).toMatch(/^\w+ \d{1,2}, \d{4}, \d{1,2}:\d\d:\d\d\s[AP]M E/);
  for (const day of british?.days ?? []) expect(day).toMatch(/^\w{3},? \d{1,2} \w+$/);
  for (const day of american?.days ?? []) expect(day).toMatch(/^\w{3}, \w{3} \d{1,2}$/);
});
