import { type Page } from "@playwright/test";
import { type FetchedResource, watchTraffic } from "@/tests/support/traffic";
import { until } from "@/tests/support/until";
import { type Desk } from "./support/desk";
import { slowGraph, submit, untilState } from "./support/jobs";
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
const isMono = ({ url }: FetchedResource) => url.includes("geist-mono");

test("requests little besides pictures on a first visit to Jobs", async ({ page, ownDesk }) => {
  const id = await submit(page.request, ownDesk, slowGraph(0.02, "-first-visit"));
  await untilState(page.request, ownDesk, id, "completed");
  const traffic = await visitJobs(page, ownDesk);
  const fetched = traffic.fetched();
  expect(fetched.filter(isPage)).toEqual([]);
  expect(fetched.filter((fetched) => !isThumbnail(fetched)).length).toBeLessThanOrEqual(MAX_REQUESTS);
  expect(traffic.kibibytes()).toBeLessThanOrEqual(MAX_KIB);
  expect(fetched.some(isThumbnail)).toBe(true);
  await expect(page.locator('link[rel="preload"][as="font"]')).toHaveCount(1);
  expect(await page.locator('link[rel="preload"][as="font"]').getAttribute("href")).not.toMatch(/mono/);
  expect(fetched.filter(isMono).length).toBeLessThanOrEqual(1);
});

test("serves scripts as immutable Brotli, marked for early compilation", async ({ page, desk }) => {
  const html = await (await page.request.get(`${desk.url}/sign-in`)).text();
  const [script = ""] = /\/_next\/static\/chunks\/[^"]+\.js/.exec(html) ?? [];
  const [style = ""] = /\/_next\/static\/chunks\/[^"]+\.css/.exec(html) ?? [];
  for (const path of [script, style]) {
    const packed = await page.request.get(desk.url + path, { headers: { "accept-encoding": "gzip, br" } });
    const plain = await page.request.get(desk.url + path, { headers: { "accept-encoding": "identity" } });
    expect(packed.headers()).toMatchObject({
      "content-encoding": "br",
      "content-type": plain.headers()["content-type"],
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
    });
    expect(await packed.text()).toBe(await plain.text());
    const secondResponse = await page.request.get(desk.url + path, {
      headers: { "accept-encoding": "br", "if-none-match": packed.headers().etag ?? "" },
    });
    expect(secondResponse.status()).toBe(304);
  }
  expect(await (await page.request.get(desk.url + script)).text()).toMatch(/^\/\/# allFunctionsCalledOnLoad\n/);
});

test("streams the rows in the first part of the page when the service is fast", async ({ signedIn: page, desk }) => {
  const id = await submit(page.request, desk, slowGraph(0.02, "-first-part"));
  await untilState(page.request, desk, id, "completed");
  // A busy machine may take longer than the page waits.
  await until("the service answers at once", async () => {
    const html = await (await page.request.get(`${desk.url}/jobs`)).text();
    const [firstPart = ""] = html.split('<div hidden id="S:');
    return firstPart.includes(`/jobs/${id}`) && !firstPart.includes("aria-busy");
  });
});

test("prefetches a page when its link is hovered or focused", async ({ signedIn: page, desk }) => {
  await submit(page.request, desk, slowGraph(0.02, "-pointed-at"));
  const traffic = await visitJobs(page, desk);
  const requestedPart = (path: string) => traffic.fetched().some((fetched) => isPage(fetched) && new URL(fetched.url).pathname === path);
  const link = (name: string) => page.getByRole("navigation").getByRole("link", { name }).first();
  expect(requestedPart("/history")).toBe(false);
  await link("History").hover();
  await until("History is fetched", () => requestedPart("/history"));
  expect(requestedPart("/assets")).toBe(false);
  await link("Assets").focus();
  await until("Assets is fetched", () => requestedPart("/assets"));
  await link("History").click();
  await expect(page).toHaveURL(/\/history$/);
  await expect(page.getByRole("heading", { name: "History" })).toBeVisible();
});
