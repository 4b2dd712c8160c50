// A dialog longer than the window: title and actions are always visible, and only the body scrolls.
import { expectAccessible } from "./support/accessible";
import { expect, test } from "./support/test";

test("scrolls only the body of a long dialog on a small phone", async ({ signedIn: page, desk }) => {
  await page.setViewportSize({ width: 390, height: 600 });
  await page.goto(`${desk.url}/assets`);
  await expect(page.getByRole("list", { name: "Assets" }).getByRole("link").first()).toBeVisible();
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByRole("group", { name: "Metadata" }).getByRole("button").click();
  const dialog = page.getByRole("dialog", { name: "Filter by metadata" });
  // While everything fits, the actions cover no content.
  await dialog.getByRole("button", { name: "Add value" }).click();
  for (let row = 0; row < 10; row += 1) await dialog.getByRole("button", { name: "Add value" }).press("Enter");
  const title = dialog.getByRole("heading").first();
  const apply = dialog.getByRole("button", { name: "Apply", exact: true });
  for (const deltaPx of [2_000, -4_000]) {
    await dialog.hover();
    await page.mouse.wheel(0, deltaPx);
    await expect(title).toBeInViewport({ ratio: 1 });
    await expect(apply).toBeInViewport({ ratio: 1 });
  }
  await expectAccessible(page);

  await page.setViewportSize({ width: 390, height: 400 });
  await page.goto(`${desk.url}/settings/account`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight > innerHeight)).toBe(true);
  const shortcutsDialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  const last = shortcutsDialog.getByRole("term").or(shortcutsDialog.getByRole("listitem")).last();
  // The page may be visible before it handles keys.
  await expect(async () => {
    await page.keyboard.press("?");
    await expect(last).toBeAttached({ timeout: 500 });
  }).toPass();
  await expect(last).not.toBeInViewport();
  // Scrolling past the end, twice, must not scroll the page.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await shortcutsDialog.hover();
    await page.mouse.wheel(0, 4_000);
    await expect(last).toBeInViewport();
    await expect(shortcutsDialog.getByRole("heading").first()).toBeInViewport({ ratio: 1 });
  }
  // Scrolling takes effect in later frames.
  const pageScrollPx = await page.evaluate(async () => {
    for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame);
    return scrollY;
  });
  expect(pageScrollPx).toBe(0);
  await expectAccessible(page);
});
