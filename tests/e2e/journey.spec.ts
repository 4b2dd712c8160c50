import { type Page } from "@playwright/test";
import sharp from "sharp";
import { type Desk } from "./support/desk";
import { createPhoto, dropFile, readSample } from "./support/files";
import { cancelJob, createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { connect, goTo } from "./support/steps";
import { expect, test } from "./support/test";

test("runs a workflow with a photo on another service and shows its progress", async ({ signedIn: page, desk, service }) => {
  await page.goto(desk.url);
  await test.step("connects to a service on another port", () => connect(page, { name: "Other port", ...service }));

  // Occupies the service's only slot until the next jobs are shown as pending.
  const blockingJobId = await submitJob(page.request, desk, createSlowGraph(600));
  const slowJobId = await submitJob(page.request, desk, createSlowGraph(8, "-slow"));

  await test.step("shows the bundled photo in the node that loads it", async () => {
    await goTo(page, "Run a workflow");
    await dropFile(page.getByText("Drop a workflow file here"), readSample("02-poster-from-photo"));
    await expectPicture(page, "Image of Photo");
    await expect(page.getByLabel("Image name")).toHaveValue("photo.png");
  });

  await test.step("replaces the photo with the user's own", async () => {
    await dropFile(page.getByRole("img", { name: "Image of Photo" }), await createPhoto({ r: 200, g: 40, b: 40 }));
    await expect(page.getByText("my-photograph.png uploaded")).toBeVisible();
    await expectPicture(page, "Image of Photo");
  });

  await page.getByRole("button", { name: "Run", exact: true }).click();
  const jobLink = page.getByRole("link", { name: /^Open job/ });
  await expect(jobLink).toBeVisible();
  const jobId = new URL((await jobLink.getAttribute("href")) ?? "", desk.url).pathname.split("/").at(-1) ?? "";
  const getRow = (id: string) => page.getByRole("row").filter({ has: page.getByTitle(id) });

  await test.step("shows the waiting jobs in Jobs", async () => {
    await goTo(page, "Jobs");
    await expect(getRow(jobId).getByText("Pending")).toBeVisible();
    await expect(getRow(blockingJobId).getByText("Running")).toBeVisible();
  });

  await test.step("updates a slow job from pending to completed without a reload", async () => {
    await page.goto(`${desk.url}/jobs/${slowJobId}`);
    await expect(page.getByText("Waiting in the queue")).toBeVisible();
    await cancelJob(page.request, desk, blockingJobId);
    await expect(page.getByText(/nodes done/)).toBeVisible();
    await expect(page.getByText(/running Second wait/)).toBeVisible();
    await expect(page.getByRole("progressbar", { name: "Job progress" })).toBeVisible();
    await expect(page.getByRole("main").getByText("Completed").first()).toBeVisible();
    await waitForState(page.request, desk, blockingJobId, "cancelled");
  });

  await test.step("shows state, times and the picture on the job's page", async () => {
    await goTo(page, "Jobs");
    await expect(getRow(jobId).getByText("Completed")).toBeVisible();
    const thumbnail = getRow(jobId).locator("img");
    await expect.poll(() => thumbnail.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
    await page.getByTitle(jobId).click();
    await page.getByRole("link", { name: "Open page" }).click();
    await expect(page).toHaveURL(new RegExp(`/jobs/${jobId}`));
    await expect(page.getByRole("heading", { name: "Timeline" })).toBeVisible();
    await expect(page.getByRole("heading", { name: "Details" })).toBeVisible();
    await expect(page.getByRole("main").getByText("Completed").first()).toBeVisible();
    const output = page.getByRole("main").locator("img").first();
    await expect.poll(() => output.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  });

  await test.step("shows the picture made from the user's own photo in Assets", async () => {
    await goTo(page, "Assets");
    const poster = page
      .getByRole("main")
      .getByRole("link", { name: /poster/ })
      .first();
    await expect(poster).toBeVisible();
    await expect.poll(() => poster.locator("img").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
    expect(await getPixel(page, desk, jobId)).toEqual([192, 34, 30]);
  });
});

async function expectPicture(page: Page, name: string): Promise<void> {
  const picture = page.getByRole("img", { name });
  await expect.poll(() => picture.evaluate((image) => (image instanceof HTMLImageElement ? image.naturalWidth : 0))).toBeGreaterThan(0);
}

/** Returns the color in the middle of the job's first output, read from the file. */
async function getPixel(page: Page, desk: Desk, jobId: string): Promise<number[]> {
  type Item = { filename: string; subfolder: string; type: string };
  const job: { outputs: Record<string, { images?: Item[] }> } = await (await page.request.get(`${desk.url}/api/jobs/${jobId}`)).json();
  const item = Object.values(job.outputs).flatMap(({ images }) => images ?? [])[0];
  const file = await page.request.get(`${desk.url}/api/view`, { params: { ...item } });
  expect(file.status()).toBe(200);
  const { data } = await sharp(await file.body())
    .extract({ left: 512, top: 384, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [...data];
}
