// Saved views of jobs.
import { type Page } from "@playwright/test";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { clearHistory, createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

const getRows = (page: Page) => page.locator("tr[data-row]");

test("saves, opens, sets as default and removes a saved view", async ({ signedIn: page, desk }) => {
  await clearHistory(page.request, desk);
  const doneId = await submitJob(page.request, desk, createSlowGraph(0.02));
  await waitForState(page.request, desk, doneId, "completed");
  await page.goto(`${desk.url}/jobs?status=failed&sort_by=execution_time&limit=25`);
  await expect(page.getByText("No jobs match these filters")).toBeVisible();
  const viewsButton = page.getByRole("button", { name: "Views" });
  const dialog = page.getByRole("dialog", { name: "Saved views" });
  await viewsButton.click();
  await expect(dialog).toContainText("No saved views yet");
  await dialog.getByLabel("Name of the new view").fill("Broken ones");
  await dialog.getByRole("button", { name: "Save view" }).click();
  await expect(dialog.getByRole("link", { name: "Broken ones" })).toHaveAttribute("aria-current", "true");
  await expectAccessibleInBothThemes(page);

  // The link's URL contains the whole view.
  await page.goto(`${desk.url}/jobs`);
  await expect(getRows(page)).toHaveCount(1);
  await viewsButton.click();
  await dialog.getByRole("link", { name: "Broken ones" }).click();
  await expect(page).toHaveURL(/\/jobs\?.*status=failed/);
  await expect(page).toHaveURL(/sort_by=execution_time/);
  await expect(page).toHaveURL(/limit=25/);
  await expect(page.getByText("No jobs match these filters")).toBeVisible();

  // Jobs opens with the default view, and a link shows all jobs.
  await viewsButton.click();
  const defaultButton = dialog.getByRole("button", { name: "Use Broken ones" });
  await defaultButton.click();
  await expect(defaultButton).toHaveAttribute("aria-pressed", "true");
  await page.goto(`${desk.url}/jobs`);
  await expect(page).toHaveURL(/status=failed/);
  await page.getByRole("link", { name: "Show all jobs" }).click();
  await expect(getRows(page)).toHaveCount(1);

  await viewsButton.click();
  await dialog.getByRole("button", { name: "Remove Broken ones" }).click();
  await expect(dialog).toContainText("No saved views yet");
  await page.goto(`${desk.url}/jobs`);
  await expect(getRows(page)).toHaveCount(1);
  await expect(page).not.toHaveURL(/status=/);
});
