import { readFileSync } from "node:fs";
import { type APIRequestContext, type Locator, type Page } from "@playwright/test";
import { samples } from "@/components/frame/samples/samples";
import { samplePictures } from "@/components/run/workflow/arrivals";
import { type RunsByDay } from "@/lib/contract/console";
import { expectAccessible, expectAccessibleInBothThemes } from "./support/accessible";
import { keepConnection } from "./support/connections";
import { type Desk } from "./support/desk";
import { drop, sample } from "./support/files";
import { answering, startFlakyService } from "./support/flaky-service";
import { cancel, failingGraph, slowGraph, submit, untilState } from "./support/jobs";
import { startStandIn } from "./support/service";
import { goTo, setUpByLink } from "./support/steps";
import { expect, test } from "./support/test";

const graphOf = (name: string): unknown => JSON.parse(sample(name).bytes.toString("utf8"));

test("after set-up one press on a sample makes one job, which is the sample, and its picture", async ({ page, freshDesk }) => {
  await setUpByLink(page, freshDesk);
  await expect(page).toHaveURL(`${freshDesk.url}/`);
  await test.step("the samples are pictures, and the next steps stand below them", async () => {
    await expectAllDrawn(page.getByRole("region", { name: "Samples" }).locator("img"), samples.length);
    await expect(page.getByRole("link", { name: "Add a connection" })).toHaveAttribute("href", "/settings");
    await expect(page.getByRole("link", { name: "Invite a colleague" })).toHaveAttribute("href", "/settings/members?invite=1");
    await expectAccessible(page);
  });
  await page.getByRole("button", { name: "Run Colour field" }).dblclick();
  await expect(page).toHaveURL(`${freshDesk.url}/run`);
  const opened = page.getByRole("link", { name: /^Open job/ });
  await expect(opened).toBeVisible();
  const { jobs } = await get<{ jobs: { id: string }[] }>(page.request, freshDesk, "/api/jobs");
  expect(jobs).toHaveLength(1);
  const id = jobs[0]?.id ?? "";
  type Sent = { workflow: { prompt: unknown; extra_data: { extra_pnginfo: { workflow: { name: string } } } } };
  const { workflow } = await get<Sent>(page.request, freshDesk, `/api/jobs/${id}`);
  expect(workflow.prompt).toEqual(graphOf("09-colour-field"));
  expect(workflow.extra_data.extra_pnginfo.workflow.name).toBe("Colour field");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Colour field");
  await expect(page).toHaveTitle(/^Colour field · Run a workflow · /);
  await untilState(page.request, freshDesk, id, "completed");
  await expectDrawn(page.getByRole("main").locator("img").first());

  await test.step("a reload of the Run page runs nothing again", async () => {
    await page.reload();
    await expect(page.getByRole("button", { name: "Run", exact: true })).toBeVisible();
    expect((await get<{ jobs: unknown[] }>(page.request, freshDesk, "/api/jobs")).jobs).toHaveLength(1);
  });
  await test.step("Jobs and History call it as the card did", async () => {
    for (const list of ["jobs", "history"]) {
      await page.goto(`${freshDesk.url}/${list}`);
      await expect(page.locator(`tr[data-row="${id}"]`)).toContainText("Colour field");
    }
  });
  await test.step("the first page is the overview from now on", async () => {
    await page.goto(freshDesk.url);
    await expectDrawn(part(page, "Newest pictures").locator(`[data-job="${id}"] img`));
  });
});

test("a workflow file that is chosen on the first page opens in Run", async ({ page, freshDesk }) => {
  await setUpByLink(page, freshDesk);
  // Navigate by the links, so that the page is interactive when a file is chosen.
  await goTo(page, "Jobs");
  await goTo(page, "Overview");
  const file = sample("01-invert");
  await page.getByTestId("own-workflow").setInputFiles({ name: "mine.json", mimeType: file.type, buffer: file.bytes });
  await expect(page).toHaveURL(`${freshDesk.url}/run`);
  await expect(page.getByRole("heading", { name: "mine" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Run", exact: true })).toBeVisible();
});

test("a picture without a workflow that is dropped on the first page opens in a sample that takes it, and is what runs", async ({
  page,
  freshDesk,
}) => {
  await setUpByLink(page, freshDesk);
  await goTo(page, "Jobs");
  await goTo(page, "Overview");
  const bytes = readFileSync("public/samples/product.png");
  const used: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") used.push(new URL(request.url()).pathname);
  });
  await drop(page.getByRole("region", { name: "Your own workflow" }), { name: "mine.png", type: "image/png", bytes });
  await expect(page).toHaveURL(`${freshDesk.url}/run`);
  await expect(page.getByText("mine.png has no workflow, so it was opened in a sample.")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Poster from a photo");
  await expect(page.getByRole("textbox", { name: "Picture name" })).toHaveValue("mine.png");
  await expectDrawn(page.getByRole("img", { name: "Picture of Photo" }));
  expect(used).not.toContain("/api/prompt");
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().includes("/api/prompt"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const { prompt } = (await sent).postDataJSON() as { prompt: Record<string, { inputs: Record<string, unknown> }> };
  expect(prompt["1"]?.inputs.image).toBe(`${samplePictures["product.png"]}.png`);
});

test("the overview shows what the service and the console answer: what runs, what failed, pictures, acts and runs per day", async ({
  page,
  freshDesk: desk,
}) => {
  await desk.setUp(page.request);
  await desk.signIn(page.context());
  for (const name of ["01-invert", "09-colour-field"]) {
    await untilState(page.request, desk, await submit(page.request, desk, graphOf(name), { name }), "completed");
  }
  await untilState(page.request, desk, await submit(page.request, desk, failingGraph, { name: "poster" }), "failed");
  const running = await submit(page.request, desk, slowGraph(600), { name: "long one" });
  const waiting = await submit(page.request, desk, slowGraph(601), { name: "next one" });
  await untilState(page.request, desk, running, "in_progress");
  let isRead = false;
  await page.route("**/api/console/runs-by-day?*", async (route) => {
    const runs = (await (await route.fetch()).json()) as RunsByDay;
    await route.fulfill({ json: { ...runs, days: runs.days.map((day, at) => (at === 3 && !isRead ? { ...day, isUnread: true } : day)) } });
  });
  await page.goto(desk.url);

  await test.step("what runs, with its progress, and how many wait", async () => {
    const runs = part(page, "Running now");
    await expect(runs.getByRole("link", { name: "long one" })).toBeVisible();
    await expect(runs.getByRole("progressbar", { name: "Progress of long one" })).toBeVisible();
    await expect(runs.getByText("1 waiting")).toBeVisible();
    expect(await idsIn(runs)).toEqual(await listed(page.request, desk, { status: "in_progress" }));
  });
  await test.step("what failed, why, and a link to it", async () => {
    const failed = part(page, "Failed recently");
    const ids = await listed(page.request, desk, { status: "failed" });
    expect(await idsIn(failed)).toEqual(ids);
    await expect(failed.getByText("Fail: no such file")).toBeVisible();
    await expect(failed.getByRole("link", { name: "poster" })).toHaveAttribute("href", `/jobs/${ids[0]}`);
  });
  await test.step("the newest pictures", async () => {
    const pictures = part(page, "Newest pictures");
    const completed = await listed(page.request, desk, { status: "completed" });
    expect(await idsIn(pictures)).toEqual(completed);
    await expectAllDrawn(pictures.locator("img"), completed.length);
  });
  await test.step("the team's last acts", async () => {
    const acts = part(page, "Team activity");
    await acts.scrollIntoViewIfNeeded();
    const { entries } = await get<{ entries: { id: number }[] }>(page.request, desk, "/api/console/audit", { limit: "6" });
    await expect(acts.locator("[data-entry]")).toHaveCount(entries.length);
    const shown = await acts.locator("[data-entry]").evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-entry"))));
    expect(shown).toEqual(entries.map(({ id }) => id));
  });
  await test.step("runs per day, as bars and as a table", async () => {
    const runs = part(page, "Runs per day");
    await expect(runs.locator("canvas")).toBeVisible();
    await expect(runs.getByText("5 jobs counted so far")).toBeVisible();
    await runs.getByText("Show as a table").click();
    // The oldest of fourteen days is last.
    const unread = runs.locator("tr[data-day]").nth(10);
    await expect(unread.locator("td")).toHaveText("Still being read");
    const canvas = await runs.locator("canvas").elementHandle();
    isRead = true;
    await expect(unread.locator("td")).toHaveText(["0", "0", "0", "0"]);
    // New numbers are drawn in the existing chart.
    expect(await canvas?.evaluate((element) => element.isConnected)).toBe(true);
    const { days, jobs } = await get<RunsByDay>(page.request, desk, "/api/console/runs-by-day", { zone: "UTC" });
    expect(jobs).toBe(5);
    const rows = await runs
      .locator("tr[data-day]")
      .evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
    expect(rows).toEqual(days.toReversed().map((day) => [day.completed, day.failed, day.cancelled, day.other].map(String)));
  });
  await expectAccessibleInBothThemes(page);
  await cancel(page.request, desk, waiting);
  await cancel(page.request, desk, running);
  await expect(part(page, "Running now").getByText("Nothing is running.")).toBeVisible();
});

test("a viewer is offered neither Run nor invitations, and the log of the team's acts is not asked for", async ({
  page,
  freshDesk: desk,
  browser,
}) => {
  await desk.setUp(page.request);
  await desk.signIn(page.context());
  const invited = await page.request.post(`${desk.url}/api/console/members/invitations`, {
    data: { email: "vera@example.com", role: "viewer" },
    headers: { origin: desk.url },
  });
  const { url }: { url: string } = await invited.json();
  const vera = await (await browser.newContext()).newPage();
  const asked: string[] = [];
  vera.on("request", (request) => void asked.push(new URL(request.url()).pathname));
  await vera.goto(url);
  await vera.getByLabel("Your name").fill("Vera Viewer");
  await vera.getByLabel("Password").fill("correct horse battery");
  await vera.getByRole("button", { name: "Join" }).click();
  await expect(vera.getByText("Your role is viewer: you can open everything here.")).toBeVisible();
  await expect(vera.getByRole("button", { name: /^Run/ })).toHaveCount(0);
  await expect(vera.getByRole("link", { name: "Invite a colleague" })).toHaveCount(0);
  await expectAccessible(vera);

  await untilState(page.request, desk, await submit(page.request, desk, graphOf("01-invert")), "completed");
  await vera.reload();
  await expect(part(vera, "Newest pictures")).toBeVisible();
  await expect(part(vera, "Team activity")).toHaveCount(0);
  await expect(vera.getByRole("main").getByRole("link", { name: "Run a workflow" })).toHaveCount(0);
  expect(asked.filter((path) => path.startsWith("/api/console/audit"))).toEqual([]);
  await vera.context().close();
});

test("a sample whose nodes a service lacks says so instead of offering Run", async ({ signedIn: page, desk }) => {
  const known: Record<string, unknown> = JSON.parse(readFileSync("tests/fixtures/golden/object-info.json", "utf8"));
  const some = Object.fromEntries(["EmptyImage", "ImageInvert", "SaveImage"].map((name) => [name, known[name]]));
  const answers: Record<string, unknown> = {
    "/api/object_info": some,
    "/api/jobs": { jobs: [], pagination: { offset: 0, limit: 1, total: 0, has_more: false } },
  };
  const bare = await startStandIn((request, response) => {
    const answer = answers[new URL(request.url ?? "/", "http://bare").pathname];
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(answer ?? {}));
  });
  const connection = await keepConnection(page, desk, { name: "Bare", baseUrl: bare.url, key: "key" });
  await page.goto(`${desk.url}/?connection=${connection}`);
  await expect(page.getByText("Bare lacks ImageAddNoise, ImageBlur, ImageScale")).toBeVisible();
  await expect(page.getByText("Bare lacks Wait", { exact: true })).toBeVisible();
  await expect(page.getByRole("main").getByRole("button", { name: /^Run / })).toHaveText(["Run"]);
  await expect(page.getByRole("button", { name: "Run Invert" })).toBeVisible();
  await bare.stop();
});

test("where the service is down the page says so once, what the console knows stays, and all come back", async ({
  signedIn: page,
  desk,
  service,
}) => {
  const line = await startFlakyService(service.url);
  const connection = await keepConnection(page, desk, { name: "Flaky", baseUrl: line.url, key: service.key });
  await untilState(page.request, desk, await submit(page.request, desk, graphOf("01-invert")), "completed");
  line.spoil(answering(503, "application/json", "{}"));
  await page.goto(`${desk.url}/?connection=${connection}`);
  const down = ["Running now", "Failed recently", "Newest pictures", "Runs per day"];
  for (const title of down) {
    await part(page, title).scrollIntoViewIfNeeded();
    await expect(part(page, title).getByText("Not available at the moment.")).toBeVisible();
  }
  await expect(page.getByRole("main").getByRole("alert")).toHaveCount(1);
  await expect(part(page, "Team activity").locator("[data-entry]").first()).toBeVisible();
  await expect(page.getByText("Make your first picture")).toHaveCount(0);
  await expectAccessible(page);
  line.spoil();
  // By itself, or sooner by Try again.
  await expect(page.getByRole("main").getByRole("alert")).toHaveCount(0, { timeout: 45_000 });
  for (const title of down) await expect(part(page, title).getByText("Not available at the moment.")).toHaveCount(0, { timeout: 45_000 });
  await line.stop();
});

const part = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true });

async function idsIn(place: Locator): Promise<(string | null)[]> {
  return place.locator("[data-job]").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-job")));
}

async function get<T>(request: APIRequestContext, desk: Desk, path: string, params: Record<string, string> = {}): Promise<T> {
  const answer = await request.get(desk.url + path, { params });
  expect(answer.status(), await answer.text()).toBe(200);
  const value: T = await answer.json();
  return value;
}

async function listed(request: APIRequestContext, desk: Desk, params: Record<string, string>): Promise<string[]> {
  const { jobs } = await get<{ jobs: { id: string }[] }>(request, desk, "/api/jobs", params);
  return jobs.map(({ id }) => id);
}

async function expectDrawn(picture: Locator): Promise<void> {
  await picture.scrollIntoViewIfNeeded();
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
}

async function expectAllDrawn(pictures: Locator, count: number): Promise<void> {
  await expect(pictures).toHaveCount(count);
  for (const picture of await pictures.all()) await expectDrawn(picture);
}
