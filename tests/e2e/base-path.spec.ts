// The console below a base path shared with another product. Every request must use the path.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Page } from "@playwright/test";
import { findFreePort } from "@/tests/support/free-port";
import { startProxy } from "@/tests/support/proxy";
import { type Desk, owner, startDesk } from "./support/desk";
import { confirmAdd, createRandomFile, getTray, toFilePayload } from "./support/files";
import { getEmbedFrame, getHostLog, startHostPage } from "./support/host-page";
import { oidcSettings, signInAtProvider, startOidcServer } from "./support/oidc-server";
import { collectErrors, goTo, setUpByLink } from "./support/steps";
import { expect, test } from "./support/test";

const PATH = "/desk";
const BUILD_MS = 600_000;

test.beforeAll(async ({}, testInfo) => {
  testInfo.setTimeout(BUILD_MS);
  // Builds for the base path like `npm start`, unless a build exists.
  const env = { ...process.env, LIGHTDESK_BASE_PATH: PATH };
  const [code] = await once(spawn(process.execPath, ["bin/start.mjs", "build"], { env, stdio: "inherit" }), "close");
  expect(code).toBe(0);
});

/** `directUrl`: the console's URL without the proxy. `outsideRequests`: requests outside the path. */
type SiteBelowPath = { desk: Desk; origin: string; directUrl: string; outsideRequests: string[] };

async function withConsoleBelowPath(
  isTakenOff: boolean,
  visit: (site: SiteBelowPath) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<void> {
  const port = await findFreePort();
  const directOrigin = `http://127.0.0.1:${port}`;
  const proxy = await startProxy(() => directOrigin, { path: { name: PATH, isStripped: isTakenOff } });
  const origin = `http://${proxy.host}`;
  const desk = await startDesk({ PORT: String(port), LIGHTDESK_BASE_PATH: PATH, LIGHTDESK_PUBLIC_URL: origin, ...settings });
  try {
    await visit({ desk, origin, directUrl: directOrigin, outsideRequests: proxy.otherRequests });
  } finally {
    expect(await desk.stop(), desk.output()).toBe(0);
    proxy.stop();
  }
}

test("keeps every request of a visit below the base path", async ({ page, browser }) =>
  withConsoleBelowPath(false, async ({ desk, origin, directUrl, outsideRequests }) => {
    const errors = collectErrors(page);
    expect(desk.url).toBe(`${origin}${PATH}`);

    await test.step("creates an owner by the printed link and runs a sample", async () => {
      await setUpByLink(page, desk);
      await expect(page).toHaveURL(`${desk.url}/`);
      await page.getByRole("button", { name: "Run Colour field" }).click();
      await expectPicture(page);
    });
    const jobLink = page.getByRole("link", { name: /^Open job/ });
    const jobPath = (await jobLink.getAttribute("href")) ?? "";
    expect(jobPath).toMatch(/^\/desk\/jobs\/[\w-]+$/);

    await test.step("opens a job's page by link and by reload", async () => {
      await jobLink.click();
      // Waits for the URL first, since the previous page shows a picture too.
      await expect(page).toHaveURL(origin + jobPath);
      await expectPicture(page);
      await page.reload();
      await expect(page).toHaveURL(origin + jobPath);
      await expectPicture(page);
    });
    await test.step("hashes, uploads and compares a file in a worker", async () => {
      await goTo(page, "Assets");
      await page.getByTestId("asset-files").setInputFiles([toFilePayload(createRandomFile("below-a-path.bin"))]);
      await confirmAdd(page);
      await expect(getTray(page).getByText(/stored, 4.3 MB sent · verified/)).toBeVisible();
      await expect(page).toHaveURL(`${desk.url}/assets`);
    });
    await test.step("links every page below the path and secures it there", async () => {
      await goTo(page, "Settings");
      await expect(page.getByRole("navigation", { name: "Settings sections" })).toBeVisible();
      const sections = await getHrefs(page, "Settings sections");
      const mainPages = await getHrefs(page, "Main");
      expect(sections.length + mainPages.length).toBeGreaterThan(10);
      for (const href of [...sections, ...mainPages]) {
        expect(href).toMatch(/^\/desk($|\/)/);
        await page.locator(`nav a[href="${href}"]`).filter({ visible: true }).first().click();
        await page.waitForURL(({ pathname }) => removeSlash(pathname) === removeSlash(href), { waitUntil: "commit" });
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        // Patterns for paths easily miss the base path itself.
        const response = await page.request.get(origin + href);
        expect(response.headers(), href).toMatchObject({
          "x-frame-options": "DENY",
          "content-security-policy": expect.stringContaining("'nonce-"),
        });
      }
    });
    await test.step("embeds the console in another product and keeps its session below the path", async () => {
      const host = await startHostPage(page.request, desk);
      const visitor = await (await browser.newContext()).newPage();
      const requests: string[] = [];
      visitor.on("request", (request) => requests.push(request.url()));
      await visitor.goto(host.url);
      await expect(getHostLog(visitor)).toContainText('ready {"page":"/jobs","keeps":"cookie"}');
      const picture = getEmbedFrame(visitor).getByRole("row").locator("img").first();
      await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
      await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.navigate("assets"));
      await expect(getHostLog(visitor)).toContainText('navigated {"path":"/assets"}');
      const [sessionCookie] = (await visitor.context().cookies()).filter(({ name }) => name.startsWith("__Secure-lightdesk.embed"));
      expect(sessionCookie).toMatchObject({ path: PATH, httpOnly: true, secure: true, sameSite: "None" });
      expect(requests.filter((url) => url.startsWith(origin) && !url.startsWith(`${desk.url}/`))).toEqual([]);
      await visitor.context().close();
      await host.stop();
    });
    await test.step("signs out to the sign-in page and returns to the linked page", async () => {
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(`${desk.url}/sign-in`);
      await page.goto(`${desk.url}/jobs?status=completed`);
      await expect(page).toHaveURL(`${desk.url}/sign-in?callbackUrl=${encodeURIComponent("/jobs?status=completed")}`);
      await page.getByLabel("Email").fill(owner.email);
      await page.getByLabel("Password").fill(owner.password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await expect(page).toHaveURL(`${desk.url}/jobs?status=completed`);
      await expect(page.locator("tr[data-row] img")).toHaveCount(1);
    });
    await test.step("redirects requests outside the path at the console's own port", async () => {
      await page.goto(directUrl);
      await expect(page).toHaveURL(`${directUrl}${PATH}/`);
    });
    expect(outsideRequests).toEqual([]);
    expect(errors).toEqual([]);
  }));

test("signs in and out at a provider when the proxy strips the base path", async ({ page, request }) => {
  const acme = await startOidcServer("acme", { ada: { email: "ada.lovelace@example.com", name: "Ada Lovelace" } });
  await withConsoleBelowPath(
    true,
    async ({ desk, outsideRequests }) => {
      await desk.setUp(request);
      await page.goto(`${desk.url}/jobs?status=completed`);
      await page.getByRole("button", { name: "Continue with Acme" }).click();
      await signInAtProvider(page, acme, "ada");
      await expect(page).toHaveURL(`${desk.url}/jobs?status=completed`);
      await expect(page.getByRole("link", { name: "Ada Lovelace, viewer" }).first()).toBeVisible();
      await page.getByRole("button", { name: "Sign out" }).first().click();
      await expect(page).toHaveURL(new RegExp(`^${acme.url}/session/end\\?`));
      await page.getByRole("button", { name: "Yes, sign me out" }).click();
      await expect(page).toHaveURL(new RegExp(`^${desk.url}/sign-in`));
      expect(outsideRequests).toEqual([]);
    },
    { LIGHTDESK_OIDC: "acme", ...oidcSettings("acme", acme, { DOMAINS: "example.com", SIGN_UP: "viewer" }) },
  );
  await acme.stop();
});

async function expectPicture(page: Page): Promise<void> {
  const picture = page.getByRole("main").locator("img").first();
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
}

const removeSlash = (path: string) => path.replace(/\/$/, "");
const getHrefs = (page: Page, navigation: string) =>
  page
    .getByRole("navigation", { name: navigation })
    .getByRole("link")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
