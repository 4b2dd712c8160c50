// Pages and requests while a service is unresponsive, refuses or returns nonsense.
import { type IncomingMessage } from "node:http";
import { connectThroughProxy, type FlakyService, respondWith, silent, startFlakyService } from "./support/flaky-service";
import { goTo } from "./support/steps";
import { expect, test } from "./support/test";

const pathOf = ({ url = "" }: IncomingMessage) => new URL(url, "http://x").pathname;
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
