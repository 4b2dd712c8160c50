import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { dropFile, readSample } from "./support/files";
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

test("marks the failed node on Run", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/run`);
  await dropFile(page.getByText("Drop a workflow file here"), readSample("06-fails-half-way"));
  await page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true }).click();
  await expect(getNode(page, "4")).toContainText("failed");
});

test("stops a running job, cancels a waiting one with Undo and reruns an ended one", async ({ signedIn: page, desk }) => {
  const runningJobId = await submitJob(page.request, desk, createSlowGraph(120, "-running"));
  const pendingJobId = await submitJob(page.request, desk, createSlowGraph(1, "-waiting"));
  await waitForState(page.request, desk, runningJobId, "in_progress");

  await page.goto(`${desk.url}/jobs/${pendingJobId}`);
  await page.getByRole("button", { name: "Cancel job" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Kept 1 job")).toBeVisible();
  await page.getByRole("button", { name: "Cancel job" }).click();
  await expect(page.getByText("1 cancelled", { exact: true })).toBeVisible();
  await waitForState(page.request, desk, pendingJobId, "cancelled");
  await expect(page.getByRole("button", { name: "Cancel job" })).toBeHidden();

  await page.goto(`${desk.url}/jobs/${runningJobId}`);
  await expect(getNode(page, "2")).toContainText("running");
  await expect(getNode(page, "4")).toContainText("waiting");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Stop job" }).click();
  await expect(page.getByText("1 stopped", { exact: true })).toBeVisible();
  await waitForState(page.request, desk, runningJobId, "cancelled");
  // The node at which the job was stopped is not shown as done in the graph, its panel, the list or the timeline.
  await expect(getNode(page, "2")).toContainText("stopped");
  await expect(getNode(page, "4")).toContainText("not reached");
  await expect(page.getByRole("region", { name: "Timeline" }).getByRole("listitem").filter({ hasText: "#2" })).toContainText("stopped");
  await getNode(page, "2").click();
  await expect(page.getByRole("region", { name: /^Node 2:/ })).toContainText("stopped");
  await page.getByRole("button", { name: "List", exact: true }).click();
  await expect(page.getByRole("list", { name: "Nodes of the workflow" }).getByRole("button", { name: /#2/ })).toContainText("stopped");

  await page.goto(`${desk.url}/jobs/${pendingJobId}`);
  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByRole("link", { name: /^Open / }).click();
  await expect(page).not.toHaveURL(new RegExp(pendingJobId));
  await expect(page.getByText("Completed").filter({ visible: true }).first()).toBeVisible();

  await test.step("fits the graph to a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    const nodes = page.locator("[data-node]");
    // The graph replaces its placeholder when it scrolls into view.
    await expect(async () => {
      await page.getByRole("heading", { name: "Graph" }).scrollIntoViewIfNeeded({ timeout: 1_000 });
      await expect(nodes).toHaveCount(4, { timeout: 1_000 });
    }).toPass();
    // It is fitted after its container is measured.
    await expect(async () => {
      for (const node of await nodes.all()) {
        const box = await node.boundingBox();
        expect(box?.x).toBeGreaterThanOrEqual(0);
        expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
      }
    }).toPass();
    await nodes.first().scrollIntoViewIfNeeded();
  });
});
