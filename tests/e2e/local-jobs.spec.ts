// Jobs on a local server: stopped, failed, with pictures, and their times.
import { type Locator, type Page } from "@playwright/test";
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { createPhoto } from "./support/files";
import { submitJob } from "./support/jobs";
import { saveConnection } from "./support/steps";
import { expect, test } from "./support/test";
const getNode = (page: Page, id: string) => page.getByRole("group", { name: /Workflow graph/ }).locator(`[data-node="${id}"]`);
const getNaturalWidth = (picture: Locator) => picture.evaluate((img: HTMLImageElement) => img.naturalWidth);

const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 1 } },
  "2": { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 1, sigma: 1 } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "local" } },
};

test("stops only the running job of a local server and shows failures and pictures", async ({ signedIn: page, desk }) => {
  const files = createLocalFiles();
  const server = await startLocalServer(files);
  const connection = await saveConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const toUrl = (path: string) => `${desk.url}${path}?connection=${connection}`;
  const [stoppedId, failedId, doneId] = [
    await submitJob(page.request, desk, graph, { connection }),
    await submitJob(page.request, desk, { ...graph, "4": { class_type: "PreviewImage", inputs: { images: ["2", 0] } } }, { connection }),
    await submitJob(
      page.request,
      desk,
      { ...graph, "4": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "plain" } } },
      { connection },
    ),
  ];
  server.startJob();

  await test.step("stops the running job", async () => {
    await page.goto(toUrl(`/jobs/${stoppedId}`));
    await expect(getNode(page, "1")).toBeVisible();
    // The server reports no progress, so no node is shown as waiting.
    await expect(page.getByRole("group", { name: /Workflow graph/ })).not.toContainText("waiting");
    await page.getByRole("button", { name: "Stop job" }).click();
    await expect(page.getByText("stop requested for 1", { exact: true })).toBeVisible();
    await expect.poll(() => server.state.running).toEqual([]);
    expect(server.state.pending.map(([, id]) => id)).toEqual([failedId, doneId]);
    await expect(getNode(page, "1")).toContainText("stopped");
    await expect(getNode(page, "3")).toContainText("not reached");
  });
  await test.step("shows a failure", async () => {
    server.startJob();
    server.fail("2", "the kernel does not fit the picture");
    await page.goto(toUrl(`/jobs/${failedId}`));
    await expect(page.getByRole("main")).toContainText("the kernel does not fit the picture");
    await expect(getNode(page, "2")).toContainText("failed");
    await expect(getNode(page, "3")).toContainText("not reached");
    await expectAccessible(page);
  });
  await test.step("shows a picture", async () => {
    const { bytes } = await createPhoto({ r: 20, g: 160, b: 90 });
    files.pictures.set("output/sets/first_00001_.png", bytes);
    server.startJob();
    server.endJob({ "1": { images: [{ filename: "first_00001_.png", subfolder: "sets", type: "output" }] } });
    await page.goto(toUrl(`/jobs/${doneId}`));
    await expect.poll(() => getNaturalWidth(page.getByRole("main").locator("img").first())).toBeGreaterThan(0);
  });
  await test.step("lists the newest first", async () => {
    await page.goto(toUrl("/jobs"));
    const rows = page.locator("tr[data-row]");
    await expect(rows).toHaveCount(3);
    expect(await rows.evaluateAll((elements) => elements.map((row) => row.getAttribute("data-row")))).toEqual([
      doneId,
      failedId,
      stoppedId,
    ]);
    for (const [id, state] of [
      [doneId, "completed"],
      [failedId, "failed"],
      [stoppedId, "cancelled"],
    ])
      await expect(page.locator(`tr[data-row="${id}"]`)).toContainText(state ?? "", { ignoreCase: true });
    await expect(page.locator(`tr[data-row="${failedId}"]`)).toContainText("the kernel does not fit the picture");
    await expect.poll(() => getNaturalWidth(page.locator(`tr[data-row="${doneId}"] img`).first())).toBeGreaterThan(0);
  });
  await test.step("shows the overview", async () => {
    await page.goto(toUrl("/"));
    const failure = page.getByRole("region", { name: "Failed recently" });
    await expect(failure).toContainText("the kernel does not fit the picture");
    await expect(failure).not.toContainText("days ago");
    await expect.poll(() => getNaturalWidth(page.locator(`[data-job="${doneId}"] img`).first())).toBeGreaterThan(0);
  });
  await server.close();
});
