import { createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

test("cancels one, several or all pending jobs and reports the results", async ({ signedIn: page, desk }) => {
  const running = await submitJob(page.request, desk, createSlowGraph(120, "-running"));
  const pending: string[] = [];
  for (const salt of ["-1", "-2", "-3", "-4", "-5", "-6"]) pending.push(await submitJob(page.request, desk, createSlowGraph(1, salt)));
  await waitForState(page.request, desk, running, "in_progress");
  const [firstId = "", , thirdId = ""] = pending.map((id) => id.slice(0, 8));

  await page.goto(`${desk.url}/queue`);
  await expect(page.getByText("1 running, 6 pending")).toBeVisible();

  // A cancellation can be undone for five seconds.
  await page.getByRole("button", { name: `Cancel job ${firstId}` }).click();
  await page.getByRole("button", { name: `Undo cancelling job ${firstId}` }).click();
  await expect(page.getByText("Kept 1 job")).toBeVisible();

  // Cancels a range of three jobs and undoes one of them.
  const bodies: unknown[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().includes("/api/queue")) bodies.push(request.postDataJSON());
  });
  const actions = page.getByRole("region", { name: "Actions for the selected jobs" });
  await page.getByRole("checkbox", { name: `Select job ${firstId}` }).check();
  await page.getByRole("checkbox", { name: `Select job ${thirdId}` }).click({ modifiers: ["Shift"] });
  await page.getByRole("region", { name: "Selected rows" }).getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: `Undo cancelling job ${thirdId}` }).click();
  await expect(actions.getByText("Cancelling 2 jobs")).toBeVisible();
  await expect(page.getByText("2 cancelled", { exact: true })).toBeVisible();
  await expect(page.getByText("1 running, 4 pending")).toBeVisible();
  expect(bodies).toEqual([{ delete: pending.slice(0, 2) }]);

  // Clears the remaining jobs after a confirmation.
  await page.getByRole("button", { name: "Clear 4 pending jobs" }).click();
  await expect(page.getByRole("dialog")).toContainText("This can't be undone");
  await page.getByRole("dialog").getByRole("button", { name: "Clear 4 pending jobs" }).click();
  await expect(page.getByText("4 cancelled", { exact: true })).toBeVisible();
  await expect(page.getByText("1 running, 0 pending")).toBeVisible();
  for (const id of pending) await waitForState(page.request, desk, id, "cancelled");
  await waitForState(page.request, desk, running, "in_progress");

  // Stops a running job. Leaving the page sends the pending action immediately.
  await page.getByRole("button", { name: `Stop job ${running.slice(0, 8)}` }).click();
  await page.getByRole("link", { name: "Assets" }).first().click();
  await waitForState(page.request, desk, running, "cancelled");
  await expect(page.getByText("1 stopped")).toBeVisible();
});
