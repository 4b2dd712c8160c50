// A GPU server becomes a runner, runs a job that only it can run, and is paused by an admin.
import { gpuClasses } from "@/tests/support/gpu-classes";
import { startRunnerServer } from "@/tests/support/runner-server";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { createPhoto, drop, workflow } from "./support/files";
import { cancel, submit, untilState } from "./support/jobs";
import { type Graph, readShown } from "./support/shown-is-sent";
import { expect, test } from "./support/test";

const graph = (seed: number) => ({
  "1": { class_type: "LoadModel", inputs: { model: "house.safetensors" } },
  "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt: "a house" } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "house" } },
});
const LABEL = "Studio GPU";

test("adds a runner, runs a job only it can run and waits while it is paused", async ({ signedIn: page, desk }) => {
  const { bytes } = await createPhoto({ r: 200, g: 40, b: 40 });
  const server = await startRunnerServer({
    objectInfo: gpuClasses(["house.safetensors"]),
    makeOutput: () => ({ files: [{ name: "house_00001_.png", bytes }] }),
  });
  server.does("hold");
  const headers = { origin: desk.url };
  try {
    await page.goto(`${desk.url}/settings/runners`);
    await expect(page.getByText("Only the built-in runner so far")).toBeVisible();
    await page.getByRole("button", { name: "Add a runner" }).click();
    const form = page.getByRole("region", { name: "Add a runner" });
    await form.getByLabel("Address").fill(`${server.address}/api`);
    await form.getByLabel("Name").fill(LABEL);
    await form.getByRole("button", { name: "Check" }).click();
    await expect(form.getByText("The server is responding")).toBeVisible();
    await form.getByRole("button", { name: "Add runner" }).click();
    const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: LABEL }) });
    await expect(row).toContainText(server.address);
    await expect(row.getByRole("progressbar", { name: "Memory of gpu 0" })).toHaveAttribute("aria-valuenow", "50");
    await expectAccessibleInBothThemes(page);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.goto(`${desk.url}/run`);
    await drop(page.getByText("Drop a workflow file here"), workflow("house.json", graph(7)));
    await page.locator("#field-2-prompt").fill("a red house");
    const controls = await readShown(page);
    const pendingResponse = page.waitForResponse(
      (response) => response.request().method() === "POST" && response.url().includes("/api/prompt"),
    );
    await page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true }).click();
    const { prompt_id: job }: { prompt_id: string } = await (await pendingResponse).json();
    await expect.poll(() => server.seen.submissions.length).toBe(1);
    // The server received the shown values.
    const got = server.seen.submissions[0]?.prompt as Graph;
    for (const [id, { value }] of Object.entries(controls)) {
      const [, node = "", name = ""] = /^field-([^-]+)-(.+)$/.exec(id) ?? [];
      expect(String(got[node]?.inputs[name]), id).toBe(value);
    }
    expect(got["2"]?.inputs.prompt).toBe("a red house");

    await page.goto(`${desk.url}/jobs/${job}`);
    await expect(page.getByText("now LoadModel", { exact: false })).toBeVisible();
    server.release();
    await expect(page.getByRole("definition").filter({ hasText: LABEL })).toBeVisible();
    await expect(page.getByRole("region", { name: "Outputs" }).getByRole("img").first()).toHaveJSProperty("complete", true);
    await expect(page.getByRole("region", { name: "Outputs" })).toContainText("house_00001_.png");

    await page.goto(`${desk.url}/settings/runners`);
    await row.getByRole("button", { name: `Pause: ${LABEL}` }).click();
    await expect(row).toContainText("Paused");
    await expect(row).toContainText("1 done, 0 failed");
    const waiting = await submit(page.request, desk, graph(8));
    await page.goto(`${desk.url}/queue`);
    await expect(page.getByText(`${LABEL}: paused`)).toBeVisible();
    await page.goto(`${desk.url}/jobs/${waiting}`);
    await expect(page.getByText(`Only the runner ${LABEL} can run this job, and it is paused.`)).toBeVisible();
    await cancel(page.request, desk, waiting);
    await untilState(page.request, desk, waiting, "cancelled");

    await page.goto(`${desk.url}/settings/runners`);
    await row.getByRole("button", { name: `Remove: ${LABEL}` }).click();
    await page.getByRole("button", { name: `Remove ${LABEL}` }).click();
    await expect(row).toHaveCount(0);
    // Its jobs still show its name.
    await page.goto(`${desk.url}/jobs/${job}`);
    await expect(page.getByRole("definition").filter({ hasText: LABEL })).toBeVisible();
    expect(server.seen.submissions).toHaveLength(1);
  } finally {
    // Leave the shared console to the next test as it was.
    const { runners }: { runners: { id: string; address: string | null }[] } = await (
      await page.request.get(`${desk.url}/api/console/runners`)
    ).json();
    for (const { id, address } of runners)
      if (address !== null) await page.request.delete(`${desk.url}/api/console/runners/${id}`, { headers });
    await server.close();
  }
});
