import { type Page } from "@playwright/test";
import sharp from "sharp";
import { type Desk, owner } from "./support/desk";
import { createPhoto, dropFile, readSample } from "./support/files";
import { cancelJob, createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { connect, goTo, setUpByLink } from "./support/steps";
import { expect, test } from "./support/test";

test("runs a new user's workflow with a photo and shows the picture in the gallery", async ({ page, freshDesk, target, service }) => {
  await test.step("creates the owner with the printed link", async () => {
    await setUpByLink(page, freshDesk);
  });
  if (target === "port") await test.step("connects to a service on another port", () => connect(page, { name: "Other port", ...service }));

  // Occupies the service's only slot until the next job is shown as pending.
  const blockingJobId = await submitJob(page.request, freshDesk, createSlowGraph(600));

  await test.step("shows the bundled photo in the node that loads it", async () => {
    await goTo(page, "Run a workflow");
    await expect(page.getByText("Drop a workflow file here")).toBeVisible();
    await dropFile(page.getByText("Drop a workflow file here"), readSample("02-poster-from-photo"));
    await expectPicture(page, "Picture of Photo");
    await expect(page.getByLabel("Picture name")).toHaveValue("photo.png");
  });

  await test.step("replaces the photo with the user's own", async () => {
    await dropFile(page.getByRole("img", { name: "Picture of Photo" }), await createPhoto({ r: 200, g: 40, b: 40 }));
    await expect(page.getByText("my-photograph.png uploaded")).toBeVisible();
    await expectPicture(page, "Picture of Photo");
  });

  await page.getByRole("button", { name: "Run", exact: true }).click();
  const jobLink = page.getByRole("link", { name: /^Open job/ });
  await expect(jobLink).toBeVisible();
  const jobId = new URL((await jobLink.getAttribute("href")) ?? "", freshDesk.url).pathname.split("/").at(-1) ?? "";

  await test.step("updates the job in Jobs until its picture appears", async () => {
    await goTo(page, "Jobs");
    const row = page.getByRole("row").filter({ has: page.getByTitle(jobId) });
    await expect(row.getByText("Pending")).toBeVisible();
    await expect(
      page
        .getByRole("row")
        .filter({ has: page.getByTitle(blockingJobId) })
        .getByText("Running"),
    ).toBeVisible();
    await cancelJob(page.request, freshDesk, blockingJobId);
    await expect(row.getByText("Completed")).toBeVisible();
    await expect.poll(() => row.locator("img").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  });

  await test.step("shows state, times and the picture on the job's page", async () => {
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
    expect(await getPixel(page, freshDesk, jobId)).toEqual([192, 34, 30]);
  });
  expect(freshDesk.output()).not.toContain(service.key);
  expect(freshDesk.output()).not.toContain(owner.password);
});

test("updates a slow job from pending to completed without a reload", async ({ page, freshDesk, target, service }) => {
  await setUpByLink(page, freshDesk);
  if (target === "port") await connect(page, { name: "Other port", ...service });
  const blockingJobId = await submitJob(page.request, freshDesk, createSlowGraph(600, "-a"));
  const slowJobId = await submitJob(page.request, freshDesk, createSlowGraph(8, "-b"));
  await page.goto(`${freshDesk.url}/jobs/${slowJobId}`);
  await expect(page.getByText("Waiting in the queue")).toBeVisible();
  await cancelJob(page.request, freshDesk, blockingJobId);
  await expect(page.getByText(/nodes done/)).toBeVisible();
  await expect(page.getByText(/now Second wait/)).toBeVisible();
  await expect(page.getByRole("progressbar", { name: "Job progress" })).toBeVisible();
  await expect(page.getByRole("main").getByText("Completed").first()).toBeVisible();
  await waitForState(page.request, freshDesk, blockingJobId, "cancelled");
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
