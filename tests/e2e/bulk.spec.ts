import { readFile } from "node:fs/promises";
import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";
const selectJob = (page: Page, id: string) => page.locator(`tr[data-row="${id}"]`).getByRole("checkbox").check();
const getSelectionBar = (page: Page) => page.getByRole("region", { name: "Selected rows" });
const getOutcome = (page: Page) => page.getByRole("region", { name: "Actions for the selected jobs" });

test("cancels, reruns, downloads and deletes the selection with a result per job", async ({ signedIn: page, desk }) => {
  const doneId = await submitJob(page.request, desk, createSlowGraph(0.02, "-done"));
  await waitForState(page.request, desk, doneId, "completed");
  const runningId = await submitJob(page.request, desk, createSlowGraph(120, "-runs"));
  await waitForState(page.request, desk, runningId, "in_progress");
  const waitingId = await submitJob(page.request, desk, createSlowGraph(0.02, "-waits"));
  await page.goto(`${desk.url}/jobs`);

  // The action is scheduled, undone, scheduled again and then executed.
  for (const id of [doneId, runningId, waitingId]) await selectJob(page, id);
  await expectAccessible(page);
  await getSelectionBar(page).getByRole("button", { name: "Cancel" }).click();
  await getOutcome(page).getByRole("button", { name: "Undo" }).click();
  await getSelectionBar(page).getByRole("button", { name: "Cancel" }).click();
  await expect(getOutcome(page)).toContainText("1 cancelled, 1 stopped");
  await waitForState(page.request, desk, runningId, "cancelled");
  await getOutcome(page).getByRole("button", { name: "Show results" }).click();
  const result = page.getByRole("dialog");
  await expect(result.getByRole("row", { name: runningId })).toContainText("Stopped");
  await expect(result.getByRole("row", { name: waitingId })).toContainText("Cancelled");
  await expectAccessible(page);
  await result.getByRole("button", { name: "Close" }).click();
  await getOutcome(page).getByRole("button", { name: "Dismiss" }).click();

  // A single job is rerun without confirmation. The test waits for its row, which moves the other rows.
  const rows = page.locator("tr[data-row]");
  const count = await rows.count();
  await selectJob(page, doneId);
  await getSelectionBar(page).getByRole("button", { name: "Run again" }).click();
  await expect(getOutcome(page)).toContainText("1 run again");
  await expect(rows).toHaveCount(count + 1);
  await getOutcome(page).getByRole("button", { name: "Dismiss" }).click();

  // The file contains exactly the chosen jobs.
  await selectJob(page, doneId);
  await selectJob(page, waitingId);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    getSelectionBar(page).getByRole("link", { name: "Export CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^jobs-\d{4}-\d{2}-\d{2}\.csv$/);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  expect(lines.slice(1).map((line) => line.split(",").slice(0, 2))).toEqual([
    [waitingId, "cancelled"],
    [doneId, "completed"],
  ]);

  await getSelectionBar(page).getByRole("button", { name: "Remove from history" }).click();
  await expect(getOutcome(page)).toContainText("2 removed from history");
  await expect(page.locator(`tr[data-row="${doneId}"]`)).toHaveCount(0);
});
