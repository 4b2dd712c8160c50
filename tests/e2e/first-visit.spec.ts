import { type Page } from "@playwright/test";
import { type FetchedResource, watchTraffic } from "@/tests/support/traffic";
import { until } from "@/tests/support/until";
import { type Desk } from "./support/desk";
import { createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

const QUIET_MS = 1_500;
/** Includes three scripts loaded with the console's first response, and the stream of live updates. */
const MAX_REQUESTS = 27;
const MAX_KIB = 315;

async function visitJobs(page: Page, desk: Desk) {
  const traffic = await watchTraffic(await page.context().newCDPSession(page));
  await page.goto(`${desk.url}/jobs`);
  await expect(page.locator("tr[data-row]").first()).toBeVisible();
  await until("the page is quiet", () => traffic.isQuietFor(QUIET_MS));
  return traffic;
}

const isPage = ({ url }: FetchedResource) => new URL(url).searchParams.has("_rsc");
const isThumbnail = ({ url }: FetchedResource) => url.includes("/api/console/thumbnail");
const isMonoFont = ({ url }: FetchedResource) => url.includes("geist-mono");

test("limits requests and bytes on a first visit, then prefetches pointed-at pages", async ({ page, ownDesk }) => {
  const id = await submitJob(page.request, ownDesk, createSlowGraph(0.02, "-first-visit"));
  await waitForState(page.request, ownDesk, id, "completed");
  const traffic = await visitJobs(page, ownDesk);
  const fetched = traffic.listResources();
  expect(fetched.filter(isPage)).toEqual([]);
  expect(fetched.filter((resource) => !isThumbnail(resource)).length).toBeLessThanOrEqual(MAX_REQUESTS);
  expect(traffic.getKibibytes()).toBeLessThanOrEqual(MAX_KIB);
  expect(fetched.some(isThumbnail)).toBe(true);
  await expect(page.locator('link[rel="preload"][as="font"]')).toHaveCount(1);
  expect(await page.locator('link[rel="preload"][as="font"]').getAttribute("href")).not.toMatch(/mono/);
  expect(fetched.filter(isMonoFont).length).toBeLessThanOrEqual(1);

  await test.step("streams the rows in the first chunk of the page when the service is fast", async () => {
    // On a busy machine, the service may take longer than the page waits.
    await until("the first chunk contains the rows", async () => {
      const html = await (await page.request.get(`${ownDesk.url}/jobs`)).text();
      const [firstChunk = ""] = html.split('<div hidden id="S:');
      return firstChunk.includes(`/jobs/${id}`) && !firstChunk.includes("aria-busy");
    });
  });

  await test.step("prefetches a page when its link is hovered or focused", async () => {
    const hasFetchedPage = (path: string) =>
      traffic.listResources().some((resource) => isPage(resource) && new URL(resource.url).pathname === path);
    const link = (name: string) => page.getByRole("navigation").getByRole("link", { name }).first();
    await link("History").hover();
    await until("History is fetched", () => hasFetchedPage("/history"));
    expect(hasFetchedPage("/assets")).toBe(false);
    await link("Assets").focus();
    await until("Assets is fetched", () => hasFetchedPage("/assets"));
    await link("History").click();
    await expect(page).toHaveURL(/\/history$/);
    await expect(page.getByRole("heading", { name: "History" })).toBeVisible();
  });
});

test("serves scripts as immutable Brotli, marked for early compilation", async ({ page, desk }) => {
  const html = await (await page.request.get(`${desk.url}/sign-in`)).text();
  const [script = ""] = /\/_next\/static\/chunks\/[^"]+\.js/.exec(html) ?? [];
  const [style = ""] = /\/_next\/static\/chunks\/[^"]+\.css/.exec(html) ?? [];
  for (const path of [script, style]) {
    const compressed = await page.request.get(desk.url + path, { headers: { "accept-encoding": "gzip, br" } });
    const uncompressed = await page.request.get(desk.url + path, { headers: { "accept-encoding": "identity" } });
    expect(compressed.headers()).toMatchObject({
      "content-encoding": "br",
      "content-type": uncompressed.headers()["content-type"],
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
    });
    expect(await compressed.text()).toBe(await uncompressed.text());
    const secondResponse = await page.request.get(desk.url + path, {
      headers: { "accept-encoding": "br", "if-none-match": compressed.headers().etag ?? "" },
    });
    expect(secondResponse.status()).toBe(304);
  }
  expect(await (await page.request.get(desk.url + script)).text()).toMatch(/^\/\/# allFunctionsCalledOnLoad\n/);
});
