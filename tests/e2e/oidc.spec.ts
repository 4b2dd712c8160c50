import { type Page } from "@playwright/test";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { type Desk, owner, startDesk } from "./support/desk";
import { type OidcServer, oidcSettings, signInThere, startOidcServer } from "./support/oidc-server";
import { expect, test as base } from "./support/test";

type World = { desk: Desk; acme: OidcServer; other: OidcServer };

/** A console with two providers, the first of which sends groups; its owner exists. */
const test = base.extend<{ world: World }>({
  world: async ({ request }, provide) => {
    const acme = await startOidcServer("acme", {
      ada: { email: "ada.lovelace@example.com", name: "Ada Lovelace", groups: ["bosses"] },
      bob: { email: "bob@example.com", name: "Bob Builder", groups: ["staff"] },
      eve: { email: "eve@evil.example", name: "Eve" },
      owner: { email: owner.email, name: "Ada Owner", groups: ["staff"] },
    });
    const other = await startOidcServer("other", {
      bob: { email: "bob@example.com", name: "Bob of Other" },
      una: { email: "una@example.com", name: "Una", email_verified: false },
    });
    const desk = await startDesk({
      LIGHTDESK_OIDC: "acme,other",
      ...oidcSettings("acme", acme, { DOMAINS: "example.com", SIGN_UP: "viewer", ROLE_CLAIM: "groups", ROLES: "bosses:admin,*:operator" }),
      ...oidcSettings("other", other, { LABEL: "Other Inc.", DOMAINS: "example.com", SIGN_UP: "viewer" }),
    });
    await desk.setUp(request);
    await provide({ desk, acme, other });
    expect(await desk.stop(), desk.output()).toBe(0);
    await Promise.all([acme.stop(), other.stop()]);
  },
});

test("a person signs in at a provider, gets the role of their group, and signing out ends it there too", async ({ page, world }) => {
  const { desk, acme } = world;
  await page.goto(`${desk.url}/settings/account`);
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Continue with Acme" }).click();
  await signInThere(page, acme, "ada");
  await expect(page).toHaveURL(`${desk.url}/settings/account`);
  await expect(page.getByRole("link", { name: "Ada Lovelace, admin" }).first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Password" })).toHaveCount(0);
  await expect(page.getByText("through Acme")).toBeVisible();
  await page.goto(`${desk.url}/settings/members`);
  await expect(page.locator("li[data-member]").filter({ hasText: "Ada Lovelace" })).toContainText("Signs in with Acme");
  await expect(page.locator("li[data-member]").filter({ hasText: owner.name })).toContainText("Signs in with password");

  await test.step("what matters asks for a sign-in at the provider, in a tab of its own", async () => {
    await page.getByRole("button", { name: "Invite a member" }).click();
    await page.getByLabel("Email").fill("friend@example.com");
    await page.getByRole("button", { name: "Create link" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm that it is you" });
    const opened = page.waitForEvent("popup");
    await dialog.getByRole("button", { name: "Continue with Acme" }).click();
    await signInThere(await opened, acme, "ada");
    await expect(page.getByLabel("Link for friend@example.com")).toBeVisible();
  });

  await test.step("a second time without a question, since the provider knows them", async () => {
    await page.context().clearCookies({ name: "lightdesk.session" });
    await page.goto(`${desk.url}/sign-in`);
    await page.getByRole("button", { name: "Continue with Acme" }).click();
    await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
  });

  await page.getByRole("button", { name: "Sign out" }).first().click();
  await expect(page).toHaveURL(new RegExp(`^${acme.url}/session/end\\?`));
  await page.getByRole("button", { name: "Yes, sign me out" }).click();
  await expect(page).toHaveURL(new RegExp(`^${desk.url}/sign-in`));
  await page.getByRole("button", { name: "Continue with Acme" }).click();
  await expect(page.locator("[name=login]")).toBeVisible();
});

test("who is not let in reads one sentence, and the password stays a way in while a provider is away", async ({ page, world }) => {
  const { desk, acme, other } = world;
  const refusedAs = async (server: OidcServer, name: string, who: string, sentence: string) => {
    await page.context().clearCookies();
    await page.goto(`${desk.url}/sign-in`);
    await page.getByRole("button", { name: `Continue with ${name}` }).click();
    await signInThere(page, server, who);
    await expect(page.getByRole("alert").filter({ hasText: sentence })).toBeVisible();
    await expect(page).toHaveURL(new RegExp(`^${desk.url}/sign-in`));
  };
  await refusedAs(acme, "Acme", "eve", "Addresses of this domain cannot sign in");
  await refusedAs(other, "Other Inc.", "una", "Other Inc. has not verified your email address");
  await expectAccessibleInBothThemes(page);

  await test.step("one address at two providers stays two people", async () => {
    await page.context().clearCookies();
    await signInAt(page, desk, "Acme", acme, "bob");
    await expect(page.getByRole("link", { name: "Bob Builder, operator" }).first()).toBeVisible();
    await refusedAs(other, "Other Inc.", "bob", "A member already has this email address");
  });

  await test.step("cancelled there", async () => {
    await page.context().clearCookies();
    await page.goto(`${desk.url}/sign-in`);
    await page.getByRole("button", { name: "Continue with Acme" }).click();
    await page.getByRole("link", { name: /Cancel/ }).click();
    await expect(page.getByText("Sign-in at Acme was cancelled")).toBeVisible();
  });

  await test.step("away", async () => {
    await acme.stop();
    await page.getByLabel("Email").fill(owner.email);
    await page.getByRole("button", { name: "Continue with Acme" }).click();
    await expect(page.getByText("Acme cannot be reached")).toBeVisible();
    await expect(page.getByLabel("Email")).toHaveValue(owner.email);
    await page.getByLabel("Password").fill(owner.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
    await acme.again();
  });
});

test("a member with a password connects a provider, confirms there that it is them, and an invited person joins by it", async ({
  page,
  context,
  browser,
  world,
}) => {
  const { desk, acme, other } = world;
  await desk.signIn(context);
  await page.goto(`${desk.url}/settings/account`);
  await page.getByRole("button", { name: "Connect Acme" }).click();
  await signInThere(page, acme, "owner");
  await expect(page.getByRole("button", { name: "Disconnect Acme" })).toBeVisible();
  await expect(page.getByRole("link", { name: `${owner.name}, owner` }).first()).toBeVisible();

  await page.goto(`${desk.url}/settings/members`);
  await page.getByRole("button", { name: "Invite a member" }).click();
  await page.getByLabel("Email").fill("bob@example.com");
  await page.getByRole("region", { name: "Invite a member" }).getByLabel("Role").selectOption("operator");
  await page.getByRole("button", { name: "Create link" }).click();
  const link = await page.getByLabel("Link for bob@example.com").inputValue();
  const bob = await (await browser.newContext()).newPage();
  await bob.goto(link);
  await bob.getByRole("button", { name: "Continue with Other Inc." }).click();
  await signInThere(bob, other, "bob");
  await expect(bob.getByRole("link", { name: "Bob of Other, operator" }).first()).toBeVisible();
  await bob.context().close();
});

async function signInAt(page: Page, desk: Desk, name: string, server: OidcServer, who: string): Promise<void> {
  await page.goto(`${desk.url}/sign-in`);
  await page.getByRole("button", { name: `Continue with ${name}` }).click();
  await signInThere(page, server, who);
}
