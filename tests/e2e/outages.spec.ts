// Pages and requests while a service is unresponsive, refuses or returns nonsense.
import { type IncomingMessage, type RequestListener } from "node:http";
import {
  connectThroughProxy,
  type FlakyService,
  forwardTo,
  leaveUnanswered,
  respondWith,
  silent,
  startFlakyService,
} from "./support/flaky-service";
import { slowGraph, submit } from "./support/jobs";
import { goTo } from "./support/steps";
import { expect, test } from "./support/test";

const pathOf = ({ url = "" }: IncomingMessage) => new URL(url, "http://x").pathname;
const at = (path: string) => (request: IncomingMessage) => pathOf(request) === path;
const refusing = (status: number, extra: Record<string, string> = {}, message = "because of a reason of its own") =>
  respondWith(status, "application/json", JSON.stringify({ error: { message } }), extra);

let line: FlakyService;
let connection: string;
test.beforeEach(async ({ signedIn: page, desk, service }) => {
  line = await startFlakyService(service.url);
  connection = await connectThroughProxy(page, desk, service, line);
});
test.afterEach(() => line.stop());

test("keeps pages usable when pictures time out and loads them on recovery", async ({ signedIn: page, desk }) => {
  const isPicture = (request: IncomingMessage) => /\/(view|content)$/.test(pathOf(request));
  const underWay = new Set<unknown>();
  const isThumbnail = (url: string) => url.includes("/api/console/thumbnail");
  page.on("request", (request) => {
    if (isThumbnail(request.url())) underWay.add(request);
  });
  for (const ended of ["requestfinished", "requestfailed"] as const)
    page.on(ended as "requestfinished", (request) => void underWay.delete(request));

  line.spoil(respondWith(200, "text/html", "<h1>Back soon"), isPicture);
  await page.goto(`${desk.url}/assets?connection=${connection}`);
  const gallery = page.getByRole("list", { name: "Assets" });
  const picture = gallery.getByRole("link", { name: "photo.png" }).locator("img");
  await expect(gallery.getByRole("link", { name: "photo.png" })).toBeVisible();
  await expect(picture).toHaveCount(0);
  await expect(page.getByText("This picture cannot be read")).toHaveCount(0);

  line.spoil(silent, isPicture);
  await page.reload();
  await expect(gallery.getByRole("link", { name: "photo.png" })).toBeVisible();
  // A browser opens six connections at most: some must stay free for the page's own requests.
  await expect.poll(() => underWay.size).toBeLessThanOrEqual(4);
  await goTo(page, "Jobs");
  await expect(page.getByRole("main").locator("[data-freshness]")).toHaveText("live");
  // The page with the pictures is closed, so none of its requests is in flight.
  await expect.poll(() => underWay.size).toBe(0);
  await goTo(page, "Assets");
  await expect(gallery.getByRole("link", { name: "photo.png" })).toBeVisible();
  await expect(page.getByText("This picture cannot be read")).toHaveCount(0);

  line.spoil();
  await expect(picture).toHaveJSProperty("complete", true);
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
});

test("recovers open pages from refusals and from a service that restarts", async ({ signedIn, desk }) => {
  const lists = (request: IncomingMessage) => /^\/api\/(jobs|assets|history_v2)$/.test(pathOf(request));
  const counts = new Map<string, number>();
  // Each list fails in one way and then in the other.
  line.spoil((request, response) => {
    const times = counts.get(request.url ?? "") ?? 0;
    counts.set(request.url ?? "", times + 1);
    refusing(times % 2 === 0 ? 400 : 403)(request, response);
  }, lists);
  const tabs = await Promise.all(
    ["jobs", "queue", "assets", "history"].map(async (path) => {
      const page = await signedIn.context().newPage();
      await page.goto(`${desk.url}/${path}?connection=${connection}`);
      await expect(page.getByRole("main").getByRole("alert").first()).toBeVisible();
      return { path, page };
    }),
  );
  // At least the second failure, since the first one was rendered with the page.
  for (const list of ["/api/jobs?", "/api/assets?", "/api/history_v2?"])
    await expect.poll(() => [...counts].some(([url, times]) => url.startsWith(list) && times >= 2)).toBe(true);
  line.spoil();
  const become = async (kind: string) => {
    for (const { path, page } of tabs)
      await expect(page.getByRole("main").locator("[data-freshness]"), path).toHaveAttribute("data-freshness", kind);
  };
  await become("live");
  for (const { page } of tabs) await expect(page.getByRole("main").getByRole("alert")).toHaveCount(0);
  await line.stop();
  await become("offline");
  await line.again();
  await become("live");
  for (const { page } of tabs) {
    await expect(page.getByRole("main").getByRole("alert")).toHaveCount(0);
    await page.close();
  }
});

test("keeps a job after one failed lookup", async ({ signedIn: page, desk, service }) => {
  const id = await submit(page.request, desk, slowGraph(60, "-found"), { connection });
  await page.goto(`${desk.url}/jobs/${id}?connection=${connection}`);
  const stop = page.getByRole("button", { name: /^(Stop|Cancel) job$/ });
  await expect(stop).toBeVisible();
  const isDetail = at(`/api/jobs/${id}`);
  let next = 0;
  const forward = forwardTo(service.url);
  line.spoil((_request, response) => {
    response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ code: "NOT_FOUND", message: "no" }));
    line.spoil((request, later) => {
      next += 1;
      forward(request, later);
    }, isDetail);
  }, isDetail);
  await expect.poll(() => next, { timeout: 60_000 }).toBeGreaterThan(0);
  await expect(stop).toBeVisible();
  await expect(page.getByText("removed from the history")).toHaveCount(0);
  await page.request.post(`${desk.url}/api/jobs/${id}/cancel`, { params: { connection }, headers: { origin: desk.url } });
});

test("verifies a cleared queue and history when the response is lost", async ({ signedIn: page, desk, service }) => {
  const running = await submit(page.request, desk, slowGraph(120, "-stays"), { connection });
  await submit(page.request, desk, slowGraph(1, "-goes"), { connection });
  let sentCount = 0;
  const lose = (fault: RequestListener) =>
    line.spoil(
      (request, response) => {
        sentCount += 1;
        fault(request, response);
      },
      (request) => request.method === "POST" && /^\/api\/(queue|history)$/.test(pathOf(request)),
    );
  const answerLost = "The service's response was lost";
  await page.goto(`${desk.url}/queue?connection=${connection}`);
  const clear = page.getByRole("button", { name: "Clear 1 pending job" });
  const inDialog = page.getByRole("dialog").getByRole("button", { name: "Clear 1 pending job" });
  // At first the request does not even arrive.
  lose((_request, response) => void response.destroy());
  await clear.click();
  await inDialog.click();
  await expect(page.getByText(`1 job is still waiting. ${answerLost}`)).toBeVisible();
  expect(sentCount).toBe(1);
  lose(leaveUnanswered(service.url));
  await clear.click();
  await inDialog.click();
  await expect(page.getByText(`The job is no longer waiting. ${answerLost}`)).toBeVisible();
  expect(sentCount).toBe(2);

  await page.goto(`${desk.url}/history?connection=${connection}`);
  await page.getByRole("button", { name: /^Clear \d+ entr/ }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("clear");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Clear \d+ entr/ })
    .click();
  await expect(page.getByText("History cleared")).toBeVisible();
  await expect(page.getByText("The history is empty")).toBeVisible();
  expect(sentCount).toBe(3);
  line.spoil();
  await page.request.post(`${desk.url}/api/jobs/${running}/cancel`, { params: { connection }, headers: { origin: desk.url } });
});

test("limits what History shows when the service sends more", async ({ signedIn: page, desk }) => {
  const requests: string[] = [];
  const history = Array.from({ length: 5_000 }, (_, index) => ({
    prompt_id: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    create_time: 1_767_225_600_000 - index,
    status: { status_str: "success", completed: true, messages: [] },
    outputs: {},
  }));
  line.spoil((request, response) => {
    requests.push(new URL(request.url ?? "", "http://x").searchParams.get("max_items") ?? "");
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ history }));
  }, at("/api/history_v2"));
  await page.goto(`${desk.url}/history?connection=${connection}&max_items=20`);
  await expect(page.locator(`tr[data-row="${history[19]?.prompt_id}"]`)).toBeVisible();
  await expect(page.locator(`tr[data-row="${history[20]?.prompt_id}"]`)).toHaveCount(0);
  expect(new Set(requests)).toEqual(new Set(["20"]));
});
