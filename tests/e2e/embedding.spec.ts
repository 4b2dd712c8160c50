import { type BrowserContext, type Page } from "@playwright/test";
import { expectAccessible, expectAccessibleInBothThemes } from "./support/accessible";
import { type Desk } from "./support/desk";
import { embedded, heard, startHostPage } from "./support/host-page";
import { submit, slowGraph, untilState } from "./support/jobs";
import { sample } from "./support/files";
import { expect, test } from "./support/test";

test("a visitor of a host page works in the console inside it, without a session of the console", async ({
  ownDesk: desk,
  browser,
  page,
}) => {
  const host = await startHostPage(page.request, desk);
  const job = await submit(page.request, desk, JSON.parse(sample("01-invert").bytes.toString("utf8")));
  await untilState(page.request, desk, job, "completed");
  const context = await browser.newContext();
  const visitor = await context.newPage();
  const addresses: string[] = [];
  visitor.on("request", (request) => addresses.push(request.url()));
  await visitor.goto(host.url);
  const frame = embedded(visitor);

  await test.step("the list of jobs is there without the console's navigation, its pictures too", async () => {
    await expect(heard(visitor)).toContainText('ready {"page":"/jobs","keeps":"cookie"}');
    await expect(frame.getByText("Completed").first()).toBeVisible();
    await expect(frame.getByRole("link", { name: "Settings" })).toHaveCount(0);
    const picture = frame.getByRole("row").locator("img").first();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  });

  await test.step("a job opens on its own page, and the host hears where the visitor is", async () => {
    await frame.getByTitle(job).first().click();
    await frame.getByRole("link", { name: "Open page" }).click();
    await expect(frame.getByRole("heading", { name: "Timeline" })).toBeVisible();
    await expect(heard(visitor)).toContainText(`navigated {"path":"/jobs/${job}`);
    await visitor.locator("#jobs").click();
    await expect(frame.getByRole("heading", { name: "Jobs", exact: true })).toBeVisible();
  });

  await test.step("a workflow that is run in it is told to the host, and its end too", async () => {
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.navigate("run"));
    await frame
      .getByRole("button", { name: /Invert/ })
      .first()
      .click();
    await frame.getByRole("button", { name: "Run", exact: true }).click();
    await expect(heard(visitor)).toContainText("job-submitted");
    await expect(heard(visitor)).toContainText(/job-ended \{"id":"[^"]+","status":"completed"\}/);
  });

  await test.step("the host asks for an asset and gets the one that is chosen", async () => {
    await visitor.locator("#choose").click();
    await frame.getByRole("button", { name: "photo.png" }).click();
    await expect(heard(visitor)).toContainText(/asset-chosen \{"id":"[^"]+","name":"photo\.png","hash":"blake3:[0-9a-f]{64}"\}/);
  });

  await test.step("theme and language follow the host", async () => {
    const html = frame.locator("html");
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("theme", "dark"));
    await expect(html).toHaveAttribute("data-theme", "dark");
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.navigate("jobs"));
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("language", "zh-CN"));
    await expect(frame.getByRole("heading", { name: "作业", exact: true })).toBeVisible();
  });

  await test.step("its height follows the page where the host wants that", async () => {
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("height", "auto"));
    await expect.poll(() => visitor.locator("lightdesk-embed").evaluate((element: HTMLElement) => element.style.height)).not.toBe("700px");
  });

  await test.step("no ticket stands in an address, and signing out of the host ends it", async () => {
    expect(addresses.filter((address) => address.includes("eyJ"))).toEqual([]);
    await visitor.locator("#end").click();
    await expect(heard(visitor)).toContainText('session-ended {"reason":"host"}');
    await expect(frame.getByText("Your session has ended")).toBeVisible();
    expect((await context.cookies(desk.url)).filter(({ name }) => name.includes("lightdesk.embed"))).toEqual([]);
  });
  await context.close();
  await host.stop();
});

test("where a browser keeps no cookie, the session is in memory, and two frames on one page keep apart", async ({
  ownDesk: desk,
  browser,
  page,
}) => {
  const host = await startHostPage(page.request, desk);
  await submit(page.request, desk, slowGraph(60));
  const visitor = await visitorWithoutCookies(browser, desk);
  await visitor.goto(host.url);
  const frame = embedded(visitor);
  await expect(heard(visitor)).toContainText('ready {"page":"/jobs","keeps":"memory"}');
  await expect(frame.getByRole("heading", { name: "Jobs", exact: true })).toBeVisible();
  expect((await visitor.context().cookies()).map(({ name }) => name)).toEqual([]);

  await test.step("pictures and other pages come with it", async () => {
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.navigate("assets"));
    const picture = frame.getByRole("main").locator("img").first();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  });

  await test.step("a second element has a session of its own, which the end of the first leaves alone", async () => {
    await visitor.evaluate(() => {
      const first = document.querySelector("lightdesk-embed");
      const second = first?.cloneNode();
      if (!first || !(second instanceof HTMLElement)) return;
      Object.assign(second, { getTicket: first.getTicket, id: "second" });
      document.body.append(second);
    });
    const second = visitor.locator("#second").frameLocator("iframe");
    await expect(second.getByRole("heading", { name: "Jobs", exact: true })).toBeVisible();
    await visitor.locator("#end").click();
    await expect(heard(visitor)).toContainText('session-ended {"reason":"host"}');
    await second.getByRole("link", { name: "Failed" }).click();
    await expect(second.getByText(/No jobs|No failed|nothing/i).first()).toBeVisible();
  });
  await visitor.context().close();
  await host.stop();
});

test("a host page that is not set up rightly reads what to change, in its place and on the page that checks it", async ({
  ownDesk: desk,
  browser,
  page,
}) => {
  const host = await startHostPage(page.request, desk);
  const context = await browser.newContext();
  const visitor = await context.newPage();

  await test.step("on an origin that may not frame it", async () => {
    await visitor.goto(host.url.replace("localhost", "127.0.0.1"));
    const panel = visitor.locator("lightdesk-embed section");
    await expect(panel).toContainText("✓ Console");
    await expect(panel).toContainText(`Add ${host.url.replace("localhost", "127.0.0.1")} to the origins`);
  });

  await test.step("with a server whose clock is ten minutes off", async () => {
    await visitor.goto(host.url);
    await expect(heard(visitor)).toContainText("ready");
    await visitor.evaluate(async () => {
      const element = document.querySelector("lightdesk-embed");
      if (!element) return;
      const seconds = Math.floor(Date.now() / 1000) - 600;
      const part = (value: unknown) => btoa(JSON.stringify(value)).replace(/=+$/, "");
      const host = element.getAttribute("host");
      const old = {
        iss: location.origin,
        aud: `${element.getAttribute("src")}/embed/${host}`,
        sub: "x",
        jti: "12345678",
        iat: seconds,
        exp: seconds + 60,
      };
      element.getTicket = async () => `${part({ alg: "HS256" })}.${part(old)}.c2lnbmF0dXJl`;
      element.replaceWith(element);
    });
    const panel = visitor.locator("lightdesk-embed section");
    await expect(panel).toContainText(/is -60\d s off the console's/);
    await expect(panel).toContainText("did not accept the ticket");
    await expect(heard(visitor)).toContainText('error {"reason":"ticket"}');
  });

  await test.step("the check inside the frame passes where all is well", async () => {
    await visitor.goto(host.url);
    await visitor.evaluate(() => {
      const element = document.querySelector("lightdesk-embed");
      element?.setAttribute("page", "doctor");
      element?.replaceWith(element);
    });
    const lines = embedded(visitor).getByRole("listitem");
    await expect(lines).toHaveCount(8);
    await expect(embedded(visitor).getByRole("img", { name: "In order" })).toHaveCount(8);
  });

  await test.step("by itself it is a page for anybody", async () => {
    await visitor.goto(`${desk.url}/embed/doctor?host=${host.id}&origin=${host.url}`);
    await expect(visitor.getByText("Only tried inside the host page")).toHaveCount(2);
    await expectAccessible(visitor);
  });

  await test.step("nothing is framed that no host page was set up for", async () => {
    const plain = await visitor.request.get(`${desk.url}/embed/000000000000000000/abcdefgh1234/jobs`);
    expect([plain.status(), plain.headers()["content-security-policy"]]).toEqual([404, expect.stringContaining("frame-ancestors 'none'")]);
    const jobs = await page.request.get(`${desk.url}/jobs`);
    expect(jobs.headers()["x-frame-options"]).toBe("DENY");
  });
  await context.close();
  await host.stop();
});

test("an admin sets a host page up, copies its code, and reads why its last ticket was refused", async ({ ownDesk: desk, page }) => {
  await page.goto(`${desk.url}/settings/embedding`);
  await expect(page.getByText("No page may show Lightdesk yet.")).toBeVisible();
  await page.getByRole("button", { name: "Add a host page" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Portal");
  await page.getByLabel("Origins, one per line").fill("http://app.example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Enter origins such as https://app.example.com, without a path.")).toBeVisible();
  await page.getByLabel("Origins, one per line").fill("https://app.example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByLabel("Secret", { exact: true })).toHaveValue(/^[\w-]{43}$/);
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Code to paste: Portal" }).click();
  await expect(page.getByLabel("In your page", { exact: true })).toContainText(`<script src="${desk.url}/embed.js">`);
  await page.getByRole("button", { name: "Close" }).click();

  const { hosts } = await (await page.request.get(`${desk.url}/api/console/embedding`)).json();
  const refused = await page.request.post(`${desk.url}/embed/${hosts[0].id}/abcdefgh1234/api/embed/tickets`, {
    data: { ticket: "nonsense", origin: "https://app.example.com" },
    headers: { origin: desk.url },
  });
  expect(refused.status()).toBe(401);
  await page.reload();
  await expect(page.getByText("Last refused ticket: it was not a signed token")).toBeVisible();
  await page.getByRole("button", { name: "Remove: Portal" }).click();
  await page.getByRole("button", { name: "Remove Portal" }).click();
  await expect(page.getByText("No page may show Lightdesk yet.")).toBeVisible();
});

/** As a browser without partitioned cookies has it: what the console would set for the frame is not kept. */
async function visitorWithoutCookies(browser: { newContext(): Promise<BrowserContext> }, desk: Desk): Promise<Page> {
  const context = await browser.newContext();
  await context.route(`${desk.url}/embed/*/*/start*`, async (route) => {
    // Not by the context, which would keep the cookie that came along.
    const answer = await fetch(route.request().url());
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => !/^(set-cookie|content-(encoding|length))$/.test(name)));
    await route.fulfill({ status: answer.status, headers, body: await answer.text() });
  });
  return context.newPage();
}
