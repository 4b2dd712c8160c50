// A service that accepts requests without responding: working features, messages and recovery.
import { type Page } from "@playwright/test";
import messages from "@/lib/messages/en/errors.json" with { type: "json" };
import { connectThroughProxy, type FlakyService, neverRespond, startFlakyService } from "./support/flaky-service";
import { goTo } from "./support/steps";
import { expect, test } from "./support/test";

const getFreshness = (page: Page) => page.getByRole("main").locator("[data-freshness]").first();

let flakyService: FlakyService;
let connection: string;
test.beforeEach(async ({ signedIn: page, desk, service }) => {
  flakyService = await startFlakyService(service.url);
  connection = await connectThroughProxy(page, desk, service, flakyService);
});
test.afterEach(() => flakyService.stop());

test("keeps pages usable while a service is unresponsive and restores them", async ({ signedIn: page, desk }) => {
  const overview = page;
  await overview.goto(`${desk.url}/?connection=${connection}`);
  await expect(getFreshness(overview)).toHaveAttribute("data-freshness", "live");
  const navigatingPage = await page.context().newPage();
  await navigatingPage.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(getFreshness(navigatingPage)).toHaveAttribute("data-freshness", "live");
  const assets = await page.context().newPage();
  await assets.goto(`${desk.url}/assets?connection=${connection}`);
  const gallery = assets.getByRole("list", { name: "Assets" }).getByRole("link", { name: "photo.png" });
  await expect(gallery).toBeVisible();

  // Requests on this connection get no response, even after the service recovers.
  flakyService.setFault(neverRespond);
  // The next read starts within 8 s, and pages report a missing response after 10 s.
  const longTimeout = { timeout: 25_000 };
  await expect(getFreshness(overview)).not.toHaveAttribute("data-freshness", "live", longTimeout);
  await expect(getFreshness(assets)).not.toHaveAttribute("data-freshness", "live", longTimeout);
  await expect(gallery).toBeVisible();

  await goTo(navigatingPage, "Settings");
  await expect(navigatingPage.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  await goTo(navigatingPage, "Jobs");
  await expect(navigatingPage.getByRole("heading", { name: "Jobs", level: 1 })).toBeVisible();
  await navigatingPage.getByRole("button", { name: /^Switch connection/ }).click();
  await expect(navigatingPage.getByRole("dialog").getByRole("button", { name: `Line ${flakyService.url}` })).toBeVisible();
  await navigatingPage.keyboard.press("Escape");
  const newPage = await page.context().newPage();
  await newPage.goto(`${desk.url}/assets?connection=${connection}`);
  await expect(newPage.getByRole("main").getByRole("alert").filter({ hasText: messages.UPSTREAM_TIMEOUT.title })).toBeVisible();

  flakyService.setFault();
  for (const openPage of [overview, navigatingPage, assets, newPage])
    await expect(getFreshness(openPage)).toHaveAttribute("data-freshness", "live");
  await expect(newPage.getByRole("list", { name: "Assets" }).getByRole("link", { name: "photo.png" })).toBeVisible();
  await expect(newPage.getByRole("main").getByRole("alert")).toHaveCount(0);
});
