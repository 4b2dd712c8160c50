import { expectAccessibleInBothThemes } from "./support/accessible";
import { owner, startDesk } from "./support/desk";
import { oidcSettings, signInAtProvider, startOidcServer } from "./support/oidc-server";
import { expect, test } from "./support/test";

test("signs in by OIDC with the role of a group and signs out at the provider", async ({ page, request }) => {
  const acme = await startOidcServer("acme", {
    ada: { email: "ada.lovelace@example.com", name: "Ada Lovelace", groups: ["bosses"] },
  });
  const desk = await startDesk({
    LIGHTDESK_OIDC: "acme",
    ...oidcSettings("acme", acme, { DOMAINS: "example.com", SIGN_UP: "viewer", ROLE_CLAIM: "groups", ROLES: "bosses:admin,*:operator" }),
  });
  await desk.setUp(request);
  await page.goto(`${desk.url}/settings/account`);
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Continue with Acme" }).click();
  await signInAtProvider(page, acme, "ada");
  await expect(page).toHaveURL(`${desk.url}/settings/account`);
  await expect(page.getByRole("link", { name: "Ada Lovelace, admin" }).first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Password" })).toHaveCount(0);
  await expect(page.getByText("through Acme")).toBeVisible();
  await page.goto(`${desk.url}/settings/members`);
  await expect(page.locator("li[data-member]").filter({ hasText: "Ada Lovelace" })).toContainText("Signs in with Acme");
  await expect(page.locator("li[data-member]").filter({ hasText: owner.name })).toContainText("Signs in with password");

  await test.step("requires a sign-in at the provider, in a new tab, for critical changes", async () => {
    await page.getByRole("button", { name: "Invite a member" }).click();
    await page.getByLabel("Email").fill("friend@example.com");
    await page.getByRole("button", { name: "Create link" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm it's you" });
    const popup = page.waitForEvent("popup");
    await dialog.getByRole("button", { name: "Continue with Acme" }).click();
    await signInAtProvider(await popup, acme, "ada");
    await expect(page.getByLabel("Link for friend@example.com")).toBeVisible();
  });

  await test.step("signs in a second time without entering credentials", async () => {
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

  await test.step("signs in with a password when a provider is unreachable", async () => {
    // A link to another site is ignored after sign-in.
    await page.goto(`${desk.url}/sign-in?callbackUrl=${encodeURIComponent("//example.com/jobs")}`);
    await acme.stop();
    await page.getByLabel("Email").fill(owner.email);
    await page.getByRole("button", { name: "Continue with Acme" }).click();
    await expect(page.getByText("Couldn't reach Acme")).toBeVisible();
    await expect(page.getByLabel("Email")).toHaveValue(owner.email);
    await page.getByLabel("Password").fill(owner.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
    await expect(page).toHaveURL(`${desk.url}/`);
  });
  expect(await desk.stop(), desk.output()).toBe(0);
});
