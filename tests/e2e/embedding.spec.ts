// A visit in a host page, as in the example of the docs.
import { sample } from "./support/files";
import { embedded, hostLog, startHostPage } from "./support/host-page";
import { submit, untilState } from "./support/jobs";
import { openInNewTab } from "./support/new-tab";
import { expect, test } from "./support/test";

test("lets a visitor of a host page work without a console session", async ({ signedIn: page, desk, browser }) => {
  const host = await startHostPage(page.request, desk);
  const job = await submit(page.request, desk, JSON.parse(sample("01-invert").bytes.toString("utf8")));
  await untilState(page.request, desk, job, "completed");
  const context = await browser.newContext();
  const visitor = await context.newPage();
  const addresses: string[] = [];
  visitor.on("request", (request) => addresses.push(request.url()));
  await visitor.goto(host.url);
  const frame = embedded(visitor);

  await test.step("shows jobs and pictures without the console's navigation", async () => {
    await expect(hostLog(visitor)).toContainText('ready {"page":"/jobs","keeps":"cookie"}');
    await expect(frame.getByText("Completed").first()).toBeVisible();
    await expect(frame.getByRole("link", { name: "Settings" })).toHaveCount(0);
    const picture = frame.getByRole("row").locator("img").first();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  });

  await test.step("opens a job's page and reports the location to the host", async () => {
    await frame.getByTitle(job).first().click();
    await frame.getByRole("link", { name: "Open page" }).click();
    await expect(frame.getByRole("heading", { name: "Timeline" })).toBeVisible();
    await expect(hostLog(visitor)).toContainText(`navigated {"path":"/jobs/${job}`);
    await visitor.locator("#jobs").click();
    await expect(frame.getByRole("heading", { name: "Jobs", exact: true })).toBeVisible();
  });

  await test.step("reports the start and end of a run to the host", async () => {
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.navigate("run"));
    await frame
      .getByRole("button", { name: /Invert/ })
      .first()
      .click();
    await frame.getByRole("button", { name: "Run", exact: true }).click();
    await expect(hostLog(visitor)).toContainText("job-submitted");
  });

  await test.step("lets the host request an asset and receive the chosen one", async () => {
    await visitor.locator("#choose").click();
    // Other tests have left newer files.
    await frame.getByRole("searchbox", { name: "Name contains" }).fill("photo.png");
    await frame.getByRole("button", { name: "photo.png", exact: true }).first().click();
    await expect(hostLog(visitor)).toContainText(/job-ended \{"id":"[^"]+","status":"completed"\}/);
    await expect(hostLog(visitor)).toContainText(/asset-chosen \{"id":"[^"]+","name":"photo\.png","hash":"blake3:[0-9a-f]{64}"\}/);
  });

  await test.step("follows the host's theme and language", async () => {
    const html = frame.locator("html");
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("theme", "dark"));
    await expect(html).toHaveAttribute("data-theme", "dark");
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.navigate("jobs"));
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("language", "zh-CN"));
    await expect(frame.getByRole("heading", { name: "作业", exact: true })).toBeVisible();
  });

  await test.step("grows and shrinks with the page when the host wants it", async () => {
    const heights = () => visitor.locator("lightdesk-embed").evaluate((element: HTMLElement) => Number.parseFloat(element.style.height));
    const content = () => frame.locator("#content").evaluate((main) => Math.ceil(main.getBoundingClientRect().height));
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("height", "auto"));
    for (const name of ["run", "queue"] as const) {
      await visitor.evaluate((page) => document.querySelector("lightdesk-embed")?.navigate(page), name);
      await expect(hostLog(visitor)).toContainText(`navigated {"path":"/${name}"}`);
      await expect.poll(async () => (await heights()) - (await content())).toBe(0);
    }
  });

  await test.step("explains a missing session in a new tab and opens the console for a member", async () => {
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("language", "en"));
    await visitor.locator("#jobs").click();
    const link = frame.getByTitle(job).first();
    const press = () => link.click({ modifiers: ["ControlOrMeta"] });
    const alone = await openInNewTab(context, press, /\/start\?from=/);
    await expect(alone.getByRole("heading", { name: "This page opens inside another page" })).toBeVisible();
    await expect(alone.getByRole("link", { name: "Sign in" })).toHaveAttribute("href", new RegExp(`^/jobs/${job}`));
    await alone.close();
    await desk.signIn(context);
    const ownPage = await openInNewTab(context, press, new RegExp(`^${desk.url}/jobs/${job}`));
    await expect(ownPage.getByRole("heading", { name: "Timeline" })).toBeVisible();
    await ownPage.close();
  });

  await test.step("saves a picture opened in a tab, which has no session", async () => {
    await frame.getByTitle(job).first().click();
    const saving = visitor.waitForEvent("download");
    await frame.getByRole("region", { name: "Outputs" }).getByRole("link").first().click();
    expect(await (await saving).failure()).toBeNull();
  });

  await test.step("keeps tickets out of addresses and ends with the host's sign-out", async () => {
    expect(addresses.filter((address) => address.includes("eyJ"))).toEqual([]);
    await visitor.locator("#end").click();
    await expect(hostLog(visitor)).toContainText('session-ended {"reason":"host"}');
    await expect(frame.getByText("Your session has ended")).toBeVisible();
    expect((await context.cookies(desk.url)).filter(({ name }) => name.includes("lightdesk.embed"))).toEqual([]);
  });
  await context.close();
  await host.stop();
});
