// The asset gallery: scrolling, filtering, selecting, tagging, viewing, editing and deleting with the pointer and the keyboard.
import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { uploadPictures } from "./support/gallery-pictures";
import { expect, test } from "./support/test";

const tile = (page: Page, name: string) => page.getByRole("list", { name: "Assets" }).getByRole("link", { name });
const tiles = (page: Page) => page.locator("a[data-index][href]");
const bar = (page: Page) => page.getByRole("region", { name: "Selected rows" });

test("scrolls, filters, selects and tags in the gallery and restores it from its URL", async ({ page, ownDesk }) => {
  test.slow(); // many steps
  await uploadPictures(page, ownDesk, 130);
  await page.goto(`${ownDesk.url}/assets?include_public=false`);
  await expect(tile(page, "wall_129.png")).toBeVisible();
  expect(await page.locator("a[data-index]").count()).toBeLessThanOrEqual(150);
  await expectAccessible(page);

  // While the table's code loads, the page stays usable, and a jump applies afterwards.
  let release = () => undefined as void;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/_next/static/**/*.js", async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole("button", { name: "Table", exact: true }).click();
  await expect(page.getByRole("status", { name: "Loading", exact: true })).toBeVisible();
  await expect(page.getByRole("heading", { name: /^Assets/ })).toBeVisible();
  await expect(page.getByRole("button", { name: "Table", exact: true })).toBeVisible();
  await page.getByLabel("Go to").fill("60");
  await page.getByLabel("Go to").press("Enter");
  release();
  // Rows of the table scroll under its header, but the requested row is shown below it.
  await expect(page.getByRole("row").filter({ hasText: "wall_070.png" })).toBeInViewport();
  await page.unroute("**/_next/static/**/*.js");
  await expect(page).toHaveURL(/offset=59/);
  const head = await page.locator("thead th").last().boundingBox();
  const row = await page.locator('tr[aria-rowindex="61"]').boundingBox();
  expect(row?.y).toBeGreaterThanOrEqual((head?.y ?? NaN) + (head?.height ?? NaN));
  // A reload opens the list at the same position, with no row above it.
  await page.reload();
  await expect(page.getByText("60 of 130")).toBeVisible();
  await expect(page).toHaveURL(/offset=59/);
  // A read error is shown in view, however far the user has scrolled.
  await page.route(/\/api\/assets\?.*offset=120/, (route) =>
    route.fulfill({ status: 502, json: { code: "UPSTREAM_FAILED", message: "" } }),
  );
  await page.getByLabel("Go to").fill("125");
  await page.getByLabel("Go to").press("Enter");
  await expect(page.getByRole("main").getByRole("alert")).toBeInViewport({ ratio: 1 });
  await page.unroute(/\/api\/assets\?.*offset=120/);

  await page.goto(`${ownDesk.url}/assets?include_public=false`);
  // The scroll position is in the URL, so going forward and back restores it.
  await page.getByLabel("Go to").fill("100");
  await page.getByLabel("Go to").press("Enter");
  await expect(tile(page, "wall_030.png")).toBeVisible();
  await expect(page).toHaveURL(/offset=\d\d/);
  const urlBefore = page.url();
  const scrollYBefore = await page.evaluate(() => window.scrollY);
  await tile(page, "wall_030.png").focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "wall_030.png" })).toBeVisible();
  await page.goBack();
  await expect(tile(page, "wall_030.png")).toBeVisible();
  expect(page.url()).toBe(urlBefore);
  expect(Math.abs((await page.evaluate(() => window.scrollY)) - scrollYBefore)).toBeLessThan(2);

  // The full view has its own URL: a reload shows it again, and Back closes it.
  await tile(page, "wall_030.png").focus();
  await page.keyboard.press("Space");
  const viewer = page.getByRole("dialog", { name: /^wall_030\.png/ });
  await expect(viewer).toBeVisible();
  await expect(page).toHaveURL(/show=/);
  await page.reload();
  await expect(viewer).toBeVisible();
  await page.goBack();
  await expect(viewer).toBeHidden();
  await expect(tile(page, "wall_030.png")).toBeFocused();

  // Shortcuts are disabled until the viewer closes.
  await expect(page.locator("dialog[open]")).toHaveCount(0);
  // The select-all key selects the visible tiles, and then all matching ones.
  await page.keyboard.press("ControlOrMeta+a");
  await expect(bar(page).getByText(/^\d{1,2} selected$/)).toBeVisible();
  // More tiles may still appear, and the next press then selects those first.
  await expect(async () => {
    await page.keyboard.press("ControlOrMeta+a");
    await expect(bar(page).getByText("130 selected")).toBeVisible({ timeout: 500 });
  }).toPass();
  await page.keyboard.press("Escape");
  await expect(bar(page)).toBeHidden();

  // Tags and metadata narrow the list, and both are in the URL.
  await page.getByRole("button", { name: "Filter by tags" }).click();
  await page.getByRole("button", { name: "No assets with odd" }).click();
  // Enter chooses the only tag that contains the typed text.
  await page.getByRole("searchbox", { name: "Find a tag" }).fill("eve");
  await page.getByRole("searchbox", { name: "Find a tag" }).press("Enter");
  await expect(page).toHaveURL(/include_tags=even(&|$)/);
  await page.getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("banner").or(page.locator("header")).getByText("65", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByRole("group", { name: "Metadata" }).getByRole("button").click();
  await page.getByLabel("Name", { exact: true }).fill("camera.lens");
  await page.getByLabel("Value", { exact: true }).fill("50mm");
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await expect(page.locator("header").getByText("22", { exact: true })).toBeVisible();
  expect(new URL(page.url()).searchParams.get("metadata_filter")).toBe('{"camera":{"lens":"50mm"}}');
  await page.reload();
  await expect(page.locator("header").getByText("22", { exact: true })).toBeVisible();
  await expect(tiles(page)).toHaveCount(22);

  // Selects by dragging over tiles, then all matching assets.
  const [first, fifth] = [await tiles(page).nth(0).boundingBox(), await tiles(page).nth(4).boundingBox()];
  if (!first || !fifth) throw new Error("the tiles have no bounding box");
  await page.mouse.move(first.x + 20, first.y + 60);
  await page.mouse.down();
  await page.mouse.move(fifth.x + 20, fifth.y + 80, { steps: 6 });
  await page.mouse.up();
  await expect(bar(page).getByText("5 selected")).toBeVisible();
  await bar(page).getByRole("button", { name: "Select all 22 matching assets" }).click();
  await bar(page).getByRole("button", { name: "Add tags" }).click();
  await page.getByRole("textbox", { name: "Tags" }).fill("approved");
  await page.getByRole("dialog").getByRole("button", { name: "Add tags" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Add approved to 22 assets" }).click();
  await expect(page.getByText("22 tagged")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("22 untagged")).toBeVisible();
});

test("opens, tags, edits, finds by bytes and deletes an asset in the panel", async ({ signedIn: page, desk }) => {
  const tag = `panel-${Date.now()}`;
  const listUrl = `${desk.url}/assets?include_tags=${tag}&include_public=false`;
  await uploadPictures(page, desk, 6, [tag]);
  await page.goto(listUrl);
  await tile(page, "wall_005.png").click();
  const panel = page.getByRole("complementary", { name: "Asset wall_005.png" });
  await panel.getByLabel("Add a tag").fill("seen");
  await panel.getByLabel("Add a tag").press("Enter");
  await expect(panel.getByRole("list", { name: "Tags" }).getByRole("link", { name: "seen" })).toBeVisible();
  // Enter chooses the only tag that contains the typed text.
  await panel.getByLabel("Add a tag").fill("eve");
  await expect(panel.locator("datalist option[value='even']")).toHaveCount(1);
  await panel.getByLabel("Add a tag").press("Enter");
  await expect(panel.getByRole("list", { name: "Tags" }).getByRole("link", { name: "even", exact: true })).toBeVisible();
  await expect(panel.getByRole("link", { name: "eve", exact: true })).toHaveCount(0);
  await panel.getByRole("button", { name: "Remove tag odd" }).click();
  await expect(panel.getByRole("link", { name: "odd", exact: true })).toBeHidden();
  await panel.getByRole("button", { name: "Find duplicates" }).click();
  await expect(panel.getByText("no other asset")).toBeVisible();
  await panel.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Name", { exact: true }).first().fill("renamed.png");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  const renamedPanel = page.getByRole("complementary", { name: "Asset renamed.png" });
  await expect(renamedPanel).toBeVisible();
  await expectAccessible(page);
  await renamedPanel.getByRole("button", { name: "Delete" }).click();
  await expect(renamedPanel.getByText("renamed.png will be deleted in 5 seconds")).toBeVisible();
  await renamedPanel.getByRole("button", { name: "Undo" }).click();
  await expect(renamedPanel.getByText("will be deleted in 5 seconds")).toBeHidden();
  // Closing the panel sends the pending deletion.
  await renamedPanel.getByRole("button", { name: "Delete" }).click();
  await renamedPanel.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText("renamed.png deleted.")).toBeVisible();
  await expect(tile(page, "renamed.png")).toBeHidden();
  await expect(tiles(page)).toHaveCount(5);

  await page.getByRole("button", { name: "Table" }).click();
  await expect(page).toHaveURL(/look=table/);
  const rows = page.locator("tr[data-row]");
  await expect(rows).toHaveCount(5);
  await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
  await expect(rows.first()).toContainText("wall_000.png");
  await rows.nth(1).getByRole("checkbox").check();
  await rows
    .nth(3)
    .getByRole("checkbox")
    .click({ modifiers: ["Shift"] });
  await expect(bar(page).getByText("3 selected")).toBeVisible();
  await page.keyboard.press("Control+a");
  await expect(bar(page).getByText("5 selected")).toBeVisible();
  await page.keyboard.press("Escape");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Use pages" }).click();
  await page.getByLabel("Rows per page").selectOption("25");
  await expect(page).toHaveURL(/by=pages/);
  await expect(page.getByText("1–5 of 5")).toBeVisible();

  // The settings are saved as the default view.
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByLabel("Name of the new view").fill("By name");
  await page.getByLabel("Use when Assets opens").check();
  await page.getByRole("button", { name: "Save view" }).click();
  await expect(page.getByRole("link", { name: "By name" })).toBeVisible();
  await page.goto(`${desk.url}/assets`);
  await expect(page).toHaveURL(/look=table/);
  await expect(rows.first()).toContainText("wall_000.png");
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove By name" }).click();
  await expect(page.getByRole("dialog")).toContainText("No saved views yet");

  // With many active filters, the view controls keep their position.
  await page.goto(`${desk.url}/assets?include_tags=input,a-tag-of-some-length,another-tag-of-some-length`);
  await expect(page.getByRole("button", { name: "Views" })).toBeInViewport({ ratio: 1 });

  // On a phone, the picture has its own page.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(listUrl);
  await tile(page, "wall_004.png").click();
  await expect(page).toHaveURL(/\/assets\/[0-9a-f-]{36}/);
  await expect(page.getByRole("group", { name: /^Image/ })).toBeVisible();
  await expectAccessible(page);
});
