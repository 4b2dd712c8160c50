// Views of jobs that are saved and shared, and actions on all matching jobs: more than a page shows.
import { type Page } from "@playwright/test";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { keepConnection } from "./support/connections";
import { slowGraph, submit, untilState } from "./support/jobs";
import { expect, test } from "./support/test";

const rows = (page: Page) => page.locator("tr[data-row]");
const bar = (page: Page) => page.getByRole("region", { name: "Selected rows" });
const outcome = (page: Page) => page.getByRole("region", { name: "Actions for the selected jobs" });

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

test("filters jobs by the id of a workflow", async ({ signedIn: page, desk }) => {
  const workflow = "11111111-2222-4333-8444-555555555555";
  const data = { prompt: slowGraph(0.02, "-mine"), extra_data: { extra_pnginfo: { workflow: { id: workflow } } }, workflow_id: workflow };
  const response = await page.request.post(`${desk.url}/api/prompt`, { data, headers: { origin: desk.url } });
  const { prompt_id: ownJobId }: { prompt_id: string } = await response.json();
  const otherId = await submit(page.request, desk, slowGraph(0.02, "-other"));
  await untilState(page.request, desk, otherId, "completed");
  await page.goto(`${desk.url}/jobs`);
  await expect(page.locator(`tr[data-row="${otherId}"]`)).toBeVisible();
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByRole("group", { name: "Workflow" }).getByRole("button").click();
  const dialog = page.getByRole("dialog", { name: "Filter by workflow" });
  await dialog.getByLabel("Name or id").fill(workflow);
  await expectAccessible(page);
  await dialog.getByLabel("Name or id").press("Enter");
  await expect(page).toHaveURL(new RegExp(`workflow_id=${workflow}`));
  await expect(rows(page)).toHaveCount(1);
  await expect(page.locator(`tr[data-row="${ownJobId}"]`)).toBeVisible();
  await expect(page.getByRole("button", { name: "Filters: 1" })).toBeVisible();
  await page.getByRole("group", { name: "Workflow" }).getByRole("button").click();
  await dialog.getByRole("button", { name: "Any workflow" }).click();
  await expect(page.locator(`tr[data-row="${otherId}"]`)).toBeVisible();
});

test("cancels all matching jobs across pages on a plain local server", async ({ signedIn: page, desk }) => {
  const server = await startLocalServer();
  const ids = Array.from({ length: 31 }, () => server.submit());
  server.begin();
  const connection = await keepConnection(page, desk, { name: "Local", baseUrl: server.url });
  await page.goto(`${desk.url}/jobs?connection=${connection}&status=pending&limit=25`);
  await expect(rows(page)).toHaveCount(25);
  await test.step("selects the page by one key press and all matching by two", async () => {
    await rows(page).first().getByRole("checkbox").check();
    await page.keyboard.press("ControlOrMeta+a");
    await expect(bar(page)).toContainText("25 selected");
    await page.keyboard.press("ControlOrMeta+a");
    await expect(bar(page)).toContainText("30 selected");
    await page.keyboard.press("Escape");
    await expect(bar(page)).toBeHidden();
  });
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  const all = bar(page).getByRole("button", { name: "Select all 30 matching jobs" });
  await expect(all).toBeInViewport();
  await all.click();
  await expect(bar(page)).toContainText("30 selected");
  await expectAccessible(page);
  await bar(page).getByRole("button", { name: "Cancel" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("This cannot be undone");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: /^Cancel 30 jobs$/ }).click();
  await expect(outcome(page)).toContainText("30 cancelled");
  expect(server.place.pending).toEqual([]);
  expect(server.place.running.map(([, id]) => id)).toEqual(ids.slice(0, 1));
  await outcome(page).getByRole("button", { name: "Show results" }).click();
  await expect(page.getByRole("dialog").getByRole("row")).toHaveCount(31);
  await expectAccessible(page);
  await server.close();
});
