// A GPU server becomes a runner, runs a job that only it can run, and is paused by an admin.
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { startRunnerServer } from "@/tests/support/runner-server";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { createPhoto, createWorkflowFile, dropFile } from "./support/files";
import { type Graph, readControls } from "./support/form-values";
import { cancelJob, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

const createGraph = (seed: number) => ({
  "1": { class_type: "LoadModel", inputs: { model: "house.safetensors" } },
  "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt: "a house" } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "house" } },
});
const RUNNER_LABEL = "Studio GPU";

test("adds a runner, runs a job on it and keeps jobs waiting while it is paused", async ({ signedIn: page, desk }) => {
  const { bytes } = await createPhoto({ r: 200, g: 40, b: 40 });
  const server = await startRunnerServer({
    objectInfo: createGpuClasses(["house.safetensors"]),
    makeOutput: () => ({ files: [{ name: "house_00001_.png", bytes }] }),
  });
  server.setMode("hold");
  const headers = { origin: desk.url };
  try {
    await page.goto(`${desk.url}/settings/runners`);
    await expect(page.getByText("Only the built-in runner so far")).toBeVisible();
    await page.getByRole("button", { name: "Add a runner" }).click();
    const form = page.getByRole("region", { name: "Add a runner" });
    await form.getByLabel("Address").fill(`${server.address}/api`);
    await form.getByLabel("Name").fill(RUNNER_LABEL);
    await form.getByRole("button", { name: "Check" }).click();
    await expect(form.getByText("The server is responding")).toBeVisible();
    await form.getByRole("button", { name: "Add runner" }).click();
    const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: RUNNER_LABEL }) });
    await expect(row).toContainText(server.address);
    await expect(row.getByRole("progressbar", { name: "Memory of gpu 0" })).toHaveAttribute("aria-valuenow", "50");
    await expectAccessibleInBothThemes(page);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.goto(`${desk.url}/run`);
    await dropFile(page.getByText("Drop a workflow file here"), createWorkflowFile("house.json", createGraph(7)));
    await page.locator("#field-2-prompt").fill("a red house");
    const controls = await readControls(page);
    const pendingResponse = page.waitForResponse(
      (response) => response.request().method() === "POST" && response.url().includes("/api/prompt"),
    );
    await page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true }).click();
    const { prompt_id: job }: { prompt_id: string } = await (await pendingResponse).json();
    await expect.poll(() => server.seen.submissions.length).toBe(1);
    // The server received the shown values.
    const receivedGraph = server.seen.submissions[0]?.prompt as Graph;
    for (const [id, { value }] of Object.entries(controls)) {
      const [, node = "", name = ""] = /^field-([^-]+)-(.+)$/.exec(id) ?? [];
      expect(String(receivedGraph[node]?.inputs[name]), id).toBe(value);
    }
    expect(receivedGraph["2"]?.inputs.prompt).toBe("a red house");

    await page.goto(`${desk.url}/jobs/${job}`);
    await expect(page.getByText("running LoadModel", { exact: false })).toBeVisible();
    server.release();
    await expect(page.getByRole("definition").filter({ hasText: RUNNER_LABEL })).toBeVisible();
    await expect(page.getByRole("region", { name: "Outputs" }).getByRole("img").first()).toHaveJSProperty("complete", true);
    await expect(page.getByRole("region", { name: "Outputs" })).toContainText("house_00001_.png");

    await page.goto(`${desk.url}/settings/runners`);
    await row.getByRole("button", { name: `Pause: ${RUNNER_LABEL}` }).click();
    await expect(row).toContainText("Paused");
    await expect(row).toContainText("1 done, 0 failed");
    const waitingJob = await submitJob(page.request, desk, createGraph(8));
    await page.goto(`${desk.url}/queue`);
    await expect(page.getByText(`${RUNNER_LABEL}: paused`)).toBeVisible();
    await page.goto(`${desk.url}/jobs/${waitingJob}`);
    await expect(page.getByText(`Only the runner ${RUNNER_LABEL} can run this job, and it is paused.`)).toBeVisible();
    await cancelJob(page.request, desk, waitingJob);
    await waitForState(page.request, desk, waitingJob, "cancelled");

    await page.goto(`${desk.url}/settings/runners`);
    await row.getByRole("button", { name: `Remove: ${RUNNER_LABEL}` }).click();
    await page.getByRole("button", { name: `Remove ${RUNNER_LABEL}` }).click();
    await expect(row).toHaveCount(0);
    // Jobs of a removed runner still show its name.
    await page.goto(`${desk.url}/jobs/${job}`);
    await expect(page.getByRole("definition").filter({ hasText: RUNNER_LABEL })).toBeVisible();
    expect(server.seen.submissions).toHaveLength(1);
  } finally {
    // Remove the runners, since the next test shares this console.
    const { runners }: { runners: { id: string; address: string | null }[] } = await (
      await page.request.get(`${desk.url}/api/console/runners`)
    ).json();
    for (const { id, address } of runners)
      if (address !== null) await page.request.delete(`${desk.url}/api/console/runners/${id}`, { headers });
    await server.close();
  }
});
