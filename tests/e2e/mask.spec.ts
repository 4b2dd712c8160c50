// A mask from the first stroke to the stored bytes and back: what was painted has alpha 0 at the service, what was not has 255.
import AxeBuilder from "@axe-core/playwright";
import { type Locator, type Page } from "@playwright/test";
import sharp from "sharp";
import { type Desk } from "./support/desk";
import { photograph } from "./support/files";
import { expect, test } from "./support/test";

async function uploaded(page: Page, desk: Desk, colour: { r: number; g: number; b: number }): Promise<string> {
  const { name, type, bytes } = await photograph(colour);
  const multipart = { tags: '["input"]', file: { name, mimeType: type, buffer: bytes } };
  const answer = await page.request.post(`${desk.url}/api/assets`, { multipart, headers: { origin: desk.url } });
  const { id }: { id: string } = await answer.json();
  return id;
}

/** Pixels of the stored file, each as [red, green, blue, alpha]. */
async function stored(page: Page, desk: Desk, href: string | null) {
  const id = /\/assets\/([^/?]+)/.exec(href ?? "")?.[1] ?? "";
  const { asset_hash: filename }: { asset_hash: string } = await (await page.request.get(`${desk.url}/api/assets/${id}`)).json();
  const file = await page.request.get(`${desk.url}/api/view`, { params: { filename } });
  const { data, info } = await sharp(await file.body())
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)];
  return { id, size: [info.width, info.height], at };
}

const drawing = (page: Page) => page.getByRole("application", { name: /^Mask of/ });

/** By the numbers, so that the test knows each pixel. */
async function rectangle(page: Page, numbers: Record<"Left" | "Top" | "Width" | "Height", number>): Promise<void> {
  const form = page.getByRole("form", { name: "Rectangle by numbers" });
  for (const [name, value] of Object.entries(numbers)) await form.getByLabel(name).fill(String(value));
  await form.getByRole("button", { name: "Paint it" }).click();
}

async function dragAcross(page: Page, target: Locator): Promise<void> {
  const box = await target.boundingBox();
  if (!box) throw new Error("the drawing has no place");
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x - 80, middle.y);
  await page.mouse.down();
  await page.mouse.move(middle.x + 80, middle.y, { steps: 6 });
  await page.mouse.up();
}

async function save(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Save mask" }).click();
  const receipt = page.getByRole("status").filter({ hasText: "Saved as my-photograph-masked.png" });
  await expect(receipt).toBeVisible();
  return receipt;
}

test("what is painted on an asset arrives as alpha, opens again with its mask, and goes on from there", async ({
  signedIn: page,
  desk,
}) => {
  const id = await uploaded(page, desk, { r: 20, g: 120, b: 220 });
  await page.goto(`${desk.url}/assets/${id}/mask`);
  await expect(drawing(page)).toBeVisible();
  await dragAcross(page, drawing(page));
  await rectangle(page, { Left: 10, Top: 20, Width: 30, Height: 40 });
  const violations = async () => (await new AxeBuilder({ page }).analyze()).violations;
  expect(await violations()).toEqual([]);

  const receipt = await save(page);
  expect(await violations()).toEqual([]);
  const href = await receipt.getByRole("link", { name: "Open the asset" }).getAttribute("href");
  const first = await stored(page, desk, href);
  expect(first.size).toEqual([1400, 1000]);
  expect([first.at(700, 500), first.at(10, 20), first.at(39, 59)]).toEqual(Array(3).fill([20, 120, 220, 0]));
  expect([first.at(9, 20), first.at(10, 19), first.at(40, 59), first.at(1399, 999)]).toEqual(Array(4).fill([20, 120, 220, 255]));

  await page.goto(`${desk.url}/assets/${first.id}/mask`);
  await expect(page.getByText("Goes on from the earlier mask.")).toBeVisible();
  await rectangle(page, { Left: 1300, Top: 900, Width: 500, Height: 500 });
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+y");
  const again = await save(page);
  const second = await stored(page, desk, await again.getByRole("link", { name: "Open the asset" }).getAttribute("href"));
  expect([second.at(700, 500), second.at(10, 20), second.at(1300, 900), second.at(1399, 999)]).toEqual(Array(4).fill([20, 120, 220, 0]));
  expect([second.at(1299, 900), second.at(9, 20)]).toEqual(Array(2).fill([20, 120, 220, 255]));
  const asset: { user_metadata: { original_hash: string } } = await (await page.request.get(`${desk.url}/api/assets/${second.id}`)).json();
  const original: { asset_hash: string } = await (await page.request.get(`${desk.url}/api/assets/${id}`)).json();
  expect(asset.user_metadata.original_hash).toBe(original.asset_hash);
});

test("with keys alone a mask is painted; elsewhere in the console nothing of it is lost, and a failing upload keeps it", async ({
  signedIn: page,
  desk,
}) => {
  const id = await uploaded(page, desk, { r: 200, g: 90, b: 10 });
  await page.goto(`${desk.url}/assets/${id}/mask`);
  await expect(drawing(page)).toBeFocused();
  await page.keyboard.press("r");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  for (let step = 0; step < 3; step += 1) await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Not saved")).toBeVisible();

  await page.getByRole("link", { name: "Assets /" }).click();
  await expect(page).toHaveURL(/\/assets$/);
  await page.getByRole("button", { name: "Go on with it" }).click();
  await expect(page.getByText("Your drawing from before is here again.")).toBeVisible();

  await page.route("**/api/upload/mask*", (route) => route.abort("connectionreset"));
  await page.getByRole("button", { name: "Save mask" }).click();
  await expect(page.getByText("The mask was not saved. Your drawing is still here.")).toBeVisible();
  await page.unroute("**/api/upload/mask*");
  await page.getByRole("button", { name: "Save again" }).click();
  const receipt = page.getByRole("status").filter({ hasText: "Saved as" });
  const { at } = await stored(page, desk, await receipt.getByRole("link", { name: "Open the asset" }).getAttribute("href"));
  expect([at(700, 510), at(700, 480), at(5, 5)]).toEqual([
    [200, 90, 10, 0],
    [200, 90, 10, 255],
    [200, 90, 10, 255],
  ]);
});

test("a mask is drawn over the picture of an input, which then names the result", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/run`);
  await page.getByRole("button", { name: /^Poster from a photo/ }).click();
  const name = page.getByRole("textbox", { name: "Name of the picture" });
  await expect(name).toHaveValue("photo.png");
  await page.getByRole("button", { name: "Draw a mask" }).click();
  await expect(drawing(page)).toBeVisible();
  await dragAcross(page, drawing(page));
  await page.getByRole("button", { name: "Save mask" }).click();
  await expect(drawing(page)).toHaveCount(0);
  await expect(name).toHaveValue("photo-masked.png");
});
