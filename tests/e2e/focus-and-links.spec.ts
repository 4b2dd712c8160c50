// Focus outlines, and links that open in a new tab.
import { createPhoto } from "./support/files";
import { cancelJob, createSlowGraph, submitJob } from "./support/jobs";
import { openInNewTab } from "./support/new-tab";
import { expect, test } from "./support/test";

test("outlines the focused row in Jobs and in the queue", async ({ signedIn: page, desk }) => {
  const id = await submitJob(page.request, desk, createSlowGraph(120, "-ring"));
  for (const path of ["jobs", "queue"]) {
    await page.goto(`${desk.url}/${path}`);
    const row = page.locator("tr[data-row]").first();
    await expect(row).toBeVisible();
    // The rows may be visible before the page handles keys.
    await expect(async () => {
      await page.keyboard.press("j");
      await expect(row.getByRole("link", { name: id.slice(0, 8) })).toBeFocused({ timeout: 500 });
    }).toPass();
    await expect(row).toHaveCSS("outline", /solid 2px/);
  }
  await cancelJob(page.request, desk, id);
});

test("opens a tile in a new tab with Ctrl or the middle button without selecting it", async ({ signedIn: page, context, desk }) => {
  // Not a sample picture, since other tests find those by name.
  const { bytes } = await createPhoto({ r: 70, g: 20, b: 30 });
  const response = await page.request.post(`${desk.url}/api/assets`, {
    headers: { origin: desk.url },
    multipart: {
      name: "in-a-tab.png",
      file: { name: "photo.png", mimeType: "image/png", buffer: bytes },
    },
  });
  expect(response.ok()).toBe(true);
  await page.goto(`${desk.url}/assets`);
  const tile = page.getByRole("list", { name: "Assets" }).getByRole("link", { name: "in-a-tab.png" });
  await expect(tile).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Position in the list" }).getByText(/^\d+ assets$/)).toBeVisible();
  for (const clickOptions of [{ modifiers: ["ControlOrMeta" as const] }, { button: "middle" as const }]) {
    const openedPage = await openInNewTab(context, () => tile.click(clickOptions), /\/assets\/[0-9a-f-]+$/);
    await openedPage.close();
  }
  await expect(page.getByRole("region", { name: "Selected rows" })).toBeHidden();
  await expect(page).toHaveURL(`${desk.url}/assets`);
});
