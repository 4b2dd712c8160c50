import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { expect, test } from "./support/test";

async function openSample(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/run`);
  await page.getByRole("button", { name: /^Invert/ }).click();
  await expect(page.getByRole("heading", { name: "Invert", exact: true })).toBeVisible();
}

const runButton = (page: Page) => page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true });

async function jobsTotal(page: Page, url: string): Promise<number> {
  const response: { pagination: { total: number } } = await (await page.request.get(`${url}/api/jobs?limit=1`)).json();
  return response.pagination.total;
}

test("creates one job on a double click and reopens its form", async ({ signedIn: page, desk }) => {
  await openSample(page, desk.url);
  const before = await jobsTotal(page, desk.url);
  let presses = 0;
  page.on("request", (request) => void (request.method() === "POST" && request.url().includes("/api/prompt") && presses++));
  await page.getByRole("textbox", { name: "width" }).fill("72");
  await runButton(page).dblclick();
  const result = page.getByRole("link", { name: /^Open job/ });
  await expect(result).toBeVisible();
  expect(presses).toBe(1);
  expect(await jobsTotal(page, desk.url)).toBe(before + 1);
  const id = ((await result.getAttribute("href")) ?? "").split("/").at(-1) ?? "";

  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${desk.url}/run?job=${id}`);
  await expect(page.getByRole("textbox", { name: "width" })).toHaveValue("72");
  await expect(page).toHaveURL(`${desk.url}/run`);
  await expectAccessible(page);
});
