// Assets of other services: one with the core operations only, and a local server.
import { readFileSync } from "node:fs";
import { type Page } from "@playwright/test";
import sharp from "sharp";
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";
import { readZip } from "@/tests/support/read-zip";
import { expectAccessible } from "./support/accessible";
import { saveConnection } from "./support/connections";
import { startCoreOnlyService } from "./support/core-only";
import { createPhoto, dropFile, readSample } from "./support/files";
import { expect, test } from "./support/test";
import { sha256 } from "./support/uploads";

/** Collects the errors in the browser's console from now on. */
function collectErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && errors.push(`${message.text()} ${message.location().url}`)));
  return errors;
}
/** One second of silence: 8000 samples of 8 bits. */
const silentWav = (() => {
  const head = Buffer.alloc(44);
  head.write("RIFF");
  head.writeUInt32LE(36 + 8000, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  for (const [at, value] of [1, 1].entries()) head.writeUInt16LE(value, 20 + at * 2);
  for (const [at, value] of [8000, 8000].entries()) head.writeUInt32LE(value, 24 + at * 4);
  for (const [at, value] of [1, 8].entries()) head.writeUInt16LE(value, 32 + at * 2);
  head.write("data", 36);
  head.writeUInt32LE(8000, 40);
  return Buffer.concat([head, Buffer.alloc(8000, 128)]);
})();
const tile = (page: Page, name: string) => page.getByRole("list", { name: "Assets" }).getByRole("link", { name });

test("lists, filters, tags and renames assets on a service with the core only", async ({ signedIn: page, desk, service }) => {
  const core = await startCoreOnlyService(service.url);
  const connection = await saveConnection(page, desk, { name: "Core only", baseUrl: core.url, key: service.key });
  const { bytes } = await createPhoto({ r: 20, g: 90, b: 200 });
  for (const name of ["core_1.png", "core_2.png"]) {
    const response = await page.request.post(`${desk.url}/api/assets?connection=${connection}`, {
      headers: { origin: desk.url },
      multipart: { tags: '["core"]', name, file: { name, mimeType: "image/png", buffer: Buffer.concat([bytes, Buffer.from(name)]) } },
    });
    expect(response.ok(), await response.text()).toBe(true);
  }
  const errors = collectErrors(page);
  await page.goto(`${desk.url}/assets?connection=${connection}&include_public=false`);
  await expect(tile(page, "core_1.png")).toBeVisible();
  // The filter lists only tags seen on assets, since the service has no tag list.
  await page.getByRole("button", { name: "Filter by tags" }).click();
  await page.getByRole("button", { name: "No assets with core" }).click();
  await page.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText("No assets match")).toBeVisible();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await expect(tile(page, "core_2.png")).toBeVisible();
  // Features that the service doesn't have cause no error in the browser's log.
  expect(errors).toEqual([]);
  await tile(page, "core_2.png").click();
  const panel = page.getByRole("complementary", { name: "Asset core_2.png" });
  await panel.getByLabel("Add a tag").fill("seen");
  await panel.getByLabel("Add a tag").press("Enter");
  await expect(panel.getByRole("link", { name: "seen", exact: true })).toBeVisible();
  await expect(panel.getByText("This service can add tags, but cannot remove tags, edit assets or delete them.")).toBeVisible();
  for (const name of ["Delete", "Edit", "Remove tag seen"]) await expect(panel.getByRole("button", { name })).toBeHidden();
  await panel.getByRole("button", { name: "Find copies" }).click();
  await expect(panel.getByText("no other asset")).toBeVisible();
  // The service doesn't serve files, so the page offers no download.
  await expect(panel.getByText("Files cannot be downloaded from this service.")).toBeVisible();
  await expect(panel.getByRole("link", { name: "Download" })).toBeHidden();
  await expectAccessible(page);
  await panel.getByRole("button", { name: "Close" }).click();
  await tile(page, "core_2.png").focus();
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+ArrowRight");
  const bar = page.getByRole("region", { name: "Selected rows" });
  await expect(bar.getByText("2 selected")).toBeVisible();
  await expect(bar.getByRole("button", { name: "Add tags" })).toBeVisible();
  for (const name of ["Delete", "Remove tags", "Download ZIP"]) await expect(bar.getByRole("button", { name })).toBeHidden();
  await core.stop();
});

test("shows, tags, downloads and masks assets of a local server", async ({ signedIn: page, desk }) => {
  const files = createLocalFiles();
  const server = await startLocalServer(files);
  const connection = await saveConnection(page, desk, { name: "Local with assets", baseUrl: server.url });
  const { bytes } = await createPhoto({ r: 200, g: 90, b: 20 });
  for (const name of ["local 1.png", "local 2.png"]) {
    const response = await page.request.post(`${desk.url}/api/assets?connection=${connection}`, {
      headers: { origin: desk.url },
      multipart: { tags: '["input"]', name, file: { name, mimeType: "image/png", buffer: Buffer.concat([bytes, Buffer.from(name)]) } },
    });
    expect(response.ok(), await response.text()).toBe(true);
  }
  const errors = collectErrors(page);
  await page.goto(`${desk.url}/assets?connection=${connection}`);
  // Features that the service doesn't have are not offered: filtering by metadata and downloading from URLs.
  await expect(page.getByRole("button", { name: "Filter by tags" })).toBeVisible();
  await page.getByRole("button", { name: "Filters", exact: true }).click();
  await expect(page.getByRole("checkbox", { name: "Include shared" })).toBeVisible();
  await expect(page.getByRole("group", { name: "Metadata" })).toBeHidden();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByRole("menuitem", { name: "Upload files…" })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Download from URL…" })).toBeHidden();
  await page.keyboard.press("Escape");
  await tile(page, "local 2.png").click();
  const panel = page.getByRole("complementary", { name: "Asset local 2.png" });
  await panel.getByLabel("Add a tag").fill("seen");
  await panel.getByLabel("Add a tag").press("Enter");
  await expect.poll(() => files.assets.map(({ tags }) => tags)).toEqual([["input"], ["input", "seen"]]);
  await panel.getByRole("button", { name: "Remove tag seen" }).click();
  await expect.poll(() => files.assets[1]?.tags).toEqual(["input"]);
  await panel.getByRole("button", { name: "Close" }).click();
  await tile(page, "local 2.png").focus();
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+ArrowRight");
  const archive = page.waitForEvent("download");
  await page.getByRole("region", { name: "Selected rows" }).getByRole("button", { name: "Download ZIP" }).click();
  const getChecksums = (contents: Iterable<readonly [string, Buffer]>) =>
    [...contents].map(([name, content]) => `${name} ${sha256(content)}`).sort();
  expect(getChecksums(readZip(readFileSync(await (await archive).path())))).toEqual(
    getChecksums(files.assets.map((asset) => [asset.name, asset.bytes] as const)),
  );
  expect(errors).toEqual([]);
  await page.keyboard.press("Escape");
  await tile(page, "local 1.png").click();
  await page.getByRole("complementary", { name: "Asset local 1.png" }).getByText("Draw mask").click();
  await page.getByRole("button", { name: "Paint rectangle" }).click();
  await page.getByRole("button", { name: "Save mask" }).click();
  await expect.poll(() => [...files.pictures.keys()].filter((name) => name.startsWith("input/clipspace-mask-"))).toHaveLength(1);
  await server.close();
});

test("shows, downloads and loads files from a local server's folders", async ({ signedIn: page, desk }) => {
  const files = createLocalFiles();
  const server = await startLocalServer(files);
  const connection = await saveConnection(page, desk, { name: "Local folders", baseUrl: server.url });
  const { bytes } = await createPhoto({ r: 20, g: 160, b: 90 });
  files.writeOutput("output/video/video_00001_.mp4", Buffer.from("not really a video"), "video/mp4");
  files.writeOutput("output/sets/blue/leaf.png", bytes, "image/png");
  files.writeOutput("output/audio/tone.wav", silentWav, "audio/wav");
  files.writeOutput("temp/temporary.png", bytes, "image/png");
  const errors = collectErrors(page);
  await page.goto(`${desk.url}/assets?connection=${connection}`);
  for (const name of ["leaf.png", "temporary.png"]) {
    const picture = tile(page, name).locator("xpath=ancestor-or-self::*[.//img][1]").locator("img").first();
    await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(0);
  }
  await tile(page, "video_00001_.mp4").click();
  const videoPanel = page.getByRole("complementary", { name: "Asset video_00001_.mp4" });
  const download = page.waitForEvent("download");
  await videoPanel.getByRole("link", { name: "Download" }).click();
  expect(readFileSync(await (await download).path()).toString()).toBe("not really a video");
  await videoPanel.getByRole("button", { name: "Delete" }).click();
  await expect(videoPanel.getByText("Its file stays on the server's disk")).toBeVisible();
  await videoPanel.getByRole("button", { name: "Undo" }).click();
  expect(errors).toEqual([]);

  await videoPanel.getByRole("button", { name: "Close" }).click();
  await test.step("plays audio from its folder", async () => {
    await tile(page, "tone.wav").click();
    const panel = page.getByRole("complementary", { name: "Asset tone.wav" });
    await expect.poll(() => panel.locator("audio").evaluate((audio: HTMLAudioElement) => audio.duration)).toBeCloseTo(1, 1);
    await panel.getByRole("button", { name: "Close" }).click();
  });
  await test.step("draws a mask over the file in its folder", async () => {
    await tile(page, "leaf.png").click();
    await page.getByRole("complementary", { name: "Asset leaf.png" }).getByText("Draw mask").click();
    const rectangle = page.getByRole("form", { name: "Exact rectangle" });
    await rectangle.getByLabel("Width").fill("100");
    await rectangle.getByRole("button", { name: "Paint rectangle" }).click();
    await page.getByRole("button", { name: "Save mask" }).click();
    const masks = () => [...files.pictures].filter(([name]) => name.startsWith("input/clipspace-mask-"));
    await expect.poll(() => masks().length).toBe(1);
    const maskBody = server.requests.find(({ url }) => url === "/api/upload/mask")?.body.toString("latin1") ?? "";
    const original = /name="original_ref"\r\n\r\n(.*)\r\n/.exec(maskBody)?.[1] ?? "";
    expect(JSON.parse(original)).toEqual({ filename: "leaf.png", subfolder: "sets/blue", type: "output" });
    const { channels } = await sharp(masks()[0]?.[1]).stats();
    expect([channels[3]?.min, channels[3]?.max]).toEqual([0, 255]);
  });

  await page.goto(`${desk.url}/run?connection=${connection}`);
  await dropFile(page.getByText("Drop a workflow file here"), readSample("02-poster-from-photo"));
  await page.getByRole("button", { name: "From assets" }).first().click();
  await page.getByRole("dialog").getByText("leaf.png").first().click();
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect.poll(() => server.state.pending.length).toBe(1);
  expect(JSON.stringify(server.state.pending[0]?.[2])).toContain('"sets/blue/leaf.png [output]"');
  await server.close();
});
