import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { expect, test } from "./support/test";

async function openSample(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/run`);
  await page.getByRole("button", { name: /^Invert/ }).click();
  await expect(page.getByRole("heading", { name: "Invert", exact: true })).toBeVisible();
}

const getRunButton = (page: Page) => page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true });

async function countJobs(page: Page, url: string): Promise<number> {
  const response: { pagination: { total: number } } = await (await page.request.get(`${url}/api/jobs?limit=1`)).json();
  return response.pagination.total;
}

test("creates one job when Run is double-clicked and reopens its form", async ({ signedIn: page, desk }) => {
  await openSample(page, desk.url);
  const countBefore = await countJobs(page, desk.url);
  let submissionCount = 0;
  page.on("request", (request) => void (request.method() === "POST" && request.url().includes("/api/prompt") && submissionCount++));
  await page.getByRole("textbox", { name: "width" }).fill("72");
  await getRunButton(page).dblclick();
  const jobLink = page.getByRole("link", { name: /^Open job/ });
  await expect(jobLink).toBeVisible();
  expect(submissionCount).toBe(1);
  expect(await countJobs(page, desk.url)).toBe(countBefore + 1);
  const id = ((await jobLink.getAttribute("href")) ?? "").split("/").at(-1) ?? "";

  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${desk.url}/run?job=${id}`);
  await expect(page.getByRole("textbox", { name: "width" })).toHaveValue("72");
  await expect(page).toHaveURL(`${desk.url}/run`);
  await expectAccessible(page);
});
