import { type Browser, type Page } from "@playwright/test";
import { type Desk, owner } from "./support/desk";
import { goTo } from "./support/steps";
import { expect, test } from "./support/test";

const PASSWORD = "another good password";
type Role = "viewer" | "operator" | "admin";

test("lets a member join by link, and reports a lower role and a removal on open pages", async ({ signedIn: page, desk, browser }) => {
  const link = await invite(page, desk, "alan@example.com", "admin");
  const alanPage = await acceptInvitation(browser, link, "Alan Admin");
  await alanPage.goto(`${desk.url}/settings/members`);
  await expect(getMemberRow(alanPage, owner.name).getByText("can't be removed")).toBeVisible();

  await test.step("lists the members for the owner", async () => {
    await page.getByRole("button", { name: "Close" }).click();
    await page.reload();
    const row = getMemberRow(page, "Alan Admin");
    await expect(row.getByText("alan@example.com")).toBeVisible();
    await expect(row.getByText("admin", { exact: true })).toBeVisible();
    await expect(getMemberRow(page, owner.name).getByText("you", { exact: true })).toBeVisible();
    await expect(getMemberRow(page, owner.name).getByRole("button")).toHaveCount(0);
  });

  await test.step("lets the owner withdraw an invitation to a wrong address", async () => {
    const invitation = await invite(page, desk, "wrong@example.com", "viewer");
    await page.getByRole("button", { name: "Withdraw: wrong@example.com" }).click();
    await page.getByRole("button", { name: "Withdraw the invitation for wrong@example.com" }).click();
    await expect(page.getByText("No open invitations.")).toBeVisible();
    const invitationPage = await (await browser.newContext()).newPage();
    await invitationPage.goto(invitation);
    await expect(invitationPage.getByText("This invitation is no longer valid")).toBeVisible();
    await invitationPage.context().close();
  });

  await test.step("lets the owner change a member to a lower role", async () => {
    await page.getByRole("button", { name: "Change role: Alan Admin" }).click();
    const dialog = page.getByRole("dialog", { name: "Change Alan Admin's role" });
    await expect(dialog.getByRole("radio", { name: /owner/ })).toHaveCount(0);
    await dialog.getByRole("radio", { name: /^operator/ }).check();
    await dialog.getByRole("button", { name: "Change role" }).click();
    await expect(page.getByText("Alan Admin now has the role operator")).toBeVisible();
    await expect(getMemberRow(page, "Alan Admin").getByText("operator", { exact: true })).toBeVisible();
  });

  await test.step("reports the change on an open page and requires a new sign-in", async () => {
    const banner = alanPage.getByRole("alert").filter({ hasText: "Your role changed from admin to operator" });
    await expect(banner.getByRole("link", { name: "Sign in again" })).toBeVisible({ timeout: 5_000 });
    await alanPage.getByRole("button", { name: "Invite a member" }).click();
    await alanPage.getByLabel("Email").fill("friend@example.com");
    await alanPage.getByRole("button", { name: "Create link" }).click();
    await expect(alanPage.getByText("You are signed out")).toBeVisible();
    await expect(alanPage.getByLabel("Email")).toHaveValue("friend@example.com");
    await alanPage.goto(`${desk.url}/settings`);
    await signInAs(alanPage, "alan@example.com");
    await expect(alanPage).not.toHaveURL(/sign-in/);
  });

  await test.step("explains to an operator why connections and members cannot be changed", async () => {
    await alanPage.goto(`${desk.url}/settings`);
    await expect(alanPage.getByText("Only owners and admins can change team connections.")).toBeVisible();
    await expect(alanPage.getByRole("button", { name: "Check: Embedded service" })).toBeVisible();
    await expect(alanPage.getByRole("button", { name: "Change: Embedded service" })).toHaveCount(0);
    await alanPage.getByRole("link", { name: "Members" }).click();
    await expect(alanPage.getByText("Your role is operator")).toBeVisible();
    await expect(alanPage.getByRole("main").getByRole("button")).toHaveCount(0);
    await alanPage.getByRole("link", { name: "Audit log" }).click();
    await expect(alanPage.getByText("Only owners and admins can see the audit log")).toBeVisible();
  });

  await test.step("lets the operator run a sample", async () => {
    await goTo(alanPage, "Run a workflow");
    await alanPage.getByRole("button", { name: /^Invert/ }).click();
    await alanPage.getByRole("button", { name: "Run", exact: true }).click();
    await expect(alanPage.getByRole("link", { name: /^Open job/ })).toBeVisible();
  });

  await test.step("removes a member and reports it on the member's open page", async () => {
    await alanPage.goto(`${desk.url}/jobs`);
    await expect(alanPage.getByRole("main").locator("[data-freshness]")).toHaveText("live");
    await page.getByRole("button", { name: "Remove: Alan Admin" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove Alan Admin" }).click();
    await expect(getMemberRow(page, "Alan Admin")).toHaveCount(0);
    await expect(alanPage.getByRole("alert").filter({ hasText: "You were removed from this team" })).toBeVisible();
    await alanPage.goto(`${desk.url}/jobs`);
    await signInAs(alanPage, "alan@example.com");
    await expect(alanPage.getByText("Wrong email or password")).toBeVisible();
  });
});

async function invite(page: Page, desk: Desk, email: string, role: Role): Promise<string> {
  await page.goto(`${desk.url}/settings/members`);
  await page.getByRole("button", { name: "Invite a member" }).click();
  await page.getByLabel("Email").fill(email);
  await page.getByRole("region", { name: "Invite a member" }).getByLabel("Role").selectOption(role);
  await page.getByRole("button", { name: "Create link" }).click();
  const link = page.getByLabel(`Link for ${email}`);
  await expect(link).toBeVisible();
  return link.inputValue();
}

/** Accepts the invitation in a separate browser context, which closes with the browser. */
async function acceptInvitation(browser: Browser, link: string, name: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(link);
  await page.getByLabel("Your name").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Join" }).click();
  await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
  return page;
}

async function signInAs(page: Page, email: string): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  const pendingResponse = page.waitForResponse((response) => response.url().includes("/api/auth/callback/credentials"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await pendingResponse;
}

function getMemberRow(page: Page, name: string) {
  return page.locator("li[data-member]").filter({ hasText: name });
}
