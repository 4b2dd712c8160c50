// Assets of other services: one with the core operations only, and a local server.
import { readFileSync } from "node:fs";
import { type Page } from "@playwright/test";
import sharp from "sharp";
import { coreOperations } from "@/lib/contract/operations";
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { createPhoto, dropFile, readSample } from "./support/files";
import { type FakeService, forwardRequest, startFakeService } from "./support/service";
import { collectErrors, saveConnection } from "./support/steps";
import { expect, test } from "./support/test";

const corePatterns = coreOperations.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

/** Starts a core-only service: a proxy in front of a real one that responds to every extension with 404. */
function startCoreOnlyService(serviceUrl: string): Promise<FakeService> {
  return startFakeService((request, response) => {
    const { method } = request;
    const { pathname } = new URL(request.url ?? "/", serviceUrl);
    if (!corePatterns.some((operation) => operation.method === method && operation.pattern.test(pathname)))
      return void response.writeHead(404).end("Not Found");
    // Keep the Host header, so that the service's preview URLs point to this proxy.
    forwardRequest(serviceUrl, request, response);
  });
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
  await expect(panel.getByText("This service can add tags, but can't remove tags, edit assets or delete them.")).toBeVisible();
  for (const name of ["Delete", "Edit", "Remove tag seen"]) await expect(panel.getByRole("button", { name })).toBeHidden();
  await panel.getByRole("button", { name: "Find duplicates" }).click();
  await expect(panel.getByText("no other asset")).toBeVisible();
  // The service doesn't serve files, so the page offers no download.
  await expect(panel.getByText("Files can't be downloaded from this service.")).toBeVisible();
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
