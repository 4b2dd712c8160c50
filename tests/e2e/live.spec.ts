// Live updates in a browser: changes from other tabs appear without extra requests.
import { type Page } from "@playwright/test";
import { cancelJob, createSlowGraph, submitJob } from "./support/jobs";
import { expect, test } from "./support/test";

const getRow = (page: Page, id: string) => page.locator(`tr[data-row="${id}"]`);
const getFreshness = (page: Page) => page.getByRole("main").locator("[data-freshness]");

/** Records the paths of GET requests to the console's API. */
function recordReads(page: Page): string[] {
  const reads: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "GET" && pathname.startsWith("/api/")) reads.push(pathname);
  });
  return reads;
}

/** Records all texts of the table's rows over time. */
async function recordRowTexts(page: Page): Promise<() => Promise<string[]>> {
  const recorder = await page.evaluateHandle(() => {
    const texts = new Set<string>();
    const record = () => document.querySelectorAll("tr[data-row]").forEach((row) => texts.add(row.textContent ?? ""));
    new MutationObserver(record).observe(document.body, { subtree: true, childList: true, characterData: true });
    return { list: () => [...texts] };
  });
  return () => recorder.evaluate(({ list }) => list());
}

test("shows a running job's outputs and newest preview, also after a reload", async ({ signedIn: page, desk }) => {
  const picture = { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 4221504 } };
  const createSaveNode = (from: string, filename_prefix: string) => ({
    class_type: "SaveImage",
    inputs: { images: [from, 0], filename_prefix },
  });
  const wait = { class_type: "Wait", inputs: { seconds: 300, anything: ["1", 0] } };
  const id = await submitJob(page.request, desk, {
    "1": picture,
    "2": createSaveNode("1", "early"),
    "3": wait,
    "4": createSaveNode("3", "late"),
  });
  for (const list of ["queue", "jobs"]) {
    await page.goto(`${desk.url}/${list}`);
    await expect(getRow(page, id).locator("img")).toHaveJSProperty("complete", true);
  }
  await expect(getRow(page, id).getByRole("cell", { name: "1", exact: true })).toBeVisible();
  await page.goto(`${desk.url}/jobs/${id}`);
  for (const openPage of [() => Promise.resolve(), () => page.reload()]) {
    await openPage();
    await expect(page.getByRole("img", { name: "Preview of the running job" })).toBeVisible();
    await expect(page.getByRole("img", { name: /^Open early/ })).toBeVisible();
  }
  await cancelJob(page.request, desk, id);
});

test("shares one stream without list requests among more tabs than connections", async ({ signedIn: page, context, desk }) => {
  await page.goto(`${desk.url}/jobs`);
  await expect(getFreshness(page)).toHaveText("live");
  const otherPages: Page[] = [];
  // A browser opens at most six connections to a server.
  for (const list of ["queue", "jobs", "jobs", "jobs", "jobs", "jobs"]) {
    const otherPage = await context.newPage();
    otherPages.push(otherPage);
    await otherPage.goto(`${desk.url}/${list}`);
    await expect(getFreshness(otherPage)).toHaveText("live");
  }
  const [queuePage = page, ...jobsPages] = otherPages;
  const reads = [page, ...otherPages].map(recordReads);
  // On a slow machine the job may end before a check of the row.
  const [getJobsTexts, getQueueTexts] = await Promise.all([recordRowTexts(page), recordRowTexts(queuePage)]);
  const id = await submitJob(context.request, desk, createSlowGraph(4, "-watched"));
  await expect(getRow(page, id)).toContainText("completed", { ignoreCase: true });
  await expect(getRow(queuePage, id)).toHaveCount(0);
  for (const texts of [await getJobsTexts(), await getQueueTexts()]) {
    const jobTexts = texts.filter((text) => text.includes(id.slice(0, 8)));
    expect(jobTexts).toContainEqual(expect.stringMatching(/running/i));
    expect(jobTexts).toContainEqual(expect.stringMatching(/\d+\s?%/));
  }
  expect(reads.flat().filter((path) => !/thumbnail|view/.test(path))).toEqual([]);
  const { targetInfos } = await (await context.newCDPSession(page)).send("Target.getTargets");
  expect(targetInfos.filter(({ type, url }) => type === "shared_worker" && url.startsWith(desk.url))).toHaveLength(1);

  await page.close();
  const laterId = await submitJob(context.request, desk, createSlowGraph(0.02, "-tabs"));
  for (const jobsPage of jobsPages) await expect(getRow(jobsPage, laterId)).toContainText("completed", { ignoreCase: true });
});

test("resumes after a console restart without gaps or duplicates", async ({ page, ownDesk: desk }) => {
  await page.goto(`${desk.url}/jobs`);
  await expect(getFreshness(page)).toHaveText("live");
  const firstJobId = await submitJob(page.request, desk, createSlowGraph(0.02, "-before"));
  await expect(getRow(page, firstJobId)).toContainText("completed", { ignoreCase: true });
  await desk.restart();
  const secondJobId = await submitJob(page.request, desk, createSlowGraph(0.02, "-after"));
  await expect(getRow(page, secondJobId)).toContainText("completed", { ignoreCase: true });
  await expect(page.locator("tr[data-row]")).toHaveCount(2);
  await expect(getFreshness(page)).toHaveText("live");
});
