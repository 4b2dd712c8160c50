import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { saveConnection } from "./support/connections";
import { readSample } from "./support/files";
import { createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

const createGraph = (name: string): unknown => JSON.parse(readSample(name).bytes.toString("utf8"));
const getNode = (page: Page, id: string) => page.getByRole("group", { name: /Workflow graph/ }).locator(`[data-node="${id}"]`);

test("shows a failed job's node, graph, JSON and last runs", async ({ signedIn: page, desk }) => {
  const firstJobId = await submitJob(page.request, desk, createGraph("06-fails-half-way"));
  await waitForState(page.request, desk, firstJobId, "failed");
  const failedJobId = await submitJob(page.request, desk, createGraph("06-fails-half-way"));
  await waitForState(page.request, desk, failedJobId, "failed");
  await page.goto(`${desk.url}/jobs/${failedJobId}`);
  await expect(page.getByRole("heading", { name: "Job", level: 1 })).toBeVisible();
  await expect(page).toHaveTitle(`Job ${failedJobId.slice(0, 8)} · Lightdesk`);
  await page.getByRole("button", { name: "Show in graph" }).click();
  const panel = page.getByRole("region", { name: "Node 4: Breaks here" });
  await expect(panel.getByText("RuntimeError: the sampler ran out of memory")).toBeVisible();
  await expect(getNode(page, "4")).toContainText("failed");
  await expect(getNode(page, "5")).toContainText("not reached");
  await expectAccessible(page);

  await page.getByRole("searchbox", { name: "Find a node" }).fill("EmptyImage");
  await page.keyboard.press("Enter");
  // The class shows its display name as soon as the catalogue is loaded.
  await expect(page.getByRole("region", { name: /^Node 1: Empty ?Image$/ }).getByText("15680580")).toBeVisible();
  await page.getByRole("searchbox", { name: "Find a node" }).fill("");

  // Opens a node from the list by keyboard.
  await page.getByRole("button", { name: "List", exact: true }).click();
  const nodeList = page.getByRole("list", { name: "Nodes of the workflow" });
  await nodeList.getByRole("button", { name: /Preview ?Image/ }).press("Enter");
  await expect(page.getByRole("region", { name: /^Node 2: Preview ?Image$/ })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  await expect(page.getByLabel("The workflow as JSON", { exact: true })).toContainText('"class_type": "Fail"');
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download", exact: true }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.json$/);
  await expectAccessible(page);

  const runs = page.getByRole("region", { name: /runs of this workflow/ });
  await runs
    .getByRole("link", { name: new RegExp(`^Run ${firstJobId.slice(0, 8)}`) })
    .first()
    .click();
  await expect(page).toHaveURL(new RegExp(firstJobId));
});

test("stops a running job, cancels a waiting one with Undo and reruns an ended one", async ({ page, ownDesk }) => {
  const runningJobId = await submitJob(page.request, ownDesk, createSlowGraph(120, "-running"));
  const pendingJobId = await submitJob(page.request, ownDesk, createSlowGraph(1, "-waiting"));
  await waitForState(page.request, ownDesk, runningJobId, "in_progress");

  await page.goto(`${ownDesk.url}/jobs/${pendingJobId}`);
  await page.getByRole("button", { name: "Cancel job" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Cancelling 1 job")).toBeHidden();
  await expect(page.getByText("Kept 1 job")).toBeVisible();
  await page.getByRole("button", { name: "Cancel job" }).click();
  await expect(page.getByText("1 cancelled", { exact: true })).toBeVisible();
  await waitForState(page.request, ownDesk, pendingJobId, "cancelled");
  await expect(page.getByRole("button", { name: "Cancel job" })).toBeHidden();

  await page.goto(`${ownDesk.url}/jobs/${runningJobId}`);
  await expect(getNode(page, "2")).toContainText("running");
  await expect(getNode(page, "4")).toContainText("waiting");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Stop job" }).click();
  await expect(page.getByText("1 stopped", { exact: true })).toBeVisible();
  await waitForState(page.request, ownDesk, runningJobId, "cancelled");
  // The node at which the job was stopped is not shown as done in the graph, its panel, the list or the timeline.
  await expect(getNode(page, "2")).toContainText("stopped");
  await expect(getNode(page, "4")).toContainText("not reached");
  await expect(page.getByRole("region", { name: "Timeline" }).getByRole("listitem").filter({ hasText: "#2" })).toContainText("stopped");
  await getNode(page, "2").click();
  await expect(page.getByRole("region", { name: /^Node 2:/ })).toContainText("stopped");
  await page.getByRole("button", { name: "List", exact: true }).click();
  await expect(page.getByRole("list", { name: "Nodes of the workflow" }).getByRole("button", { name: /#2/ })).toContainText("stopped");

  await page.goto(`${ownDesk.url}/jobs/${pendingJobId}`);
  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByRole("link", { name: /^Open / }).click();
  await expect(page).not.toHaveURL(new RegExp(pendingJobId));
  await expect(page.getByText("Completed").filter({ visible: true }).first()).toBeVisible();
  // Cancelled runs are reported as cancelled, not as runs without a failure.
  await page.reload();
  const runs = page.getByRole("region", { name: /runs of this workflow/ });
  await expect(runs.getByText("1 completed, 2 cancelled", { exact: true })).toBeVisible();
  await expect(runs.getByRole("link", { name: /Cancelled/ })).toHaveCount(2);
  await expect(page.getByText(/none failed|All \d+ runs completed/)).toHaveCount(0);
});

test("opens a linked job on its own connection", async ({ signedIn: page, desk, service }) => {
  const connection = await saveConnection(page, desk, { name: "Second studio", baseUrl: service.url, key: service.key });
  const id = await submitJob(page.request, desk, createSlowGraph(0, "elsewhere"), { connection });
  await page.goto(`${desk.url}/jobs/${id}`);
  await expect(page).toHaveURL(`${desk.url}/jobs/${id}?connection=${connection}`);
  await expect(page.getByRole("button", { name: "Switch connection, now Second studio" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Job", level: 1 })).toBeVisible();
  await expect(page.getByText("Job not found")).toBeHidden();
});
