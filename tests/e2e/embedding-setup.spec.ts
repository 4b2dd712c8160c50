// Sets up a host page in Settings, and shows how to fix wrong set-ups.
import { expectAccessible, expectAccessibleInBothThemes } from "./support/accessible";
import { getEmbedFrame, getHostLog, startHostPage } from "./support/host-page";
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

  await test.step("reports a used ticket", async () => {
    const usedTicket = await (await visitor.request.post(`${host.url}/ticket`)).text();
    const openWithUsedTicket = async () => {
      await visitor.goto(host.url);
      await expect(getHostLog(visitor)).toContainText("ready");
      await visitor.evaluate((newTicket) => {
        const element = document.querySelector("lightdesk-embed");
        if (!element) return;
        document.querySelector("#events")?.replaceChildren();
        element.getTicket = async () => newTicket;
        element.replaceWith(element);
      }, usedTicket);
    };
    await openWithUsedTicket();
    await expect(getHostLog(visitor)).toContainText("ready");
    await openWithUsedTicket();
    await expect(getHostLog(visitor)).toContainText('error {"reason":"ticket"}');
    await expect(visitor.locator("lightdesk-embed section")).toContainText("refused the ticket");
    await expect(getHostLog(visitor)).not.toContainText("ready");
  });

  await test.step("reports a full disk of the console", async () => {
    await context.route("**/api/embed/tickets", (route) =>
      route.fulfill({ status: 507, json: { code: "INSUFFICIENT_STORAGE", message: "" } }),
    );
    await visitor.goto(host.url);
    await expect(getHostLog(visitor)).toContainText('error {"reason":"console"}');
    await expect(getEmbedFrame(visitor).getByText("The server's log has the cause")).toBeVisible();
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

test("sets up a host page, copies its code and explains a refused ticket", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/settings/embedding`);
  await page.getByRole("button", { name: "Add host page" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Studio");
  await page.getByLabel("Origins, one per line").fill("http://app.example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Enter origins such as https://app.example.com, without a path.")).toBeVisible();
  await page.getByLabel("Origins, one per line").fill("https://app.example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByLabel("Secret", { exact: true })).toHaveValue(/^[\w-]{43}$/);
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Show code: Studio" }).click();
  await expect(page.getByLabel("In your page", { exact: true })).toContainText(`<script src="${desk.url}/embed.js">`);
  await page.getByRole("button", { name: "Close" }).click();

  await page.getByRole("button", { name: "Change: Studio" }).click();
  await page.getByLabel("Secret", { exact: true }).selectOption("Create a new secret; the old one works for 24 hours");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByLabel("Secret", { exact: true })).toHaveValue(/^[\w-]{43}$/);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText(/The previous secret works until \d/)).toBeVisible();

  const { hosts }: { hosts: { id: string; name: string }[] } = await (await page.request.get(`${desk.url}/api/console/embedding`)).json();
  const id = hosts.find(({ name }) => name === "Studio")?.id ?? "";
  const refusal = await page.request.post(`${desk.url}/embed/${id}/abcdefgh1234/api/embed/tickets`, {
    data: { ticket: "nonsense", origin: "https://app.example.com" },
    headers: { origin: desk.url },
  });
  expect(refusal.status()).toBe(401);
  await page.reload();
  await expect(page.getByText("Last refused ticket: it was not a signed token")).toBeVisible();
  await page.getByRole("button", { name: "Remove: Studio" }).click();
  await page.getByRole("button", { name: "Remove Studio" }).click();
  await expect(page.getByRole("button", { name: "Remove: Studio" })).toHaveCount(0);
});
