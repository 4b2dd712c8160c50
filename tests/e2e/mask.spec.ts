// Masks from the first stroke to the stored bytes and back. Painted pixels are stored with alpha 0, others with 255.
import { randomBytes } from "node:crypto";
import { type Locator, type Page } from "@playwright/test";
import sharp from "sharp";
import { withQuery } from "@/lib/browser/urls";
import { expectAccessible } from "./support/accessible";
import { type Desk } from "./support/desk";
import { createPhoto, type DroppedFile, sha256 } from "./support/files";
import { expect, test } from "./support/test";

async function uploadAsset(page: Page, desk: Desk, { name, type, bytes }: DroppedFile, connection?: string): Promise<string> {
  const multipart = { tags: '["input"]', name, file: { name, mimeType: type, buffer: bytes } };
  const response = await page.request.post(`${desk.url}${withQuery("/api/assets", { connection })}`, {
    multipart,
    headers: { origin: desk.url },
  });
  const { id }: { id: string } = await response.json();
  return id;
}

/** Reads the stored file. `at` returns a pixel as [red, green, blue, alpha]. */
async function fetchStoredMask(page: Page, desk: Desk, href: string | null) {
  const id = /\/assets\/([^/?]+)/.exec(href ?? "")?.[1] ?? "";
  const { asset_hash: filename }: { asset_hash: string } = await (await page.request.get(`${desk.url}/api/assets/${id}`)).json();
  const file = await page.request.get(`${desk.url}/api/view`, { params: { filename } });
  const { data, info } = await sharp(await file.body())
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)];
  return { id, size: [info.width, info.height], at, sha256: sha256(data) };
}

const getDrawing = (page: Page) => page.getByRole("application", { name: /^Mask of/ });

/** Paints with the number fields, so that the test controls each pixel. */
async function paintRectangle(page: Page, numbers: Record<"Left" | "Top" | "Width" | "Height", number>): Promise<void> {
  const form = page.getByRole("form", { name: "Exact rectangle" });
  for (const [name, value] of Object.entries(numbers)) await form.getByLabel(name).fill(String(value));
  await form.getByRole("button", { name: "Paint rectangle" }).click();
}

async function dragAcross(page: Page, target: Locator): Promise<void> {
  const box = await target.boundingBox();
  if (!box) throw new Error("the drawing has no bounding box");
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x - 80, middle.y);
  await page.mouse.down();
  await page.mouse.move(middle.x + 80, middle.y, { steps: 6 });
  await page.mouse.up();
}

async function saveMask(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Save mask" }).click();
  const result = page.getByRole("status").filter({ hasText: "Saved as my-photograph-masked.png" });
  await expect(result).toBeVisible();
  return result;
}

test("saves a painted mask as alpha and reopens it for more painting", async ({ signedIn: page, desk }) => {
  const id = await uploadAsset(page, desk, await createPhoto({ r: 20, g: 120, b: 220 }));
  await page.goto(`${desk.url}/assets/${id}/mask`);
  await expect(getDrawing(page)).toBeVisible();
  await dragAcross(page, getDrawing(page));
  await paintRectangle(page, { Left: 10, Top: 20, Width: 30, Height: 40 });
  await expectAccessible(page);

  const result = await saveMask(page);
  await expectAccessible(page);
  const href = await result.getByRole("link", { name: "Open asset" }).getAttribute("href");
  const first = await fetchStoredMask(page, desk, href);
  expect(first.size).toEqual([1400, 1000]);
  expect([first.at(700, 500), first.at(10, 20), first.at(39, 59)]).toEqual(Array(3).fill([20, 120, 220, 0]));
  expect([first.at(9, 20), first.at(10, 19), first.at(40, 59), first.at(1399, 999)]).toEqual(Array(4).fill([20, 120, 220, 255]));

  await page.goto(`${desk.url}/assets/${first.id}/mask`);
  await expect(page.getByText("Continues the earlier mask.")).toBeVisible();
  await paintRectangle(page, { Left: 1300, Top: 900, Width: 500, Height: 500 });
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+y");
  const secondSave = await saveMask(page);
  const second = await fetchStoredMask(page, desk, await secondSave.getByRole("link", { name: "Open asset" }).getAttribute("href"));
  expect([second.at(700, 500), second.at(10, 20), second.at(1300, 900), second.at(1399, 999)]).toEqual(Array(4).fill([20, 120, 220, 0]));
  expect([second.at(1299, 900), second.at(9, 20)]).toEqual(Array(2).fill([20, 120, 220, 255]));
  const asset: { user_metadata: { original_hash: string } } = await (await page.request.get(`${desk.url}/api/assets/${second.id}`)).json();
  const original: { asset_hash: string } = await (await page.request.get(`${desk.url}/api/assets/${id}`)).json();
  expect(asset.user_metadata.original_hash).toBe(original.asset_hash);
});

const uprightSize = { width: 60, height: 90 };
const createFlatImage = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 40, b: 90 } } });
const imageFactories = {
  "photo-rotated.jpg": () => createFlatImage(90, 60).withMetadata({ orientation: 6 }).jpeg({ quality: 100, chromaSubsampling: "4:4:4" }),
  "photo-transparent.png": () => createFlatImage(60, 90).ensureAlpha(0.6).png(),
  "photo-thin.png": () => createFlatImage(1, 90).png(),
  "photo-noise.png": () => sharp(randomBytes(60 * 90 * 3), { raw: { width: 60, height: 90, channels: 3 } }).png(),
};

test("aligns masks with rotated, transparent and thin pictures", async ({ signedIn: page, desk }) => {
  const errors: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && errors.push(message.text())));
  for (const [name, createImage] of Object.entries(imageFactories)) {
    await test.step(name, async () => {
      const bytes = await createImage().toBuffer();
      const id = await uploadAsset(page, desk, { name, type: `image/${name.split(".")[1]?.replace("jpg", "jpeg")}`, bytes });
      await page.goto(`${desk.url}/assets/${id}/mask`);
      await expect(getDrawing(page)).toBeVisible();
      const isTransparent = name === "photo-transparent.png";
      if (name === "photo-rotated.jpg") await pinch(page, getDrawing(page));
      await expect(page.getByText(isTransparent ? "40% painted" : "0% painted", { exact: true })).toBeVisible();
      await paintRectangle(page, { Left: 0, Top: 80, Width: 60, Height: 5 });
      await page.getByRole("button", { name: "Save mask" }).click();
      const result = page.getByRole("status").filter({ hasText: "Saved as photo-" });
      const { size, at, ...storedFile } = await fetchStoredMask(
        page,
        desk,
        await result.getByRole("link", { name: "Open asset" }).getAttribute("href"),
      );
      const width = name === "photo-thin.png" ? 1 : uprightSize.width;
      expect(size).toEqual([width, uprightSize.height]);
      const alphas = [79, 80, 84, 85].map((y) => at(width - 1, y)[3]);
      expect(alphas).toEqual(isTransparent ? [153, 0, 0, 153] : [255, 0, 0, 255]);
      if (name === "photo-noise.png") {
        const pixels = await sharp(bytes).ensureAlpha().raw().toBuffer();
        for (let pixelIndex = 80 * 60; pixelIndex < 85 * 60; pixelIndex++) pixels[pixelIndex * 4 + 3] = 0;
        expect(storedFile.sha256).toBe(sha256(pixels));
      }
      const { asset_hash: filename }: { asset_hash: string } = await (await page.request.get(`${desk.url}/api/assets/${id}`)).json();
      const contentNow = await (await page.request.get(`${desk.url}/api/view`, { params: { filename } })).body();
      expect(contentNow.equals(bytes)).toBe(true);
    });
  }
  expect(errors).toEqual([]);
});

/** Moves two fingers apart, which zooms in. */
async function pinch(page: Page, target: Locator): Promise<void> {
  const box = await target.boundingBox();
  if (!box) throw new Error("the drawing has no bounding box");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const zoom = page.getByRole("button", { name: /^1:1, / });
  const before = await zoom.textContent();
  const cdp = await page.context().newCDPSession(page);
  const getTouchPoints = (distance: number) => [
    { x: x - distance, y, id: 1 },
    { x: x + distance, y, id: 2 },
  ];
  await cdp.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: getTouchPoints(40) });
  for (const distance of [60, 80, 100])
    await cdp.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: getTouchPoints(distance) });
  await cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await expect(zoom).not.toHaveText(before ?? "");
}
