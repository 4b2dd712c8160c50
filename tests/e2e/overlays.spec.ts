// Accessibility of overlays: dialogs, panels, the tray and the mask editor.
import { type Page } from "@playwright/test";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { createPhoto, readSample } from "./support/files";
import { submitJob, waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

/** Opens an overlay, checks it in both themes, and closes it with Esc. */
async function checkOverlay(page: Page, name: string, open: () => Promise<void>): Promise<void> {
  await test.step(name, async () => {
    await open();
    await expect(page.getByRole("dialog").last()).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });
}

const clickButton = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).filter({ visible: true }).first().click();

test("has no accessibility violations in any overlay in both themes", async ({ signedIn: page, desk }) => {
  test.slow(); // checks a dozen overlays completely
  const job = await submitJob(page.request, desk, JSON.parse(readSample("01-invert").bytes.toString("utf8")));
  await waitForState(page.request, desk, job, "completed");

  await page.goto(`${desk.url}/jobs`);
  await expect(page.locator(`tr[data-row="${job}"]`)).toBeVisible();
  await checkOverlay(page, "columns of Jobs", () => clickButton(page, "Columns"));
  await checkOverlay(page, "commands", () => page.keyboard.press("ControlOrMeta+k"));

  const photo = await createPhoto({ r: 9, g: 99, b: 199 });
  await page.getByTestId("asset-files").setInputFiles({ name: photo.name, mimeType: photo.type, buffer: photo.bytes });
  await test.step("has no violations in the add-files dialog and the tray", async () => {
    await expect(page.getByRole("dialog")).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
    await expect(page.getByRole("region", { name: "Transfers" }).getByText("1 of 1 stored")).toBeVisible();
    await expectAccessibleInBothThemes(page);
  });

  await page.goto(`${desk.url}/assets`);
  await expect(page.getByText("photo.png").first()).toBeVisible();
  await checkOverlay(page, "filter by tags", () => clickButton(page, "Filter by tags"));
  for (const method of ["Download from URL…", "Add from hash…"]) {
    await checkOverlay(page, method, async () => {
      await clickButton(page, "Add");
      await page.getByRole("menuitem", { name: method }).click();
    });
  }
  await test.step("has no violations in the viewer and its comparison", async () => {
    await clickButton(page, "Slideshow");
    const viewer = page.getByRole("dialog").first();
    await expect(viewer.getByRole("group", { name: /^Image: drag/ })).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await viewer.getByRole("button", { name: "Mark for comparison" }).click();
    await viewer.getByRole("button", { name: "Next" }).click();
    await viewer.getByRole("button", { name: "Mark for comparison" }).click();
    await viewer.getByRole("button", { name: "Compare 2" }).click();
    await expect(page.getByRole("dialog", { name: "Comparing 2 images" })).toBeVisible();
    await expectAccessibleInBothThemes(page);
  });

  await page.goto(`${desk.url}/run`);
  await page.getByRole("button", { name: /^Poster from a photo/ }).click();
  await checkOverlay(page, "copies", () => clickButton(page, "Copies"));
  await test.step("has no violations in the mask editor", async () => {
    await page.getByRole("button", { name: "Draw a mask" }).click();
    await expect(page.getByRole("application", { name: /^Mask of/ })).toBeVisible();
    await expectAccessibleInBothThemes(page);
  });

  await page.goto(`${desk.url}/files`);
  await expect(page.getByRole("heading", { name: "Files" })).toBeVisible();
  await checkOverlay(page, "a new folder", () => clickButton(page, "New folder"));
});
