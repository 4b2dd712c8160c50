// Pages while a service is unresponsive, refuses requests or returns invalid responses.
import { type IncomingMessage } from "node:http";
import { connectThroughProxy, type FlakyService, neverRespond, respondWith, startFlakyService } from "./support/flaky-service";
import { goTo } from "./support/steps";
import { expect, test } from "./support/test";

const getPath = ({ url = "" }: IncomingMessage) => new URL(url, "http://x").pathname;
const createRefusal = (status: number, extra: Record<string, string> = {}, message = "the service refuses this request") =>
  respondWith(status, "application/json", JSON.stringify({ error: { message } }), extra);

let flakyService: FlakyService;
let connection: string;
test.beforeEach(async ({ signedIn: page, desk, service }) => {
  flakyService = await startFlakyService(service.url);
  connection = await connectThroughProxy(page, desk, service, flakyService);
});
test.afterEach(() => flakyService.stop());

test("keeps pages usable when pictures time out and loads them on recovery", async ({ signedIn: page, desk }) => {
  const isPicture = (request: IncomingMessage) => /\/(view|content)$/.test(getPath(request));
  const pendingThumbnails = new Set<unknown>();
  const isThumbnail = (url: string) => url.includes("/api/console/thumbnail");
  page.on("request", (request) => {
    if (isThumbnail(request.url())) pendingThumbnails.add(request);
  });
  for (const eventName of ["requestfinished", "requestfailed"] as const)
    page.on(eventName as "requestfinished", (request) => void pendingThumbnails.delete(request));

  flakyService.setFault(respondWith(200, "text/html", "<h1>Back soon"), isPicture);
  await page.goto(`${desk.url}/assets?connection=${connection}`);
  const gallery = page.getByRole("list", { name: "Assets" });
  const picture = gallery.getByRole("link", { name: "photo.png" }).locator("img");
  await expect(gallery.getByRole("link", { name: "photo.png" })).toBeVisible();
  await expect(picture).toHaveCount(0);
  await expect(page.getByText("This image can't be read")).toHaveCount(0);

  flakyService.setFault(neverRespond, isPicture);
  await page.reload();
  await expect(gallery.getByRole("link", { name: "photo.png" })).toBeVisible();
  // A browser opens at most six connections, and some must be free for the page's own requests.
  await expect.poll(() => pendingThumbnails.size).toBeLessThanOrEqual(4);
  await goTo(page, "Jobs");
  await expect(page.getByRole("main").locator("[data-freshness]")).toHaveText("live");
  // The page with the pictures is closed, so none of its requests is pending.
  await expect.poll(() => pendingThumbnails.size).toBe(0);
  await goTo(page, "Assets");
  await expect(gallery.getByRole("link", { name: "photo.png" })).toBeVisible();
  await expect(page.getByText("This image can't be read")).toHaveCount(0);

  flakyService.setFault();
  await expect(picture).toHaveJSProperty("complete", true);
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
});

test("recovers open pages after refusals and a restart of the service", async ({ signedIn, desk }) => {
  const isListRequest = (request: IncomingMessage) => /^\/api\/(jobs|assets|history_v2)$/.test(getPath(request));
  const counts = new Map<string, number>();
  // Each list fails with 400 and 403 in turn.
  flakyService.setFault((request, response) => {
    const times = counts.get(request.url ?? "") ?? 0;
    counts.set(request.url ?? "", times + 1);
    createRefusal(times % 2 === 0 ? 400 : 403)(request, response);
  }, isListRequest);
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
  flakyService.setFault();
  const expectFreshness = async (kind: string) => {
    for (const { path, page } of tabs)
      await expect(page.getByRole("main").locator("[data-freshness]"), path).toHaveAttribute("data-freshness", kind);
  };
  await expectFreshness("live");
  for (const { page } of tabs) await expect(page.getByRole("main").getByRole("alert")).toHaveCount(0);
  await flakyService.stop();
  await expectFreshness("offline");
  await flakyService.restart();
  await expectFreshness("live");
  for (const { page } of tabs) {
    await expect(page.getByRole("main").getByRole("alert")).toHaveCount(0);
    await page.close();
  }
});
