import { readSample } from "./support/files";
import { submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

test("removes entries with Undo, clears the history and keeps assets", async ({ page, ownDesk }) => {
  await page.goto(`${ownDesk.url}/history`);
  await expect(page.getByText("The history is empty")).toBeVisible();
  // The message is below the filters, near the top, as in the other lists.
  expect((await page.getByText("The history is empty").boundingBox())?.y).toBeLessThan(300);

  const graph = JSON.parse(readSample("01-invert").bytes.toString("utf8"));
  const ids: string[] = [];
  for (let run = 0; run < 3; run += 1) {
    const id = await submitJob(page.request, ownDesk, graph);
    await waitForState(page.request, ownDesk, id, "completed");
    ids.push(id.slice(0, 8));
  }
  await page.reload();
  const rows = page.locator("tbody tr");
  const bar = page.getByRole("region", { name: "Selected rows" });
  await expect(rows).toHaveCount(3);
  await expect(rows.first()).toContainText(ids[2] ?? "");
  await expect(page.getByRole("button", { name: "Clear 3 entries" })).toBeVisible();

  await page.getByRole("checkbox", { name: `Select job ${ids[0]}` }).check();
  await bar.getByRole("button", { name: "Remove from history" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Kept 1 job")).toBeVisible();
  await expect(page.getByText("Removing 1 job from history")).toBeHidden();
  await expect(rows).toHaveCount(3);

  // After Undo, the selection is restored. Then selects a range, and the whole page with a key.
  await expect(bar).toContainText("1 selected");
  await page.keyboard.press("Escape");
  await page.getByRole("checkbox", { name: `Select job ${ids[2]}` }).check();
  await page.getByRole("checkbox", { name: `Select job ${ids[1]}` }).click({ modifiers: ["Shift"] });
  await expect(bar).toContainText("2 selected");
  await page.keyboard.press("Control+a");
  await expect(bar).toContainText("3 selected");
  await page.keyboard.press("Escape");

  // Two removals have an Undo each.
  for (const id of [ids[0], ids[1]]) {
    await page.getByRole("checkbox", { name: `Select job ${id}` }).check();
    await bar.getByRole("button", { name: "Remove from history" }).click();
  }
  await expect(page.getByText("Removing 1 job from history")).toHaveCount(2);
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.keyboard.press("Escape");
  await expect(page.getByText("1 removed from history")).toBeVisible();
  await expect(rows).toHaveCount(2);

  // A click anywhere on a row opens its job.
  await rows.first().locator("td").last().click();
  await expect(page).toHaveURL(new RegExp(`/history\\?job=${ids[2]}`));
  await expect(page.getByRole("complementary").getByRole("link", { name: "Open page" })).toBeVisible();
  await page.keyboard.press("Escape");

  // Filters for ended jobs and columns work as in the list of jobs.
  await page.getByRole("link", { name: "Failed" }).click();
  await expect(page.getByText("No entries match these filters")).toBeVisible();
  await page.getByRole("link", { name: "Completed" }).click();
  await page.getByRole("link", { name: "Failed" }).click();
  await expect(rows).toHaveCount(2);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Show Outputs" }).uncheck();
  await page.getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("columnheader", { name: "Outputs" })).toBeHidden();

  await page.getByRole("button", { name: "Clear 2 entries" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Clear 2 entries" })).toBeDisabled();
  await dialog.getByRole("textbox").fill("clear");
  await dialog.getByRole("textbox").press("Enter");
  await expect(page.getByText("History cleared")).toBeVisible();
  await expect(page.getByText("The history is empty")).toBeVisible();
  await page.goto(`${ownDesk.url}/jobs`);
  await expect(page.getByText("No jobs yet").filter({ visible: true }).first()).toBeVisible();
  const assets = await page.request.get(`${ownDesk.url}/api/assets?include_tags=output`);
  expect(await assets.json()).toMatchObject({ total: 3 });
});
