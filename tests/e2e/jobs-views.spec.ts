// Views of jobs that are saved and shared, and actions on all matching jobs: more than a page shows.
import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { slowGraph, submit, untilState } from "./support/jobs";
import { expect, test } from "./support/test";

const rows = (page: Page) => page.locator("tr[data-row]");

test("saves, opens, sets as default and removes a saved view", async ({ page, ownDesk }) => {
  const doneId = await submit(page.request, ownDesk, slowGraph(0.02));
  await untilState(page.request, ownDesk, doneId, "completed");
  await page.goto(`${ownDesk.url}/jobs?status=failed&sort_by=execution_time&limit=25`);
  await expect(page.getByText("No jobs match these filters")).toBeVisible();
  const views = page.getByRole("button", { name: "Views" });
  const dialog = page.getByRole("dialog", { name: "Saved views" });
  await views.click();
  await expect(dialog).toContainText("No saved views yet");
  await dialog.getByLabel("Name of the new view").fill("Broken ones");
  await dialog.getByRole("button", { name: "Save view" }).click();
  await expect(dialog.getByRole("link", { name: "Broken ones" })).toHaveAttribute("aria-current", "true");
  await expectAccessible(page);

  // Opens the link, whose URL contains the whole view.
  await page.goto(`${ownDesk.url}/jobs`);
  await expect(rows(page)).toHaveCount(1);
  await views.click();
  await dialog.getByRole("link", { name: "Broken ones" }).click();
  await expect(page).toHaveURL(/\/jobs\?.*status=failed/);
  await expect(page).toHaveURL(/sort_by=execution_time/);
  await expect(page).toHaveURL(/limit=25/);
  await expect(page.getByText("No jobs match these filters")).toBeVisible();

  // The default view is shown first, and all jobs are one click away.
  await views.click();
  const star = dialog.getByRole("button", { name: "Use Broken ones" });
  await star.click();
  await expect(star).toHaveAttribute("aria-pressed", "true");
  await page.goto(`${ownDesk.url}/jobs`);
  await expect(page).toHaveURL(/status=failed/);
  await page.getByRole("link", { name: "Show all jobs" }).click();
  await expect(rows(page)).toHaveCount(1);
  await page.reload();
  await expect(rows(page)).toHaveCount(1);

  await views.click();
  await dialog.getByRole("button", { name: "Remove Broken ones" }).click();
  await expect(dialog).toContainText("No saved views yet");
  await page.goto(`${ownDesk.url}/jobs`);
  await expect(rows(page)).toHaveCount(1);
  await expect(page).not.toHaveURL(/status=/);
});
