import { slowGraph, submit, untilState } from "./support/jobs";
import { expect, test } from "./support/test";

test("cancels one, several and all pending jobs, with the actual results", async ({ signedIn: page, desk }) => {
  const running = await submit(page.request, desk, slowGraph(120, "-running"));
  const pending: string[] = [];
  for (const salt of ["-1", "-2", "-3", "-4", "-5", "-6"]) pending.push(await submit(page.request, desk, slowGraph(1, salt)));
  await untilState(page.request, desk, running, "in_progress");
  const [one = "", , three = "", four = ""] = pending.map((id) => id.slice(0, 8));

  await page.goto(`${desk.url}/queue`);
  await expect(page.getByText("1 running, 6 pending")).toBeVisible();

  // The cancel can be undone for five seconds.
  await page.getByRole("button", { name: `Cancel job ${one}` }).click();
  await page.getByRole("button", { name: `Undo cancelling job ${one}` }).click();
  await expect(page.getByText("Kept 1 job")).toBeVisible();
  await expect(page.getByText("Cancelling 1 job")).toBeHidden();

  // Removes three by a range and undoes one of them. A second action has its own Undo.
  const bodies: unknown[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().includes("/api/queue")) bodies.push(request.postDataJSON());
  });
  const actions = page.getByRole("region", { name: "Actions for the selected jobs" });
  await page.getByRole("checkbox", { name: `Select job ${one}` }).check();
  await page.getByRole("checkbox", { name: `Select job ${three}` }).click({ modifiers: ["Shift"] });
  await page.getByRole("region", { name: "Selected rows" }).getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: `Undo cancelling job ${three}` }).click();
  await expect(actions.getByText("Cancelling 2 jobs")).toBeVisible();
  await page.getByRole("button", { name: `Cancel job ${four}` }).click();
  await expect(actions.getByText("Cancelling 2 jobs")).toBeVisible();
  await actions.getByRole("button", { name: "Undo" }).last().click();
  await expect(actions.getByText("Cancelling 1 job", { exact: true })).toBeHidden();
  await expect(page.getByText("2 cancelled", { exact: true })).toBeVisible();
  await expect(page.getByText("1 running, 4 pending")).toBeVisible();
  expect(bodies).toEqual([{ delete: pending.slice(0, 2) }]);

  // Ctrl A with the focus on a checkbox selects the waiting rows, and no text of the page.
  await page.getByRole("checkbox", { name: `Select job ${three}` }).check();
  await page.keyboard.press("Control+a");
  await expect(page.getByRole("region", { name: "Selected rows" })).toContainText("4 selected");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: `Cancel job ${three}` }).click();
  await expect(page.getByText("1 cancelled", { exact: true })).toBeVisible();
  await expect(page.getByText("1 running, 3 pending")).toBeVisible();

  // One job starts before the user decides: the message reports it correctly.
  await page.getByRole("checkbox", { name: `Select job ${four}` }).check();
  await page.getByRole("button", { name: "Clear 3 pending jobs" }).click();
  await expect(page.getByRole("dialog")).toContainText("This cannot be undone");
  await page.getByRole("dialog").getByRole("button", { name: "Clear 3 pending jobs" }).click();
  await expect(page.getByText("3 cancelled", { exact: true })).toBeVisible();
  await expect(page.getByText("1 running, 0 pending")).toBeVisible();
  for (const id of pending) await untilState(page.request, desk, id, "cancelled");
  await untilState(page.request, desk, running, "in_progress");

  // Stops a running job. Leaving the page sends the pending action immediately.
  await page.getByRole("button", { name: `Stop job ${running.slice(0, 8)}` }).click();
  await page.getByRole("link", { name: "Assets" }).first().click();
  await untilState(page.request, desk, running, "cancelled");
  await expect(page.getByText("1 stopped")).toBeVisible();
});
