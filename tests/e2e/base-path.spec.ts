// The console below a base path shared with another product: every request stays below the path.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Page } from "@playwright/test";
import { freePort } from "@/tests/support/free-port";
import { startProxy } from "@/tests/support/proxy";
import { type Desk, owner, startDesk } from "./support/desk";
import { embedded, hostLog, startHostPage } from "./support/host-page";
import { oidcSettings, signInThere, startOidcServer } from "./support/oidc-server";
import { goTo, setUpByLink } from "./support/steps";
import { expect, test } from "./support/test";
import { add, filePayload, fresh, tray } from "./support/uploads";

const PATH = "/desk";
const BUILD_MS = 600_000;

test.beforeAll(async ({}, testInfo) => {
  testInfo.setTimeout(BUILD_MS);
  // Builds for the base path like `npm start`, unless a build exists.
  const env = { ...process.env, LIGHTDESK_BASE_PATH: PATH };
  const [code] = await once(spawn(process.execPath, ["bin/start.mjs", "build"], { env, stdio: "inherit" }), "close");
  expect(code).toBe(0);
});

/** `own`: the console's URL without the proxy. `others`: requests outside the path. */
type Below = { desk: Desk; origin: string; own: string; others: string[] };

async function startBelow(
  isTakenOff: boolean,
  visit: (site: Below) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<void> {
  const port = await freePort();
  const ownOrigin = `http://127.0.0.1:${port}`;
  const proxy = await startProxy(() => ownOrigin, { path: { name: PATH, isTakenOff } });
  const origin = `http://${proxy.host}`;
  const desk = await startDesk({ PORT: String(port), LIGHTDESK_BASE_PATH: PATH, LIGHTDESK_PUBLIC_URL: origin, ...settings });
  try {
    await visit({ desk, origin, own: ownOrigin, others: proxy.others });
  } finally {
    expect(await desk.stop(), desk.output()).toBe(0);
    proxy.stop();
  }
}

test("keeps a visit below its path", async ({ page, browser }) =>
  startBelow(false, async ({ desk, origin, own, others }) => {
    const faults = findFaults(page);
    expect(desk.url).toBe(`${origin}${PATH}`);

    await test.step("creates an owner by the printed link and runs a sample", async () => {
      await setUpByLink(page, desk);
      await expect(page).toHaveURL(`${desk.url}/`);
      await page.getByRole("button", { name: "Run Colour field" }).click();
      await expectDrawn(page);
    });
    const locator = page.getByRole("link", { name: /^Open job/ });
    const jobPath = (await locator.getAttribute("href")) ?? "";
    expect(jobPath).toMatch(/^\/desk\/jobs\/[\w-]+$/);

    await test.step("opens a job's page by link and by reload", async () => {
      await locator.click();
      // Waits for the URL first, since the previous page shows a picture too.
      await expect(page).toHaveURL(origin + jobPath);
      await expectDrawn(page);
      await page.reload();
      await expect(page).toHaveURL(origin + jobPath);
      await expectDrawn(page);
    });
    await test.step("hashes, uploads and compares a file in a worker", async () => {
      await goTo(page, "Assets");
      await page.getByTestId("asset-files").setInputFiles([filePayload(fresh("below-a-path.bin"))]);
      await add(page);
      await expect(tray(page).getByText(/stored, 4.3 MB sent · verified/)).toBeVisible();
      await expect(page).toHaveURL(`${desk.url}/assets`);
    });
    await test.step("sends job events to listeners", async () => {
      expect(await firstMessage(page, `${desk.url.replace("http", "ws")}/ws`)).toContain("status");
    });
    await test.step("renders every page at its address", async () => {
      await goTo(page, "Settings");
      await expect(page.getByRole("navigation", { name: "Settings sections" })).toBeVisible();
      const pages = [...(await getHrefs(page, "Main")), ...(await getHrefs(page, "Settings sections"))];
      expect(pages.length).toBeGreaterThan(10);
      for (const href of pages) {
        expect(href).toMatch(/^\/desk($|\/)/);
        const response = await page.goto(origin + href);
        // A pattern over paths easily misses the base path itself.
        expect(response?.headers(), href).toMatchObject({
          "x-frame-options": "DENY",
          "content-security-policy": expect.stringContaining("'nonce-"),
        });
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      }
    });
    await test.step("embeds the console in another product below the session's path", async () => {
      const host = await startHostPage(page.request, desk);
      const visitor = await (await browser.newContext()).newPage();
      const requests: string[] = [];
      visitor.on("request", (request) => requests.push(request.url()));
      await visitor.goto(host.url);
      await expect(hostLog(visitor)).toContainText('ready {"page":"/jobs","keeps":"cookie"}');
      const picture = embedded(visitor).getByRole("row").locator("img").first();
      await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
      await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.navigate("assets"));
      await expect(hostLog(visitor)).toContainText('navigated {"path":"/assets"}');
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
    await test.step("accepts an invitation below the path and scopes the session to it", async () => {
      const inviteResponse = await page.request.post(`${desk.url}/api/console/members/invitations`, {
        data: { email: "bo@example.com", role: "viewer" },
        headers: { origin },
      });
      expect(await inviteResponse.json()).toMatchObject({ url: expect.stringContaining(`${desk.url}/invitation?token=`) });
      const [session] = (await page.context().cookies()).filter(({ name }) => name.endsWith("lightdesk.session"));
      expect(session).toMatchObject({ path: PATH, httpOnly: true });
    });
    await test.step("redirects requests outside the path at the console's own port", async () => {
      await page.goto(own);
      await expect(page).toHaveURL(`${own}${PATH}/`);
    });
    expect(others).toEqual([]);
    expect(faults).toEqual([]);
  }));

test("signs in and out at a provider below a path that the proxy strips", async ({ page }) => {
  const acme = await startOidcServer("acme", { ada: { email: "ada.lovelace@example.com", name: "Ada Lovelace" } });
  await startBelow(
    true,
    async ({ desk, others }) => {
      await setUpByLink(page, desk);
      await page.context().clearCookies();
      await page.goto(`${desk.url}/jobs?status=completed`);
      await page.getByRole("button", { name: "Continue with Acme" }).click();
      await signInThere(page, acme, "ada");
      await expect(page).toHaveURL(`${desk.url}/jobs?status=completed`);
      await expect(page.getByRole("link", { name: "Ada Lovelace, viewer" }).first()).toBeVisible();
      await page.getByRole("button", { name: "Sign out" }).first().click();
      await expect(page).toHaveURL(new RegExp(`^${acme.url}/session/end\\?`));
      await page.getByRole("button", { name: "Yes, sign me out" }).click();
      await expect(page).toHaveURL(new RegExp(`^${desk.url}/sign-in`));
      expect(others).toEqual([]);
    },
    { LIGHTDESK_OIDC: "acme", ...oidcSettings("acme", acme, { DOMAINS: "example.com", SIGN_UP: "viewer" }) },
  );
  await acme.stop();
});

async function expectDrawn(page: Page): Promise<void> {
  const picture = page.getByRole("main").locator("img").first();
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
}

const getHrefs = (page: Page, navigation: string) =>
  page
    .getByRole("navigation", { name: navigation })
    .getByRole("link")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));

function firstMessage(page: Page, address: string): Promise<string> {
  return page.evaluate(
    (url) =>
      new Promise<string>((resolve, reject) => {
        const socket = new WebSocket(url);
        socket.onerror = () => reject(new Error("no WebSocket"));
        socket.onmessage = ({ data }) => {
          socket.close();
          resolve(String(data));
        };
      }),
    address,
  );
}

/** Errors reported by the browser: missing files, policy violations, failed scripts. */
function findFaults(page: Page): string[] {
  const faults: string[] = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(error.message));
  return faults;
}
