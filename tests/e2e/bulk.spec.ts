import { readFile } from "node:fs/promises";
import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { slowGraph, submit, untilState } from "./support/jobs";
import { expect, test } from "./support/test";
const choose = (page: Page, id: string) => page.locator(`tr[data-row="${id}"]`).getByRole("checkbox").check();
const bar = (page: Page) => page.getByRole("region", { name: "Selected rows" });
const outcome = (page: Page) => page.getByRole("region", { name: "Actions for the selected jobs" });

test("cancels, reruns, downloads and deletes the selection with a result per job", async ({ signedIn: page, desk }) => {
  const doneId = await submit(page.request, desk, slowGraph(0.02, "-done"));
  await untilState(page.request, desk, doneId, "completed");
  const running = await submit(page.request, desk, slowGraph(120, "-runs"));
  await untilState(page.request, desk, running, "in_progress");
  const waits = await submit(page.request, desk, slowGraph(0.02, "-waits"));
  await page.goto(`${desk.url}/jobs`);

  // Scheduled, undone, and then executed.
  for (const id of [doneId, running, waits]) await choose(page, id);
  await expectAccessible(page);
  await bar(page).getByRole("button", { name: "Cancel" }).click();
  await outcome(page).getByRole("button", { name: "Undo" }).click();
  await bar(page).getByRole("button", { name: "Cancel" }).click();
  await expect(outcome(page)).toContainText("1 cancelled, 1 stopped");
  await untilState(page.request, desk, running, "cancelled");
  await outcome(page).getByRole("button", { name: "Show results" }).click();
  const result = page.getByRole("dialog");
  await expect(result.getByRole("row", { name: running })).toContainText("Stopped");
  await expect(result.getByRole("row", { name: waits })).toContainText("Cancelled");
  await expectAccessible(page);
  await result.getByRole("button", { name: "Close" }).click();
  await outcome(page).getByRole("button", { name: "Dismiss" }).click();

  // A single job is rerun without confirmation. Its row moves the others, so the test waits for it.
  const rows = page.locator("tr[data-row]");
  const count = await rows.count();
  await choose(page, doneId);
  await bar(page).getByRole("button", { name: "Run again" }).click();
  await expect(outcome(page)).toContainText("1 run again");
  await expect(rows).toHaveCount(count + 1);
  await outcome(page).getByRole("button", { name: "Dismiss" }).click();

  // The file contains exactly the chosen jobs.
  await choose(page, doneId);
  await choose(page, waits);
  const [download] = await Promise.all([page.waitForEvent("download"), bar(page).getByRole("link", { name: "Export CSV" }).click()]);
  expect(download.suggestedFilename()).toMatch(/^jobs-\d{4}-\d{2}-\d{2}\.csv$/);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  expect(lines.slice(1).map((line) => line.split(",").slice(0, 2))).toEqual([
    [waits, "cancelled"],
    [doneId, "completed"],
  ]);

  await bar(page).getByRole("button", { name: "Remove from history" }).click();
  await expect(outcome(page)).toContainText("2 removed from history");
  await expect(page.locator(`tr[data-row="${doneId}"]`)).toHaveCount(0);
});
