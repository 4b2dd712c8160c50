// Sets up a host page in Settings, and shows how to fix wrong set-ups.
import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { expectAccessible, expectAccessibleInBothThemes } from "./support/accessible";
import { type Desk, owner } from "./support/desk";
import { getEmbedFrame, getHostLog, type HostPage, startHostPage } from "./support/host-page";
import { expect, test } from "./support/test";

test("shows how to fix a host page that is set up wrongly", async ({ signedIn: page, desk, browser }) => {
  const host = await startHostPage(page.request, desk);
  const context = await browser.newContext();
  const visitor = await context.newPage();

  await test.step("reports an origin that may not frame the console", async () => {
    await visitor.goto(host.url.replace("localhost", "127.0.0.1"));
    const panel = visitor.locator("lightdesk-embed section");
    await expect(panel).toContainText("✓ Console");
    await expect(panel).toContainText(`Add ${host.url.replace("localhost", "127.0.0.1")} to this host's origins`);
  });

  await test.step("reports a server whose clock is ten minutes off", async () => {
    await visitor.goto(host.url);
    await expect(getHostLog(visitor)).toContainText("ready");
    await visitor.evaluate(async () => {
      const element = document.querySelector("lightdesk-embed");
      if (!element) return;
      const issuedAt = Math.floor(Date.now() / 1000) - 600;
      const encodePart = (value: unknown) => btoa(JSON.stringify(value)).replace(/=+$/, "");
      const host = element.getAttribute("host");
      const claims = {
        iss: location.origin,
        aud: `${element.getAttribute("src")}/embed/${host}`,
        sub: "x",
        jti: "12345678",
        iat: issuedAt,
        exp: issuedAt + 60,
      };
      element.getTicket = async () => `${encodePart({ alg: "HS256" })}.${encodePart(claims)}.c2lnbmF0dXJl`;
      element.replaceWith(element);
    });
    const panel = visitor.locator("lightdesk-embed section");
    await expect(panel).toContainText(/differs from the console's by -60\d s/);
    await expect(panel).toContainText("refused the ticket");
    await expect(getHostLog(visitor)).toContainText('error {"reason":"ticket"}');
  });

  await test.step("reports a used or expired ticket", async () => {
    const usedTicket = await (await visitor.request.post(`${host.url}/ticket`)).text();
    const openWithTicket = async (ticket: string) => {
      await visitor.goto(host.url);
      await expect(getHostLog(visitor)).toContainText("ready");
      await visitor.evaluate((newTicket) => {
        const element = document.querySelector("lightdesk-embed");
        if (!element) return;
        document.querySelector("#events")?.replaceChildren();
        element.getTicket = async () => newTicket;
        element.replaceWith(element);
      }, ticket);
    };
    await openWithTicket(usedTicket);
    await expect(getHostLog(visitor)).toContainText("ready");
    for (const ticket of [usedTicket, await createExpiredTicket(desk, host)]) {
      await openWithTicket(ticket);
      await expect(getHostLog(visitor)).toContainText('error {"reason":"ticket"}');
      await expect(visitor.locator("lightdesk-embed section")).toContainText("refused the ticket");
      await expect(getHostLog(visitor)).not.toContainText("ready");
    }
  });

  await test.step("reports a full disk of the console", async () => {
    await context.route("**/api/embed/tickets", (route) =>
      route.fulfill({ status: 507, json: { code: "INSUFFICIENT_STORAGE", message: "" } }),
    );
    await visitor.goto(host.url);
    await expect(getHostLog(visitor)).toContainText('error {"reason":"console"}');
    await expect(getEmbedFrame(visitor).getByText("The server’s log has the cause")).toBeVisible();
    await context.unroute("**/api/embed/tickets");
  });

  await test.step("passes the check inside the frame when the set-up is correct", async () => {
    await visitor.goto(host.url);
    await visitor.evaluate(() => {
      const element = document.querySelector("lightdesk-embed");
      element?.setAttribute("page", "doctor");
      element?.replaceWith(element);
    });
    const checks = getEmbedFrame(visitor).getByRole("listitem");
    await expect(checks).toHaveCount(8);
    await expect(getEmbedFrame(visitor).getByRole("img", { name: "Passed" })).toHaveCount(8);
  });

  await test.step("shows the check alone as a page without sign-in", async () => {
    await visitor.goto(`${desk.url}/embed/doctor?host=${host.id}&origin=${host.url}`);
    await expect(visitor.getByText("Checked only inside the host page")).toHaveCount(2);
    await expectAccessible(visitor);
  });

  await test.step("refuses framing by unknown host pages", async () => {
    const response = await visitor.request.get(`${desk.url}/embed/000000000000000000/abcdefgh1234/jobs`);
    expect([response.status(), response.headers()["content-security-policy"]]).toEqual([
      404,
      expect.stringContaining("frame-ancestors 'none'"),
    ]);
    const jobs = await page.request.get(`${desk.url}/jobs`);
    expect(jobs.headers()["x-frame-options"]).toBe("DENY");
  });
  await context.close();
  await host.stop();
});

/** A valid ticket that is two minutes old. */
function createExpiredTicket(desk: Desk, { url, id, secret }: HostPage): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1000) - 180;
  return new SignJWT({ role: "operator" })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(url)
    .setAudience(`${desk.url}/embed/${id}`)
    .setSubject(owner.email)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + 60)
    .sign(new TextEncoder().encode(secret));
}

test("sets up a host page, copies its code and explains a refused ticket", async ({ ownDesk: desk, page }) => {
  await page.goto(`${desk.url}/settings/embedding`);
  await expect(page.getByText("No host pages yet.")).toBeVisible();
  await page.getByRole("button", { name: "Add host page" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Portal");
  await page.getByLabel("Origins, one per line").fill("http://app.example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Enter origins such as https://app.example.com, without a path.")).toBeVisible();
  await page.getByLabel("Origins, one per line").fill("https://app.example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByLabel("Secret", { exact: true })).toHaveValue(/^[\w-]{43}$/);
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Show code: Portal" }).click();
  await expect(page.getByLabel("In your page", { exact: true })).toContainText(`<script src="${desk.url}/embed.js">`);
  await page.getByRole("button", { name: "Close" }).click();

  await page.getByRole("button", { name: "Change: Portal" }).click();
  await page.getByLabel("Secret", { exact: true }).selectOption("Create a new secret; the old one works for 24 hours");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByLabel("Secret", { exact: true })).toHaveValue(/^[\w-]{43}$/);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText(/The previous secret works until \d/)).toBeVisible();

  const { hosts } = await (await page.request.get(`${desk.url}/api/console/embedding`)).json();
  const refusal = await page.request.post(`${desk.url}/embed/${hosts[0].id}/abcdefgh1234/api/embed/tickets`, {
    data: { ticket: "nonsense", origin: "https://app.example.com" },
    headers: { origin: desk.url },
  });
  expect(refusal.status()).toBe(401);
  await page.reload();
  await expect(page.getByText("Last refused ticket: it was not a signed token")).toBeVisible();
  await page.getByRole("button", { name: "Remove: Portal" }).click();
  await page.getByRole("button", { name: "Remove Portal" }).click();
  await expect(page.getByText("No host pages yet.")).toBeVisible();
});
