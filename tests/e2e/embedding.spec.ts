// A visit to a host page like the example in the docs.
import { readSample } from "./support/files";
import { getEmbedFrame, getHostLog, startHostPage } from "./support/host-page";
import { submitJob, waitForState } from "./support/jobs";
import { openInNewTab } from "./support/new-tab";
import { expect, test } from "./support/test";

test("lets a visitor work in a host page without a console session", async ({ signedIn: page, desk, browser }) => {
  const host = await startHostPage(page.request, desk);
  const job = await submitJob(page.request, desk, JSON.parse(readSample("01-invert").bytes.toString("utf8")));
  await waitForState(page.request, desk, job, "completed");
  const context = await browser.newContext();
  const visitor = await context.newPage();
  const requestUrls: string[] = [];
  visitor.on("request", (request) => requestUrls.push(request.url()));
  await visitor.goto(host.url);
  const frame = getEmbedFrame(visitor);

  await test.step("shows jobs and pictures without the console's navigation", async () => {
    await expect(getHostLog(visitor)).toContainText('ready {"page":"/jobs","keeps":"cookie"}');
    await expect(frame.getByText("Completed").first()).toBeVisible();
    await expect(frame.getByRole("link", { name: "Settings" })).toHaveCount(0);
    const picture = frame.getByRole("row").locator("img").first();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  });

  await test.step("opens a job's page and reports the location to the host", async () => {
    await frame.getByTitle(job).first().click();
    await frame.getByRole("link", { name: "Open page" }).click();
    await expect(frame.getByRole("heading", { name: "Timeline" })).toBeVisible();
    await expect(getHostLog(visitor)).toContainText(`navigated {"path":"/jobs/${job}`);
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
    await expect(getHostLog(visitor)).toContainText("job-submitted");
  });

  await test.step("lets the host request an asset and receive the chosen one", async () => {
    await visitor.locator("#choose").click();
    // Other tests have created newer files.
    await frame.getByRole("searchbox", { name: "Name contains" }).fill("photo.png");
    await frame.getByRole("button", { name: "photo.png", exact: true }).first().click();
    await expect(getHostLog(visitor)).toContainText(/job-ended \{"id":"[^"]+","status":"completed"\}/);
    await expect(getHostLog(visitor)).toContainText(/asset-chosen \{"id":"[^"]+","name":"photo\.png","hash":"blake3:[0-9a-f]{64}"\}/);
  });

  await test.step("follows the host's theme and language", async () => {
    const html = frame.locator("html");
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("theme", "dark"));
    await expect(html).toHaveAttribute("data-theme", "dark");
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.navigate("jobs"));
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("language", "zh-CN"));
    await expect(frame.getByRole("heading", { name: "作业", exact: true })).toBeVisible();
  });

  await test.step("grows and shrinks with the page when the host sets an automatic height", async () => {
    const getFrameHeight = () =>
      visitor.locator("lightdesk-embed").evaluate((element: HTMLElement) => Number.parseFloat(element.style.height));
    const getContentHeight = () => frame.locator("#content").evaluate((main) => Math.ceil(main.getBoundingClientRect().height));
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("height", "auto"));
    for (const name of ["run", "queue"] as const) {
      await visitor.evaluate((page) => document.querySelector("lightdesk-embed")?.navigate(page), name);
      await expect(getHostLog(visitor)).toContainText(`navigated {"path":"/${name}"}`);
      await expect.poll(async () => (await getFrameHeight()) - (await getContentHeight())).toBe(0);
    }
  });

  await test.step("explains a missing session in a new tab and opens the console for a member", async () => {
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.setAttribute("language", "en"));
    await visitor.locator("#jobs").click();
    const link = frame.getByTitle(job).first();
    const clickLink = () => link.click({ modifiers: ["ControlOrMeta"] });
    const newTab = await openInNewTab(context, clickLink, /\/start\?from=/);
    await expect(newTab.getByRole("heading", { name: "This page opens inside another page" })).toBeVisible();
    await expect(newTab.getByRole("link", { name: "Sign in" })).toHaveAttribute("href", new RegExp(`^/jobs/${job}`));
    await newTab.close();
    await desk.signIn(context);
    const createConsolePage = await openInNewTab(context, clickLink, new RegExp(`^${desk.url}/jobs/${job}`));
    await expect(createConsolePage.getByRole("heading", { name: "Timeline" })).toBeVisible();
    await createConsolePage.close();
  });

  await test.step("downloads a picture, which a new tab couldn't show without a session", async () => {
    await frame.getByTitle(job).first().click();
    const pendingDownload = visitor.waitForEvent("download");
    await frame.getByRole("region", { name: "Outputs" }).getByRole("link").first().click();
    expect(await (await pendingDownload).failure()).toBeNull();
  });

  await test.step("keeps tickets out of addresses and ends with the host's sign-out", async () => {
    expect(requestUrls.filter((url) => url.includes("eyJ"))).toEqual([]);
    await visitor.locator("#end").click();
    await expect(getHostLog(visitor)).toContainText('session-ended {"reason":"host"}');
    await expect(frame.getByText("Your session has ended")).toBeVisible();
    expect((await context.cookies(desk.url)).filter(({ name }) => name.includes("lightdesk.embed"))).toEqual([]);
  });
  await context.close();
  await host.stop();
});
