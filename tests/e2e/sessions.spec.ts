// Session list, password confirmation, read-only mode, and sign-in by a proxy header.
import { join } from "node:path";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { type Desk, owner, startDesk } from "./support/desk";
import { expect, test } from "./support/test";

const grace = { name: "Grace Operator", email: "grace@example.com", password: "another good password" };

/** Moves every sign-in 16 minutes into the past. */
function expireConfirmations({ dataDir }: Desk): void {
  const sqlite = new SqliteConnection(join(dataDir, "console.sqlite"));
  sqlite.prepare("UPDATE sessions SET confirmed_at = confirmed_at - 16 * 60000").run();
  sqlite.close();
}

test("lists and ends sessions, requires the password and announces read-only mode", async ({ ownDesk: desk, page, browser, context }) => {
  await desk.addOperator(context.request, grace);
  const otherContext = await browser.newContext({
    userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/605.1",
  });
  await desk.signIn(otherContext);
  const phone = await otherContext.newPage();

  await test.step("ends only the session of the lost phone", async () => {
    await phone.goto(`${desk.url}/settings/account`);
    await page.goto(`${desk.url}/settings/account`);
    const sessions = page.getByRole("region", { name: "Sessions" });
    await expect(sessions.getByRole("listitem")).toHaveCount(2);
    await expect(sessions.getByRole("listitem").filter({ hasText: "this browser" })).toContainText("127.0.0.1");
    await sessions.getByRole("button", { name: /^End: .*iOS/ }).click();
    await expect(page.getByText("Session ended")).toBeVisible();
    await expect(sessions.getByRole("listitem")).toHaveCount(1);
    await phone.goto(`${desk.url}/jobs`);
    await expect(phone).toHaveURL(/sign-in/);
    await page.reload();
    await expect(sessions.getByRole("listitem")).toHaveCount(1);
  });

  await test.step("creates the invitation once the password is confirmed", async () => {
    const requestBodies: (string | null)[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url().includes("/api/console/")) requestBodies.push(request.postData());
    });
    await page.goto(`${desk.url}/settings/members?invite=1`);
    expireConfirmations(desk);
    await page.getByLabel("Email").fill("late@example.com");
    await page.getByRole("button", { name: "Create link" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm it's you" });
    await expect(dialog).toContainText(owner.email);
    await expect(dialog.getByLabel("Password")).toBeFocused();
    await expectAccessibleInBothThemes(page);
    await dialog.getByLabel("Password").fill("not this one");
    await page.keyboard.press("Enter");
    await expect(dialog.getByText("This is not your password.")).toBeVisible();
    await dialog.getByLabel("Password").fill(owner.password);
    await page.keyboard.press("Enter");
    await expect(page.getByLabel("Link for late@example.com")).toBeVisible();
    const invitation = JSON.stringify({ email: "late@example.com", role: "operator" });
    expect(requestBodies).toEqual([
      invitation,
      JSON.stringify({ password: "not this one" }),
      JSON.stringify({ password: owner.password }),
      invitation,
    ]);
  });

  await test.step("announces read-only mode, blocks changes and lifts it again", async () => {
    const operator = await (await browser.newContext()).newPage();
    await desk.signIn(operator.context(), grace);
    await operator.goto(`${desk.url}/queue`);
    await page.getByLabel("Note for everyone (optional)").fill("Backup until noon");
    await page.getByRole("button", { name: "Make read-only" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Make read-only" }).click();
    const getNotice = (targetPage: typeof page) => targetPage.getByRole("status").filter({ hasText: "Lightdesk is read-only." });
    await expect(getNotice(page)).toContainText(`${owner.name} turned this on`);
    await expect(page.getByRole("button", { name: "Remove: Grace Operator" })).toHaveCount(0);
    const response = await operator.request.post(`${desk.url}/api/queue`, { data: { clear: true }, headers: { origin: desk.url } });
    expect([response.status(), (await response.json()).code]).toEqual([403, "READ_ONLY"]);
    await operator.setViewportSize({ width: 390, height: 844 });
    // The open page detects read-only mode with its next request.
    await expect(getNotice(operator)).toContainText("Note: Backup until noon", { timeout: 60_000 });
    await expect(operator.getByRole("main").getByText("Lightdesk is read-only for now.")).toBeVisible();
    await expectAccessibleInBothThemes(operator);
    await page.getByRole("button", { name: "Allow changes again" }).click();
    await expect(getNotice(page)).toHaveCount(0);
    await expect(getNotice(operator)).toHaveCount(0, { timeout: 60_000 });
    await operator.context().close();
  });
});

test("signs in a member named by the proxy and explains an unknown user", async ({ browser, request }) => {
  const signOutUrl = "http://127.0.0.1:9/sign-out";
  const settings = {
    LIGHTDESK_AUTH_HEADER: "x-forwarded-email",
    LIGHTDESK_AUTH_HEADER_FROM: "127.0.0.1",
    LIGHTDESK_AUTH_HEADER_SIGN_OUT: signOutUrl,
  };
  const desk = await startDesk(settings);
  await desk.setUp(request);
  const memberPage = await (await browser.newContext({ extraHTTPHeaders: { "x-forwarded-email": owner.email } })).newPage();
  await memberPage.goto(`${desk.url}/settings/account`);
  await expect(memberPage.getByRole("region", { name: "Sessions" }).getByRole("listitem")).toContainText("through the proxy");
  await memberPage.route(signOutUrl, (route) => route.fulfill({ body: "signed out there" }));
  await memberPage.getByRole("button", { name: "Sign out" }).click();
  await expect(memberPage.getByText("signed out there")).toBeVisible();
  const otherPage = await (await browser.newContext({ extraHTTPHeaders: { "x-forwarded-email": "eve@example.com" } })).newPage();
  await otherPage.goto(`${desk.url}/jobs`);
  await expect(otherPage.getByText("eve@example.com is not a member of this team")).toBeVisible();
  await otherPage.context().close();
  await memberPage.context().close();
  expect(await desk.stop(), desk.output()).toBe(0);
});
