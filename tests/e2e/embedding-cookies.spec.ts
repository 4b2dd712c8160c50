// Embedded pages in a browser that blocks third-party cookies: the session is stored in a cookie partitioned by the host page, or in memory.
import { readFile } from "node:fs/promises";
import { type Browser, type Page } from "@playwright/test";
import { browserFlags, findTestBrowser } from "@/bin/browser.mjs";
import { type Desk } from "./support/desk";
import { sample } from "./support/files";
import { embedded, hostLog, startHostPage } from "./support/host-page";
import { submit, untilState } from "./support/jobs";
import { expect, test } from "./support/test";

/** Only the last list of features counts: Playwright's own would let frames of one site share their storage, unlike real browsers. */
const blocking = ["--test-third-party-cookie-phaseout", "--disable-features=PaintHolding"];

test("works for a visitor when the browser blocks third-party cookies", async ({ signedIn: page, desk, playwright }) => {
  const host = await startHostPage(page.request, desk);
  const job = await submit(page.request, desk, JSON.parse(sample("01-invert").bytes.toString("utf8")));
  await untilState(page.request, desk, job, "completed");
  const browser = await playwright.chromium.launch({ executablePath: findTestBrowser(), args: [...browserFlags, ...blocking] });

  await test.step("uses a partitioned cookie for this host page", async () => {
    const visitor = await (await browser.newContext()).newPage();
    await visitor.goto(host.url);
    await expect(hostLog(visitor)).toContainText('ready {"page":"/jobs","keeps":"cookie"}');
    await expectPictures(visitor, job);
    const storedCookies = await embedded(visitor)
      .locator("html")
      .evaluate(() => {
        document.cookie = "plain=1; Secure; SameSite=None";
        document.cookie = "parted=1; Secure; SameSite=None; Partitioned";
        return document.cookie;
      });
    expect(storedCookies).toBe("parted=1");
    await visitor.context().close();
  });

  await test.step("keeps the session in memory when no cookie is stored", async () => {
    const visitor = await visitorWithoutCookies(browser, desk);
    await visitor.goto(host.url);
    await expect(hostLog(visitor)).toContainText('ready {"page":"/jobs","keeps":"memory"}');
    await expectPictures(visitor, job);
    expect((await visitor.context().cookies()).map(({ name }) => name)).toEqual([]);

    const frame = embedded(visitor);
    await frame.getByTitle(job).first().click();
    const saving = visitor.waitForEvent("download");
    await frame.getByRole("region", { name: "Outputs" }).getByRole("link").first().click();
    expect((await readFile(await (await saving).path())).subarray(1, 4).toString()).toBe("PNG");

    await test.step("keeps a second element's session when the first one ends", async () => {
      await visitor.evaluate(() => {
        const first = document.querySelector("lightdesk-embed");
        const second = first?.cloneNode();
        if (!first || !(second instanceof HTMLElement)) return;
        Object.assign(second, { getTicket: first.getTicket, id: "second" });
        document.body.append(second);
      });
      const second = embedded(visitor, "#second");
      await expect(second.getByRole("heading", { name: "Jobs", exact: true })).toBeVisible();
      await visitor.locator("#end").click();
      await expect(hostLog(visitor)).toContainText('session-ended {"reason":"host"}');
      await second.getByRole("link", { name: "Completed" }).click();
      await expect(second.getByTitle(job).first()).toBeVisible();
    });
    await visitor.context().close();
  });
  await browser.close();
  await host.stop();
});

async function expectPictures(visitor: Page, job: string): Promise<void> {
  const picture = embedded(visitor)
    .getByRole("row")
    .filter({ has: visitor.locator(`[title="${job}"]`) })
    .locator("img")
    .first();
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
}

/** Like a browser without partitioned cookies: cookies that the console sets for the frame are dropped. */
async function visitorWithoutCookies(browser: Browser, desk: Desk): Promise<Page> {
  const context = await browser.newContext();
  await context.route(`${desk.url}/embed/*/*/start*`, async (route) => {
    // Fetched outside the context, which would store the response's cookie.
    const response = await fetch(route.request().url());
    const headers = Object.fromEntries([...response.headers].filter(([name]) => !/^(set-cookie|content-(encoding|length))$/.test(name)));
    await route.fulfill({ status: response.status, headers, body: await response.text() });
  });
  return context.newPage();
}
