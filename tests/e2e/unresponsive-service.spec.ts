// A service that accepts requests without responding: working features, messages and recovery.
import { type Page } from "@playwright/test";
import messages from "@/lib/messages/en/errors.json" with { type: "json" };
import { connectThroughProxy, type FlakyService, silent, startFlakyService } from "./support/flaky-service";
import { goTo } from "./support/steps";
import { expect, test } from "./support/test";

const freshness = (page: Page) => page.getByRole("main").locator("[data-freshness]").first();

let line: FlakyService;
let connection: string;
test.beforeEach(async ({ signedIn: page, desk, service }) => {
  line = await startFlakyService(service.url);
  connection = await connectThroughProxy(page, desk, service, line);
});
test.afterEach(() => line.stop());

test("keeps pages usable while a service is unresponsive and restores them", async ({ signedIn: page, desk }) => {
  const overview = page;
  await overview.goto(`${desk.url}/?connection=${connection}`);
  await expect(freshness(overview)).toHaveAttribute("data-freshness", "live");
  const walker = await page.context().newPage();
  await walker.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(freshness(walker)).toHaveAttribute("data-freshness", "live");
  const assets = await page.context().newPage();
  await assets.goto(`${desk.url}/assets?connection=${connection}`);
  const gallery = assets.getByRole("list", { name: "Assets" }).getByRole("link", { name: "photo.png" });
  await expect(gallery).toBeVisible();

  // Requests on this connection get no response, even after the service recovers.
  line.spoil(silent);
  // The next read begins within 8 s, and pages report a missing response after 10 s.
  const waits = { timeout: 25_000 };
  await expect(freshness(overview)).not.toHaveAttribute("data-freshness", "live", waits);
  await expect(freshness(assets)).not.toHaveAttribute("data-freshness", "live", waits);
  await expect(gallery).toBeVisible();

  await goTo(walker, "Settings");
  await expect(walker.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  await goTo(walker, "Jobs");
  await expect(walker.getByRole("heading", { name: "Jobs", level: 1 })).toBeVisible();
  await walker.getByRole("button", { name: /^Switch connection/ }).click();
  await expect(walker.getByRole("dialog").getByRole("button", { name: `Line ${line.url}` })).toBeVisible();
  await walker.keyboard.press("Escape");
  const fresh = await page.context().newPage();
  await fresh.goto(`${desk.url}/assets?connection=${connection}`);
  await expect(fresh.getByRole("main").getByRole("alert").filter({ hasText: messages.UPSTREAM_TIMEOUT.title })).toBeVisible();

  line.spoil();
  for (const open of [overview, walker, assets, fresh]) await expect(freshness(open)).toHaveAttribute("data-freshness", "live");
  await expect(fresh.getByRole("list", { name: "Assets" }).getByRole("link", { name: "photo.png" })).toBeVisible();
  await expect(fresh.getByRole("main").getByRole("alert")).toHaveCount(0);
});
