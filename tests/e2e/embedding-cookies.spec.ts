// Embedded pages in a browser that blocks third-party cookies: the session is stored in a cookie partitioned by the host page, or in memory.
import { readFile } from "node:fs/promises";
import { type Browser, type Page } from "@playwright/test";
import { browserFlags, findTestBrowser } from "@/bin/browser.mjs";
import { type Desk } from "./support/desk";
import { readSample } from "./support/files";
import { getEmbedFrame, getHostLog, startHostPage } from "./support/host-page";
import { submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

/** Overrides Playwright's list of features, with which frames of one site would share their storage, unlike in real browsers. */
const cookieBlockingFlags = ["--test-third-party-cookie-phaseout", "--disable-features=PaintHolding"];

test("shows jobs and pictures to a visitor when third-party cookies are blocked", async ({ signedIn: page, desk, playwright }) => {
  const host = await startHostPage(page.request, desk);
  const job = await submitJob(page.request, desk, JSON.parse(readSample("01-invert").bytes.toString("utf8")));
  await waitForState(page.request, desk, job, "completed");
  const browser = await playwright.chromium.launch({ executablePath: findTestBrowser(), args: [...browserFlags, ...cookieBlockingFlags] });

  await test.step("uses a partitioned cookie for this host page", async () => {
    const visitor = await (await browser.newContext()).newPage();
    await visitor.goto(host.url);
    await expect(getHostLog(visitor)).toContainText('ready {"page":"/jobs","keeps":"cookie"}');
    await expectPictures(visitor, job);
    const storedCookies = await getEmbedFrame(visitor)
      .locator("html")
      .evaluate(() => {
        document.cookie = "plain=1; Secure; SameSite=None";
        document.cookie = "partitioned=1; Secure; SameSite=None; Partitioned";
        return document.cookie;
      });
    expect(storedCookies).toBe("partitioned=1");
    await visitor.context().close();
  });

  await test.step("keeps the session in memory when no cookie is stored", async () => {
    const visitor = await openVisitorWithoutCookies(browser, desk);
    await visitor.goto(host.url);
    await expect(getHostLog(visitor)).toContainText('ready {"page":"/jobs","keeps":"memory"}');
    await expectPictures(visitor, job);
    expect((await visitor.context().cookies()).map(({ name }) => name)).toEqual([]);

    const frame = getEmbedFrame(visitor);
    await frame.getByTitle(job).first().click();
    const pendingDownload = visitor.waitForEvent("download");
    await frame.getByRole("region", { name: "Outputs" }).getByRole("link").first().click();
    expect((await readFile(await (await pendingDownload).path())).subarray(1, 4).toString()).toBe("PNG");

    await test.step("keeps a second element's session when the first one ends", async () => {
      await visitor.evaluate(() => {
        const first = document.querySelector("lightdesk-embed");
        const second = first?.cloneNode();
        if (!first || !(second instanceof HTMLElement)) return;
        Object.assign(second, { getTicket: first.getTicket, id: "second" });
        document.body.append(second);
      });
      const second = getEmbedFrame(visitor, "#second");
      await expect(second.getByRole("heading", { name: "Jobs", exact: true })).toBeVisible();
      await visitor.locator("#end").click();
      await expect(getHostLog(visitor)).toContainText('session-ended {"reason":"host"}');
      await second.getByRole("link", { name: "Completed" }).click();
      await expect(second.getByTitle(job).first()).toBeVisible();
    });
    await visitor.context().close();
  });
  await browser.close();
  await host.stop();
});

async function expectPictures(visitor: Page, job: string): Promise<void> {
  const picture = getEmbedFrame(visitor)
    .getByRole("row")
    .filter({ has: visitor.locator(`[title="${job}"]`) })
    .locator("img")
    .first();
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
}

/** Like a browser without partitioned cookies: cookies that the console sets for the frame are dropped. */
async function openVisitorWithoutCookies(browser: Browser, desk: Desk): Promise<Page> {
  const context = await browser.newContext();
  await context.route(`${desk.url}/embed/*/*/start*`, async (route) => {
    // Fetched outside the context, which would store the response's cookie.
    const response = await fetch(route.request().url());
    const headers = Object.fromEntries([...response.headers].filter(([name]) => !/^(set-cookie|content-(encoding|length))$/.test(name)));
    await route.fulfill({ status: response.status, headers, body: await response.text() });
  });
  return context.newPage();
}
