import { request as requestFactory } from "@playwright/test";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { expect, test } from "./support/test";

test("creates a token, shows it once, uses it without a cookie and revokes it", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/settings/tokens`);
  await page.getByRole("button", { name: "Create a token" }).click();
  const form = page.getByRole("region", { name: "Create a token" });
  await form.getByRole("textbox", { name: "Name" }).fill("night renders");
  await form.getByRole("combobox", { name: "Role" }).selectOption("operator");
  await form.getByRole("combobox", { name: "Operations" }).selectOption("chosen");
  await form.getByRole("searchbox", { name: "Find an operation" }).fill("/api/free");
  await form.getByRole("checkbox", { name: /^freeMemory/ }).check();
  await form.getByRole("searchbox", { name: "Find an operation" }).fill("getUser");
  await form.getByRole("checkbox", { name: /^getUser/ }).check();
  await expect(form.getByText("2 operations")).toBeVisible();
  await expectAccessibleInBothThemes(page);
  // No expiry is preselected.
  await form.getByRole("button", { name: "Create a token" }).click();
  await expect(form.getByRole("combobox", { name: "Expires" })).toBeFocused();
  await form.getByRole("combobox", { name: "Expires" }).selectOption({ label: "after 7 days" });
  const pendingResponse = page.waitForResponse("**/api/console/tokens");
  await form.getByRole("button", { name: "Create a token" }).click();
  const created = (await (await pendingResponse).json()) as { token: string; view: { id: string } };
  const tokenField = page.getByRole("textbox", { name: "Token night renders" });
  // The displayed token matches the response and works.
  await expect(tokenField).toHaveValue(created.token);
  await expect(page.getByRole("textbox", { name: "Try it" })).toHaveValue(`curl -H "X-API-Key: ${created.token}" ${desk.url}/api/jobs`);

  const client = await requestFactory.newContext({ baseURL: desk.url, extraHTTPHeaders: { authorization: `Bearer ${created.token}` } });
  expect((await client.get("/api/user")).status()).toBe(200);
  expect((await client.post("/api/free", { data: {} })).status()).toBe(200);
  expect((await client.get("/api/jobs")).status()).toBe(403);

  await page.reload();
  await expect(page.getByText(created.token)).toHaveCount(0);
  const row = page.locator(`[data-id="${created.view.id}"]`);
  await expect(row).toContainText("Embedded service · 2 operations");
  await expect(row).toContainText("used just now");
  await expect(row).toContainText("Active");
  await row.getByRole("button", { name: "Revoke: night renders" }).click();
  await page.getByRole("button", { name: "Revoke night renders" }).click();
  await expect(page.getByText("night renders revoked")).toBeVisible();
  expect((await client.get("/api/user")).status()).toBe(401);
  await client.dispose();

  await page.goto(`${desk.url}/settings/audit`);
  await expect(page.getByRole("row").filter({ hasText: "asked the service to free memory" })).toContainText("by token night renders");
});
