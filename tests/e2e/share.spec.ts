// A public link is created for a job or selected assets, opened on a phone, and revoked in settings.
import { type Browser, type Page } from "@playwright/test";
import sharp from "sharp";
import { expectAccessible, expectAccessibleInBothThemes } from "./support/accessible";
import { submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 320, height: 480, batch_size: 2, color: 3368652 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "poster" } },
  "3": { class_type: "PreviewAny", inputs: { source: "a line of text" } },
};

/** Opens a page as a visitor without an account, and records its requests and errors. */
async function openVisitorPage(browser: Browser, width: number): Promise<{ page: Page; requests: string[]; errors: string[] }> {
  const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme: "light" });
  const page = await context.newPage();
  const [requests, errors]: [string[], string[]] = [[], []];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  return { page, requests, errors };
}

async function readCreatedLink(page: Page): Promise<string> {
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("heading", { name: /^The link .*is ready$/ })).toBeVisible();
  const url = await dialog.getByLabel("Link", { exact: true }).inputValue();
  expect(url).toMatch(/\/share\/[A-Za-z0-9_-]{43}$/);
  await dialog.getByRole("button", { name: "Close" }).click();
  return url;
}

test("shares a job's results with a password, counts visits and revokes the link", async ({ signedIn: page, desk, browser }) => {
  const job = await submitJob(page.request, desk, graph, { name: "Posters" });
  await waitForState(page.request, desk, job, "completed");
  await page.goto(`${desk.url}/jobs/${job}`);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Title").fill("Posters for you");
  await dialog.getByLabel("Valid for").selectOption("1 day");
  await dialog.getByLabel("Password (optional)").fill("open sesame");
  await dialog.getByLabel("Show my name").check();
  await dialog.getByLabel("Include the workflow").check();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create link" }).click();
  const url = await readCreatedLink(page);

  const { page: phone, requests, errors } = await openVisitorPage(browser, 390);
  await phone.goto(url);
  await expect(phone.getByRole("heading", { name: "This share needs a password." })).toBeVisible();
  expect(await phone.content()).not.toContain("Posters for you");
  await expectAccessibleInBothThemes(phone);
  await phone.getByLabel("Password").fill("close sesame");
  await phone.getByRole("button", { name: "Open" }).click();
  await expect(phone.getByText("Wrong password.")).toBeVisible();
  errors.length = 0; // the browser logs the rejected password
  await phone.getByLabel("Password").fill("open sesame");
  await phone.getByRole("button", { name: "Open" }).click();
  await expect(phone.getByRole("heading", { name: "Posters for you" })).toBeVisible();
  await expect(phone.getByText("a line of text")).toBeVisible();
  await expect(phone).toHaveTitle("Posters for you");
  const pictures = phone.getByRole("img");
  await expect(pictures).toHaveCount(2);
  for (const picture of await pictures.all()) {
    await picture.scrollIntoViewIfNeeded();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  }
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await expectAccessibleInBothThemes(phone);
  // The page requests only URLs of the share.
  const otherRequests = requests.filter((path) => !/^\/(share\/|api\/share\/|_next\/static\/|icon\.svg|favicon\.ico)/.test(path));
  expect([otherRequests, errors]).toEqual([[], []]);
  expect(await phone.content()).not.toContain(job);

  const [download] = await Promise.all([
    phone.waitForEvent("download"),
    phone
      .getByRole("link", { name: /^Download .*\.png$/ })
      .first()
      .click(),
  ]);
  const file = await sharp(await download.path()).metadata();
  expect(file).toMatchObject({ format: "png", width: 320, height: 480 });
  expect(file.comments).toBeUndefined();
  const [workflow] = await Promise.all([
    phone.waitForEvent("download"),
    phone.getByRole("link", { name: "Download the workflow" }).click(),
  ]);
  expect(workflow.suggestedFilename()).toBe("workflow.json");

  await page.goto(`${desk.url}/settings/shares`);
  const row = page.getByRole("listitem").filter({ hasText: "Posters for you" });
  await expect(row).toContainText(/[12] views?, 1 download/);
  await expectAccessibleInBothThemes(page);
  await row.getByRole("button", { name: "Revoke: Posters for you" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke Posters for you" }).click();
  await expect(page.getByText("Posters for you revoked")).toBeVisible();
  const response = await phone.goto(url);
  expect(response?.status()).toBe(404);
  expect(response?.headers()).toMatchObject({ "referrer-policy": "no-referrer", "x-robots-tag": expect.stringContaining("noindex") });
  expect(response?.headers()["cache-control"]).toContain("no-store");
  await expect(phone.getByText("This link doesn't work.")).toBeVisible();
  await expectAccessibleInBothThemes(phone);
  await phone.context().close();
});

test("shares selected assets and lists files skipped for their metadata", async ({ signedIn: page, desk, browser }) => {
  const tag = `shared-${Date.now()}`;
  const picture = await sharp({ create: { width: 640, height: 400, channels: 3, background: "#a53" } })
    .png()
    .toBuffer();
  const files = {
    "one.png": ["image/png", picture],
    "drawn.svg": ["image/svg+xml", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>")],
  } as const;
  for (const [name, [mimeType, buffer]] of Object.entries(files)) {
    const multipart = { tags: JSON.stringify([tag]), name, file: { name, mimeType, buffer } };
    const response = await page.request.post(`${desk.url}/api/assets`, { headers: { origin: desk.url }, multipart });
    expect(response.status(), await response.text()).toBe(201);
  }
  await page.goto(`${desk.url}/assets?include_tags=${tag}&include_public=false`);
  await expect(page.locator("a[data-index][href]")).toHaveCount(2);
  await page.getByRole("button", { name: "Select visible" }).click();
  await page.getByRole("region", { name: "Selected rows" }).getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create link" }).click();
  await expect(dialog.getByText("drawn.svg")).toBeVisible();
  await dialog.getByRole("button", { name: "Skip these files" }).click();
  const url = await readCreatedLink(page);
  const { page: desktop, errors } = await openVisitorPage(browser, 1440);
  await desktop.goto(url);
  await expect(desktop.getByRole("heading", { name: /one\.png/ })).toBeVisible();
  await expect(desktop.getByRole("img", { name: "one.png" })).toBeVisible();
  await expect(desktop.getByText("drawn.svg")).toHaveCount(0);
  expect(errors).toEqual([]);
  await desktop.context().close();
});
