import { type Page } from "@playwright/test";
import { type Desk } from "./support/desk";
import { readSample } from "./support/files";
import { clearHistory, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

test("removes entries with Undo, clears the history and keeps assets", async ({ signedIn: page, desk }) => {
  await clearHistory(page.request, desk);
  await page.goto(`${desk.url}/history`);
  await expect(page.getByText("The history is empty")).toBeVisible();
  // The message is below the filters, near the top, as in the other lists.
  expect((await page.getByText("The history is empty").boundingBox())?.y).toBeLessThan(300);

  const graph = JSON.parse(readSample("01-invert").bytes.toString("utf8"));
  const ids: string[] = [];
  for (let run = 0; run < 3; run += 1) {
    const id = await submitJob(page.request, desk, graph);
    await waitForState(page.request, desk, id, "completed");
    ids.push(id.slice(0, 8));
  }
  const assetCount = await countOutputs(page, desk);
  expect(assetCount).toBeGreaterThanOrEqual(3);
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

  // After Undo, the selection is restored.
  await expect(bar).toContainText("1 selected");
  await bar.getByRole("button", { name: "Remove from history" }).click();
  await expect(page.getByText("1 removed from history")).toBeVisible();
  await expect(rows).toHaveCount(2);

  await page.getByRole("button", { name: "Clear 2 entries" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Clear 2 entries" })).toBeDisabled();
  await dialog.getByRole("textbox").fill("clear");
  await dialog.getByRole("textbox").press("Enter");
  await expect(page.getByText("History cleared")).toBeVisible();
  await expect(page.getByText("The history is empty")).toBeVisible();
  await page.goto(`${desk.url}/jobs`);
  await expect(page.locator("tr[data-row]")).toHaveCount(0);
  await expect(page.getByText("No jobs yet").filter({ visible: true }).first()).toBeVisible();
  expect(await countOutputs(page, desk)).toBe(assetCount);
});

async function countOutputs(page: Page, desk: Desk): Promise<number> {
  const { total }: { total: number } = await (await page.request.get(`${desk.url}/api/assets?include_tags=output`)).json();
  return total;
}
