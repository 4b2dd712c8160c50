import { type Browser, type Locator, type Page } from "@playwright/test";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { type Desk, owner } from "./support/desk";
import { goTo } from "./support/steps";
import { expect, test } from "./support/test";

const PASSWORD = "another good password";
type Role = "viewer" | "operator" | "admin";

test("an operator joins by the owner's link, runs a workflow, and reads why Settings cannot be changed", async ({
  signedIn: page,
  desk,
  browser,
}) => {
  const link = await invite(page, desk, "grace@example.com", "operator");
  const grace = await join(browser, link, "Grace Operator");

  await test.step("the list of the owner has them", async () => {
    await page.getByRole("button", { name: "Close" }).click();
    await page.reload();
    const row = memberRow(page, "Grace Operator");
    await expect(row.getByText("grace@example.com")).toBeVisible();
    await expect(row.getByText("operator", { exact: true })).toBeVisible();
    await expect(memberRow(page, owner.name).getByText("you", { exact: true })).toBeVisible();
    await expect(memberRow(page, owner.name).getByRole("button")).toHaveCount(0);
  });

  await test.step("the owner withdraws a link that went to the wrong address", async () => {
    const wrong = await invite(page, desk, "wrong@example.com", "viewer");
    await page.getByRole("button", { name: "Withdraw: wrong@example.com" }).click();
    await page.getByRole("button", { name: "Withdraw the invitation of wrong@example.com" }).click();
    await expect(page.getByText("No open invitations.")).toBeVisible();
    const late = await (await browser.newContext()).newPage();
    await late.goto(wrong);
    await expect(late.getByText("This invitation is no longer valid")).toBeVisible();
    await late.context().close();
  });

  await test.step("they run a sample", async () => {
    await openSample(grace);
    await grace.getByRole("button", { name: "Run", exact: true }).click();
    await expect(grace.getByRole("link", { name: /^Open job/ })).toBeVisible();
  });

  await test.step("they read why neither the team's connections nor its members are theirs to change", async () => {
    await goTo(grace, "Settings");
    await expect(grace.getByText("Only owners and admins can change team connections.")).toBeVisible();
    await expect(grace.getByRole("button", { name: "Check: Embedded service" })).toBeVisible();
    await expect(grace.getByRole("button", { name: "Change: Embedded service" })).toHaveCount(0);
    await grace.getByRole("link", { name: "Members" }).click();
    await expect(grace.getByText("Your role is operator")).toBeVisible();
    await expect(grace.getByRole("main").getByRole("button")).toHaveCount(0);
    await grace.getByRole("link", { name: "Audit log" }).click();
    await expect(grace.getByText("Only owners and admins can see the audit log")).toBeVisible();
  });
});

test("a member changes their name and password and stays signed in, and the owner reads who did what", async ({
  signedIn: page,
  desk,
  browser,
}) => {
  const grace = await join(browser, await invite(page, desk, "hopper@example.com", "operator"), "Grace Operator");
  await grace.getByRole("link", { name: "Grace Operator, operator" }).first().click();
  await grace.getByRole("textbox", { name: "Name" }).fill("Grace Hopper");
  await grace.getByRole("button", { name: "Save" }).click();
  await expect(grace.getByRole("link", { name: "Grace Hopper, operator" }).first()).toBeVisible();
  const password = grace.getByRole("region", { name: "Password" });
  await password.getByLabel("Current password").fill(PASSWORD);
  await password.getByLabel("New password").fill("a third good password");
  await password.getByRole("button", { name: "Change password" }).click();
  await expect(grace.getByText("Password changed")).toBeVisible();
  await grace.reload();
  await expect(grace.getByRole("region", { name: "Password" })).toBeVisible();
  await page.goto(`${desk.url}/settings/audit`);
  await page.getByRole("combobox", { name: "Person" }).selectOption({ label: "Grace Hopper <hopper@example.com>" });
  await expect(page).toHaveURL(/member=/);
  const rows = (act: string) => page.getByRole("row").filter({ hasText: act });
  await expect(rows("joined by invitation")).toHaveCount(1);
  await expect(rows("changed their account")).toHaveCount(2);
  await expect(rows("invited a member")).toHaveCount(0);
});

test("a viewer who presses Run reads that their role does not permit it, and the workflow stays open", async ({
  signedIn: page,
  desk,
  browser,
}) => {
  const vera = await join(browser, await invite(page, desk, "vera@example.com", "viewer"), "Vera Viewer");
  const roleNote = vera.getByText(/You are a viewer/);
  await test.step("at the head of the page before anything is open, wide and narrow", async () => {
    await vera.goto(`${desk.url}/run`);
    for (const width of [1440, 390]) {
      await vera.setViewportSize({ width, height: 844 });
      await expectAtHead(vera, roleNote);
    }
    await vera.setViewportSize({ width: 1440, height: 900 });
  });
  await openSample(vera);
  await expectAtHead(vera, roleNote);
  const run = vera.getByRole("button", { name: "Run", exact: true });
  // Whether the button refuses before or after it is pressed: the page must show the reason, and nothing may be submitted.
  const submitted: string[] = [];
  vera.on("response", (response) => {
    if (response.url().endsWith("/api/prompt")) submitted.push(String(response.status()));
  });
  if (await run.isEnabled()) await run.click();
  await expect(roleNote).toBeVisible();
  expect(submitted).not.toContain("200");
  await expect(vera.getByRole("heading", { name: /Empty|Invert/ }).first()).toBeVisible();
});

test("a link that was used meanwhile, or that nobody made, says so, and what was typed stays", async ({
  signedIn: page,
  desk,
  browser,
}) => {
  const link = await invite(page, desk, "twice@example.com", "viewer");
  const late = await (await browser.newContext()).newPage();
  await late.goto(link);
  await late.getByLabel("Your name").fill("Second Taker");
  await late.getByLabel("Password").fill(PASSWORD);
  await join(browser, link, "First Taker");
  await late.getByRole("button", { name: "Join" }).click();
  await expect(late.getByText("This invitation was already used")).toBeVisible();
  await expect(late.getByLabel("Your name")).toHaveValue("Second Taker");
  await expect(late.getByLabel("Password")).toHaveValue(PASSWORD);
  await late.reload();
  await expect(late.getByText("This invitation was already used")).toBeVisible();
  await late.goto(`${desk.url}/invitation?token=guess`);
  await expect(late.getByText("Invitation not found")).toBeVisible();
  await late.goto(`${desk.url}/invitation`);
  await expect(late.getByText("The invitation link is incomplete")).toBeVisible();
  await late.context().close();
});

test("a lowered admin is signed out, and finds the settings of their new role; a removed one does not come back", async ({
  signedIn: page,
  desk,
  browser,
}) => {
  const link = await invite(page, desk, "alan@example.com", "admin");
  const alan = await join(browser, link, "Alan Admin");
  await alan.goto(`${desk.url}/settings/members`);
  await expect(memberRow(alan, owner.name).getByText("cannot be removed")).toBeVisible();
  await page.goto(`${desk.url}/settings/members`);

  await test.step("the owner lowers them", async () => {
    await page.getByRole("button", { name: "Change role: Alan Admin" }).click();
    const dialog = page.getByRole("dialog", { name: "Change the role of Alan Admin" });
    await expect(dialog.getByRole("radio", { name: /owner/ })).toHaveCount(0);
    await dialog.getByRole("radio", { name: /^operator/ }).check();
    await dialog.getByRole("button", { name: "Change role" }).click();
    await expect(page.getByText("Alan Admin is now operator")).toBeVisible();
    await expect(memberRow(page, "Alan Admin").getByText("operator", { exact: true })).toBeVisible();
  });

  await test.step("what they had open says at once what changed, refuses, and leads to the sign-in and back", async () => {
    const banner = alan.getByRole("alert").filter({ hasText: "Your role changed from admin to operator" });
    await expect(banner.getByRole("link", { name: "Sign in again" })).toBeVisible({ timeout: 5_000 });
    await alan.getByRole("button", { name: "Invite a member" }).click();
    await alan.getByLabel("Email").fill("friend@example.com");
    await alan.getByRole("button", { name: "Create link" }).click();
    await expect(alan.getByText("You are signed out")).toBeVisible();
    await expect(alan.getByLabel("Email")).toHaveValue("friend@example.com");
    await alan.goto(`${desk.url}/settings`);
    await signInAs(alan, "alan@example.com");
    await expect(alan).not.toHaveURL(/sign-in/);
    await alan.goto(`${desk.url}/settings`);
    await expect(alan.getByText("Only owners and admins can change team connections.")).toBeVisible();
    await expect(alan.getByRole("button", { name: "Change: Embedded service" })).toHaveCount(0);
  });

  await test.step("the owner removes them, by name", async () => {
    await page.getByRole("button", { name: "Remove: Alan Admin" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove Alan Admin" }).click();
    await expect(memberRow(page, "Alan Admin")).toHaveCount(0);
    await alan.goto(`${desk.url}/jobs`);
    await signInAs(alan, "alan@example.com");
    await expect(alan.getByText("Wrong email or password")).toBeVisible();
  });
});

test("the members page, the log, the account and the invitation have no accessibility violation in either theme and fit 390 px", async ({
  signedIn: page,
  desk,
  browser,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const link = await invite(page, desk, "a-rather-long-address@studio.example.com", "admin");
  await expectFitting(page);
  for (const part of ["audit", "account"]) {
    await page.goto(`${desk.url}/settings/${part}`);
    await expect(page.getByRole("main").getByRole("combobox").first()).toBeVisible();
    await expectFitting(page);
  }
  const guest = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
  await guest.goto(link);
  await expect(guest.getByLabel("Your name")).toBeVisible();
  await expectFitting(guest);
  await guest.goto(`${desk.url}/invitation?token=guess`);
  await expect(guest.getByText("Invitation not found")).toBeVisible();
  await expectFitting(guest);
  await guest.context().close();
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

/** In a browser context of their own; the page shows the overview. It closes with the browser. */
async function join(browser: Browser, link: string, name: string): Promise<Page> {
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
  const answered = page.waitForResponse((response) => response.url().includes("/api/auth/callback/credentials"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await answered;
}

function memberRow(page: Page, name: string) {
  return page.locator("li[data-member]").filter({ hasText: name });
}

async function openSample(page: Page): Promise<void> {
  await goTo(page, "Run a workflow");
  await page.getByRole("button", { name: /^Invert/ }).click();
  await expect(page.getByRole("button", { name: "Run", exact: true })).toBeVisible();
}

async function expectFitting(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await expectAccessibleInBothThemes(page);
}

/** Above all controls of the page, and visible without scrolling. */
async function expectAtHead(page: Page, shown: Locator): Promise<void> {
  await expect(shown).toBeInViewport({ ratio: 1 });
  const below = page.getByRole("main").locator("input, textarea, select").filter({ visible: true }).first();
  const [line, first] = [await shown.boundingBox(), await below.boundingBox()];
  expect(line && first && line.y + line.height <= first.y, JSON.stringify([line, first])).toBe(true);
}
