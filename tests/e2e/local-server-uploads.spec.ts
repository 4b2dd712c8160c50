// Uploads to a local server, compared byte for byte.
import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";
import { saveConnection } from "./support/connections";
import { dropFile, readSample } from "./support/files";
import { expect, test } from "./support/test";
import { confirmAdd, createRandomFile, getTray, sha256, toFilePayload } from "./support/uploads";

test("uploads files, masked pictures and user data byte for byte to a local server", async ({ signedIn: page, desk }) => {
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

  await page.goto(`${desk.url}/files?connection=${connection}`);
  const file = createRandomFile("a b 100% ü.bin", 70_000);
  await page.getByTestId("user-files").setInputFiles([toFilePayload(file)]);
  await expect(page.getByRole("link", { name: file.name })).toBeVisible();
  expect(sha256(files.userdata.get(file.name) ?? Buffer.alloc(0))).toBe(sha256(file.bytes));

  await page.goto(`${desk.url}/run?connection=${connection}`);
  await dropFile(page.getByText("Drop a workflow file here"), readSample("02-poster-from-photo"));
  await dropFile(page.getByRole("img", { name: "Picture of Photo" }), picture);
  const nameField = page.getByRole("textbox", { name: "Picture name" });
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
