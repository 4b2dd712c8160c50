import { readFileSync } from "node:fs";
import { type APIRequestContext, type Locator, type Page } from "@playwright/test";
import { samples } from "@/components/frame/samples/samples";
import { type RunsByDay } from "@/lib/contract/console";
import { expectAccessible, expectAccessibleInBothThemes } from "./support/accessible";
import { type Desk, owner } from "./support/desk";
import { readSample } from "./support/files";
import { cancelJob, createSlowGraph, failingGraph, submitJob, waitForState } from "./support/jobs";
import { isLiveRequest, mockLiveUpdates } from "./support/live";
import { startFakeService } from "./support/service";
import { saveConnection, setUpByLink } from "./support/steps";
import { expect, test } from "./support/test";

const vera = { name: "Vera Viewer", email: "vera@example.com", password: "correct horse battery" };
const readSampleGraph = (name: string): unknown => JSON.parse(readSample(name).bytes.toString("utf8"));

test("sets up an owner by link and runs a sample once when it is double-clicked", async ({ page, freshDesk }) => {
  await test.step("reports an invalid set-up link without offering sign-in", async () => {
    await page.goto(`${freshDesk.url}/set-up?token=wrong`);
    await expect(page.getByText("This set-up link does not work")).toBeVisible();
    await expect(page.getByText("What you typed")).toHaveCount(0);
    await expect(page.getByRole("link", { name: "Sign in instead" })).toBeHidden();
    await expect(page).toHaveTitle("Set up · Lightdesk");
    await expect(page.getByLabel("Your name")).toBeHidden();
    await page.goto(freshDesk.setUpUrl);
    await expect(page.getByLabel("Your name")).toBeVisible();
    await expectAccessible(page);
  });
  await setUpByLink(page, freshDesk);
  await expect(page).toHaveURL(`${freshDesk.url}/`);
  await test.step("shows samples as pictures with the next steps below", async () => {
    await expectImagesLoaded(page.getByRole("region", { name: "Samples" }).locator("img"), samples.length);
    await expect(page.getByRole("link", { name: "Add a connection" })).toHaveAttribute("href", "/settings");
    await expect(page.getByRole("link", { name: "Invite a colleague" })).toHaveAttribute("href", "/settings/members?invite=1");
    await expectAccessible(page);
  });
  await page.getByRole("button", { name: "Run Colour field" }).dblclick();
  await expect(page).toHaveURL(`${freshDesk.url}/run`);
  const jobLink = page.getByRole("link", { name: /^Open job/ });
  await expect(jobLink).toBeVisible();
  const { jobs } = await fetchJson<{ jobs: { id: string }[] }>(page.request, freshDesk, "/api/jobs");
  expect(jobs).toHaveLength(1);
  const id = jobs[0]?.id ?? "";
  type SentPrompt = { workflow: { prompt: unknown; extra_data: { extra_pnginfo: { workflow: { name: string } } } } };
  const { workflow } = await fetchJson<SentPrompt>(page.request, freshDesk, `/api/jobs/${id}`);
  expect(workflow.prompt).toEqual(readSampleGraph("09-colour-field"));
  expect(workflow.extra_data.extra_pnginfo.workflow.name).toBe("Colour field");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Colour field");
  await expect(page).toHaveTitle(/^Colour field · Run a workflow · /);
  await waitForState(page.request, freshDesk, id, "completed");
  await expectImageLoaded(page.getByRole("main").locator("img").first());

  await test.step("doesn't rerun when the Run page is reloaded", async () => {
    await page.reload();
    await expect(page.getByRole("button", { name: "Run", exact: true })).toBeVisible();
    expect((await fetchJson<{ jobs: unknown[] }>(page.request, freshDesk, "/api/jobs")).jobs).toHaveLength(1);
  });
  await test.step("shows the card's name in Jobs and History", async () => {
    for (const list of ["jobs", "history"]) {
      await page.goto(`${freshDesk.url}/${list}`);
      await expect(page.locator(`tr[data-row="${id}"]`)).toContainText("Colour field");
    }
  });
  await test.step("opens the overview first on later visits", async () => {
    await page.goto(freshDesk.url);
    await expectImageLoaded(getRegion(page, "Newest images").locator(`[data-job="${id}"] img`));
  });
  await test.step("offers sign-in when the set-up link was already used", async () => {
    await page.goto(`${freshDesk.url}/nowhere`);
    await expect(page).toHaveTitle("Not found · Lightdesk");
    await page.context().clearCookies();
    await page.goto(freshDesk.setUpUrl);
    await expect(page.getByText("Lightdesk is already set up")).toBeVisible();
    await expect(page.getByLabel("Your name")).toBeHidden();
    await page.getByRole("link", { name: "Sign in instead" }).click();
    await expect(page.getByLabel("Email")).toBeVisible();
  });
  expect(freshDesk.output()).not.toContain(owner.password);
});

test("shows jobs, pictures, actions and runs, and only what a viewer may use", async ({ page, ownDesk: desk, browser }) => {
  await desk.addOperator(page.request, vera, "viewer");
  const viewerPage = await (await browser.newContext()).newPage();
  await desk.signIn(viewerPage.context(), vera);
  const viewerRequests: string[] = [];
  viewerPage.on("request", (request) => void viewerRequests.push(new URL(request.url()).pathname));
  await test.step("hides Run and invitations from a viewer before the first job", async () => {
    await viewerPage.goto(desk.url);
    await expect(viewerPage.getByText("Viewers can open everything.")).toBeVisible();
    await expect(viewerPage.getByRole("button", { name: /^Run/ })).toHaveCount(0);
    await expect(viewerPage.getByRole("link", { name: "Invite a colleague" })).toHaveCount(0);
    await expectAccessible(viewerPage);
  });
  await test.step("opens a workflow file in Run when it is chosen before the first job", async () => {
    await page.goto(desk.url);
    const file = readSample("01-invert");
    await page.getByTestId("own-workflow").setInputFiles({ name: "mine.json", mimeType: file.type, buffer: file.bytes });
    await expect(page).toHaveURL(`${desk.url}/run`);
    await expect(page.getByRole("heading", { name: "mine" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Run", exact: true })).toBeVisible();
  });
  for (const name of ["01-invert", "09-colour-field"]) {
    await waitForState(page.request, desk, await submitJob(page.request, desk, readSampleGraph(name), { name }), "completed");
  }
  await waitForState(page.request, desk, await submitJob(page.request, desk, failingGraph, { name: "poster" }), "failed");
  const running = await submitJob(page.request, desk, createSlowGraph(600), { name: "long one" });
  const waiting = await submitJob(page.request, desk, createSlowGraph(601), { name: "next one" });
  await waitForState(page.request, desk, running, "in_progress");
  const runsByDay = await fetchJson<RunsByDay>(page.request, desk, "/api/console/runs-by-day", { zone: "UTC" });
  const partialRuns = { ...runsByDay, days: runsByDay.days.map((day, index) => (index === 3 ? { ...day, isUnread: true } : day)) };
  await page.route("**/api/console/runs-by-day?*", (route) => route.fulfill({ json: partialRuns }));
  await mockLiveUpdates(page, { "runs-by-day": partialRuns, counts: await fetchJson(page.request, desk, "/api/console/counts") });
  await page.goto(desk.url);

  await test.step("shows running jobs with progress and the number waiting", async () => {
    const runs = getRegion(page, "Running now");
    await expect(runs.getByRole("link", { name: "long one" })).toBeVisible();
    await expect(runs.getByRole("progressbar", { name: "Progress of long one" })).toBeVisible();
    await expect(runs.getByText("1 pending")).toBeVisible();
    expect(await getJobIds(runs)).toEqual(await listJobs(page.request, desk, { status: "in_progress" }));
  });
  await test.step("shows failed jobs with reason and link", async () => {
    const failed = getRegion(page, "Failed recently");
    const ids = await listJobs(page.request, desk, { status: "failed" });
    expect(await getJobIds(failed)).toEqual(ids);
    await expect(failed.getByText("Fail: no such file")).toBeVisible();
    await expect(failed.getByRole("link", { name: "poster" })).toHaveAttribute("href", `/jobs/${ids[0]}`);
  });
  await test.step("shows the newest pictures of completed jobs", async () => {
    const pictures = getRegion(page, "Newest images");
    const completed = await listJobs(page.request, desk, { status: "completed" });
    expect(await getJobIds(pictures)).toEqual(completed);
    await expectImagesLoaded(pictures.locator("img"), completed.length);
  });
  await test.step("shows the team's last actions", async () => {
    const activity = getRegion(page, "Team activity");
    await activity.scrollIntoViewIfNeeded();
    const { entries } = await fetchJson<{ entries: { id: number }[] }>(page.request, desk, "/api/console/audit", { limit: "6" });
    await expect(activity.locator("[data-entry]")).toHaveCount(entries.length);
    const entryIds = await activity
      .locator("[data-entry]")
      .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-entry"))));
    expect(entryIds).toEqual(entries.map(({ id }) => id));
  });
  await test.step("shows runs per day as bars and as a table", async () => {
    const runs = getRegion(page, "Runs per day");
    await expect(runs.getByTestId("runs-chart")).toBeVisible();
    await expect(runs.getByText("5 jobs counted so far")).toBeVisible();
    await runs.getByText("Show as a table").click();
    // The oldest of fourteen days is last.
    const unreadRow = runs.locator("tr[data-day]").nth(10);
    await expect(unreadRow.locator("td")).toHaveText("Still loading");
    await page.unroute("**/api/console/runs-by-day?*");
    await page.unroute(isLiveRequest);
    await expect(unreadRow.locator("td")).toHaveText(["0", "0", "0", "0"]);
    const { days, jobs } = await fetchJson<RunsByDay>(page.request, desk, "/api/console/runs-by-day", { zone: "UTC" });
    expect(jobs).toBe(5);
    const rows = await runs
      .locator("tr[data-day]")
      .evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
    expect(rows).toEqual(days.toReversed().map((day) => [day.completed, day.failed, day.cancelled, day.other].map(String)));
  });
  await expectAccessibleInBothThemes(page);
  await cancelJob(page.request, desk, waiting);
  await cancelJob(page.request, desk, running);
  await expect(getRegion(page, "Running now").getByText("Nothing is running.")).toBeVisible();
  await test.step("hides Run and the team's actions from a viewer", async () => {
    await viewerPage.reload();
    await expect(getRegion(viewerPage, "Newest images")).toBeVisible();
    await expect(getRegion(viewerPage, "Team activity")).toHaveCount(0);
    await expect(viewerPage.getByRole("main").getByRole("link", { name: "Run a workflow" })).toHaveCount(0);
    expect(viewerRequests.filter((path) => path.startsWith("/api/console/audit"))).toEqual([]);
  });
  await viewerPage.context().close();
});

test("explains a sample's missing nodes instead of offering Run", async ({ signedIn: page, desk }) => {
  const catalogue: Record<string, unknown> = JSON.parse(readFileSync("tests/fixtures/golden/object-info.json", "utf8"));
  const nodeInfo = Object.fromEntries(["EmptyImage", "ImageInvert", "SaveImage"].map((name) => [name, catalogue[name]]));
  const responses: Record<string, unknown> = {
    "/api/object_info": nodeInfo,
    "/api/jobs": { jobs: [], pagination: { offset: 0, limit: 1, total: 0, has_more: false } },
  };
  const bareService = await startFakeService((request, response) => {
    const body = responses[new URL(request.url ?? "/", "http://bare").pathname];
    response.writeHead(body ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
  });
  const connection = await saveConnection(page, desk, { name: "Bare", baseUrl: bareService.url, key: "key" });
  await page.goto(`${desk.url}/?connection=${connection}`);
  await expect(page.getByText("Bare lacks ImageAddNoise, ImageBlur, ImageScale")).toBeVisible();
  await expect(page.getByText("Bare lacks Wait", { exact: true })).toBeVisible();
  await expect(page.getByRole("main").getByRole("button", { name: /^Run / })).toHaveText(["Run"]);
  await expect(page.getByRole("button", { name: "Run Invert" })).toBeVisible();
  await bareService.stop();
});

const getRegion = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true });

async function getJobIds(locator: Locator): Promise<(string | null)[]> {
  return locator.locator("[data-job]").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-job")));
}

async function fetchJson<T>(request: APIRequestContext, desk: Desk, path: string, params: Record<string, string> = {}): Promise<T> {
  const response = await request.get(desk.url + path, { params });
  expect(response.status(), await response.text()).toBe(200);
  const value: T = await response.json();
  return value;
}

async function listJobs(request: APIRequestContext, desk: Desk, params: Record<string, string>): Promise<string[]> {
  const { jobs } = await fetchJson<{ jobs: { id: string }[] }>(request, desk, "/api/jobs", params);
  return jobs.map(({ id }) => id);
}

async function expectImageLoaded(picture: Locator): Promise<void> {
  // Query the element each time, since the output replaces a preview.
  const width = () =>
    picture.evaluate((image: HTMLImageElement) => {
      image.scrollIntoView({ block: "nearest" });
      return image.naturalWidth;
    });
  await expect.poll(width).toBeGreaterThan(0);
}

async function expectImagesLoaded(pictures: Locator, count: number): Promise<void> {
  await expect(pictures).toHaveCount(count);
  for (const picture of await pictures.all()) await expectImageLoaded(picture);
}
