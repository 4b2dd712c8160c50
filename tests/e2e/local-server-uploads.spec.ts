// Uploads to a local server and downloads from it, compared byte for byte.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Page } from "@playwright/test";
import sharp from "sharp";
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";
import { readZip } from "@/tests/support/read-zip";
import { confirmAdd, createRandomFile, dropFile, getTray, readSample, sha256, toFilePayload } from "./support/files";
import { collectErrors, saveConnection } from "./support/steps";
import { expect, test } from "./support/test";

const tile = (page: Page, name: string) => page.getByRole("list", { name: "Assets" }).getByRole("link", { name });

test("uploads and downloads files, masks and user data of a local server byte for byte", async ({ signedIn: page, desk }) => {
  const files = createLocalFiles();
  const server = await startLocalServer(files);
  const connection = await saveConnection(page, desk, { name: "Local for files", baseUrl: server.url });
  const noise = sharp(randomBytes(90 * 60 * 3), { raw: { width: 90, height: 60, channels: 3 } });
  const picture = { name: "local 100%.png", type: "image/png", bytes: await noise.png().toBuffer() };
  await page.goto(`${desk.url}/assets?connection=${connection}`);
  await expect(page.getByText("No assets yet")).toBeVisible();
  for (const [name, message] of [
    [picture.name, /^stored, .* sent · verified/] as const,
    ["again.png", "already stored, nothing sent · verified"] as const,
  ]) {
    await dropFile(page.getByRole("main"), { ...picture, name });
    await confirmAdd(page);
    await expect(getTray(page).getByText(message)).toBeVisible();
  }
  expect(files.assets.map(({ name, bytes }) => [name, sha256(bytes)])).toEqual([
    [picture.name, sha256(picture.bytes)],
    ["again.png", sha256(picture.bytes)],
  ]);

  expect(server.requests.filter(({ method, url }) => method === "POST" && url === "/api/assets")).toHaveLength(1);

  const errors = collectErrors(page);
  await test.step("offers only filters and sources that the server supports", async () => {
    await page.reload();
    await expect(page.getByRole("button", { name: "Filter by tags" })).toBeVisible();
    await page.getByRole("button", { name: "Filters", exact: true }).click();
    await expect(page.getByRole("checkbox", { name: "Include shared" })).toBeVisible();
    await expect(page.getByRole("group", { name: "Metadata" })).toBeHidden();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await expect(page.getByRole("menuitem", { name: "Upload files…" })).toBeVisible();
    await expect(page.getByRole("menuitem", { name: "Download from URL…" })).toBeHidden();
    await page.keyboard.press("Escape");
  });

  await test.step("adds and removes a tag", async () => {
    const getTags = () => files.assets[1]?.tags;
    const tags = getTags() ?? [];
    await tile(page, "again.png").click();
    const panel = page.getByRole("complementary", { name: "Asset again.png" });
    await panel.getByLabel("Add a tag").fill("seen");
    await panel.getByLabel("Add a tag").press("Enter");
    await expect.poll(getTags).toEqual([...tags, "seen"]);
    await panel.getByRole("button", { name: "Remove tag seen" }).click();
    await expect.poll(getTags).toEqual(tags);
    await panel.getByRole("button", { name: "Close" }).click();
  });

  await test.step("downloads both assets as a ZIP with their bytes", async () => {
    await tile(page, "again.png").focus();
    await page.keyboard.press("x");
    await page.keyboard.press("Shift+ArrowRight");
    const archive = page.waitForEvent("download");
    await page.getByRole("region", { name: "Selected rows" }).getByRole("button", { name: "Download ZIP" }).click();
    const getChecksums = (contents: Iterable<readonly [string, Buffer]>) =>
      [...contents].map(([name, content]) => `${name} ${sha256(content)}`).sort();
    expect(getChecksums(readZip(readFileSync(await (await archive).path())))).toEqual(
      getChecksums(files.assets.map((asset) => [asset.name, asset.bytes] as const)),
    );
    // Features that the server doesn't have cause no error in the browser's log.
    expect(errors).toEqual([]);
  });

  await page.goto(`${desk.url}/files?connection=${connection}`);
  const file = createRandomFile("a b 100% ü.bin", 70_000);
  await page.getByTestId("user-files").setInputFiles([toFilePayload(file)]);
  await expect(page.getByRole("link", { name: file.name })).toBeVisible();
  expect(sha256(files.userdata.get(file.name) ?? Buffer.alloc(0))).toBe(sha256(file.bytes));

  await page.goto(`${desk.url}/run?connection=${connection}`);
  await dropFile(page.getByText("Drop a workflow file here"), readSample("02-poster-from-photo"));
  await dropFile(page.getByRole("img", { name: "Image of Photo" }), picture);
  const nameField = page.getByRole("textbox", { name: "Image name" });
  await expect(nameField).toHaveValue(picture.name);
  expect(sha256(files.pictures.get(`input/${picture.name}`) ?? Buffer.alloc(0))).toBe(sha256(picture.bytes));
  await page.getByRole("button", { name: "Draw a mask" }).click();
  const form = page.getByRole("form", { name: "Exact rectangle" });
  for (const [label, value] of Object.entries({ Left: 0, Top: 20, Width: 90, Height: 5 })) await form.getByLabel(label).fill(String(value));
  await form.getByRole("button", { name: "Paint rectangle" }).click();
  await page.getByRole("button", { name: "Save mask" }).click();
  await expect(nameField).toHaveValue(/^clipspace-mask-/);
  const masked = files.pictures.get(`input/${await nameField.inputValue()}`) ?? Buffer.alloc(0);
  const pixels = await sharp(picture.bytes).ensureAlpha().raw().toBuffer();
  for (let index = 20 * 90; index < 25 * 90; index++) pixels[index * 4 + 3] = 0;
  expect(sha256(await sharp(masked).raw().toBuffer())).toBe(sha256(pixels));
  await server.close();
});
