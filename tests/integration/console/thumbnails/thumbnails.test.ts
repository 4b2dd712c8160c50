// The thumbnail route: generated and cached images.
import sharp from "sharp";
import { expect, test } from "vitest";
import { createConnectionClient } from "@/tests/support/connection-client";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { readImage, startThumbnailHarness } from "./thumbnail-harness";

const fixture = await startThumbnailHarness();

test("creates a WebP of the requested edge once and serves it from disk", async () => {
  const name = `${"d".repeat(64)}.png`;
  fixture.files.set(name, { type: "image/png", bytes: fixture.png });
  const before = fixture.service.requests.length;
  const countRequests = () => fixture.service.requests.length - before;
  const responses = await Promise.all(Array.from({ length: 8 }, () => fixture.requestThumbnail(`filename=${name}&edge=256`)));
  expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
  const thumbnail = await readImage(responses[0] ?? Response.error());
  expect(await thumbnail.metadata()).toMatchObject({ format: "webp", width: 256, height: 128 });
  expect(countRequests()).toBe(1);
  await fixture.requestThumbnail(`filename=${name}&edge=256`);
  expect(countRequests()).toBe(1);
  await fixture.requestThumbnail(`filename=${name}&edge=128`);
  expect(countRequests()).toBe(2);
});

test("creates previews of TIFF and AVIF files of every layout", async () => {
  const [width, height] = [120, 60];
  const noise = Buffer.from(Array.from({ length: width * height * 3 }, (_, index) => (index * 7919) % 251));
  const createImage = () => sharp(noise, { raw: { width, height, channels: 3 } });
  const tiff = await createImage().tiff({ compression: "none" }).toBuffer();
  expect(tiff.readUInt32LE(4)).toBeGreaterThan(5000);
  const bigTiff = await createImage().tiff({ compression: "none", bigtiff: true }).toBuffer();
  expect(bigTiff.subarray(0, 4).toString("latin1")).toBe("II+\0");
  const avif = await createImage().avif({ effort: 0 }).toBuffer();
  avif.write("mif1", 8, "latin1");
  for (const [name, bytes] of Object.entries({ tiff, bigTiff, avif })) {
    fixture.files.set(name, { type: "application/octet-stream", bytes });
    const response = await fixture.requestThumbnail(`filename=${name}&edge=128`);
    expect([name, response.status]).toEqual([name, 200]);
    expect(await (await readImage(response)).metadata()).toMatchObject({ format: "webp", width, height });
  }
});

test("shows the current file when a local server reuses a name", async () => {
  const getColour = async () => {
    const image = await readImage(await fixture.requestThumbnail("filename=photo.png&type=input&edge=128"));
    return ((await image.raw().toBuffer())[2] ?? 0) > 128 ? "blue" : "red";
  };
  fixture.files.set("photo.png", { type: "image/png", bytes: fixture.png });
  expect(await getColour()).toBe("red");
  const blue = sharp({ create: { width: 800, height: 400, channels: 3, background: "blue" } });
  fixture.files.set("photo.png", { type: "image/png", bytes: await blue.png().toBuffer() });
  expect(await getColour()).toBe("blue");
});

test("crops a very long image sharply when the service shrinks it", async () => {
  const banner = await sharp({ create: { width: 4000, height: 200, channels: 3, background: "red" } })
    .composite([{ input: { create: { width: 200, height: 200, channels: 3, background: "blue" } }, left: 1900, top: 0 }])
    .png()
    .toBuffer();
  const { server, requestThumbnail } = await fixture.connect(async ({ url }, response) => {
    const edge = Number(new URL(url, "http://x").searchParams.get("res") ?? 4000);
    const bytes = await sharp(banner).resize({ width: edge, height: edge, fit: "inside" }).png().toBuffer();
    response.writeHead(200, { "content-type": "image/png" }).end(bytes);
  });
  const requestBanner = async (query: string) => readImage(await requestThumbnail(`filename=banner.png&${query}`));
  expect(await (await requestBanner("edge=256")).metadata()).toMatchObject({ width: 256, height: 13 });
  const croppedImage = await requestBanner("edge=256&fit=fill");
  expect(await croppedImage.metadata()).toMatchObject({ format: "webp", width: 256, height: 128 });
  const pixel = croppedImage.extract({ left: 128, top: 64, width: 1, height: 1 }).removeAlpha().raw();
  expect([...(await pixel.toBuffer())].map((value) => value > 128)).toEqual([false, false, true]);
  // The fitted thumbnail uses the shrunk image. The cropped one also needs the original.
  expect(server.requests.map(({ url }) => new URL(url, "http://x").searchParams.get("res"))).toEqual(["256", "256", null]);
});

test("returns 304 for unchanged thumbnails and marks hashed ones as immutable", async () => {
  const name = `${"a".repeat(64)}.png`;
  fixture.files.set(name, { type: "image/png", bytes: fixture.png });
  const first = await fixture.requestThumbnail(`filename=${name}&edge=128`);
  expect(first.headers.get("cache-control")).toContain("immutable");
  const etag = first.headers.get("etag") ?? "";
  // A proxy that compresses responses weakens the ETag.
  for (const condition of [etag, `"other", W/${etag}`]) {
    const response = await fixture.requestThumbnail(`filename=${name}&edge=128`, { headers: { "if-none-match": condition } });
    expect([response.status, await response.text()]).toEqual([304, ""]);
  }
});

test("caches a versioned asset permanently and revalidates an unversioned one", async () => {
  fixture.files.set("/shown/v.png", { type: "image/png", bytes: fixture.png });
  fixture.previews.set("v", "/shown/v.png");
  const countRequests = () => fixture.service.requests.filter(({ url }) => url === "/shown/v.png").length;
  const response = await fixture.requestThumbnail("asset=v&edge=128&version=blake3:1");
  expect([response.headers.get("cache-control"), countRequests()]).toEqual(["private, max-age=31536000, immutable", 1]);
  await fixture.requestThumbnail("asset=v&edge=128&version=blake3:1");
  expect(countRequests()).toBe(1);
  await fixture.requestThumbnail("asset=v&edge=128&version=blake3:2");
  expect(countRequests()).toBe(2);
  expect((await fixture.requestThumbnail("asset=v&edge=128")).headers.get("cache-control")).toBe("private, no-cache");
});

test("creates thumbnails of the embedded service's images", async () => {
  const { send, getJson } = createConnectionClient(fixture.harness, "embedded");
  const { assets } = await getJson("/api/assets?include_tags=input");
  const response = await send(`/api/console/thumbnail?asset=${assets[0].id}&edge=256`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/webp"]);
});

test("shrinks images locally when the service rejects them as too large", async () => {
  const { requestThumbnail } = await fixture.connect(({ url }, response) => {
    if (new URL(url, "http://x").searchParams.has("res")) return sendJsonResponse(response, { code: "TOO_LARGE", message: "no" }, 422);
    response.writeHead(200, { "content-type": "image/png" }).end(fixture.png);
  });
  const thumbnail = await readImage(await requestThumbnail("filename=x&edge=128"));
  expect(await thumbnail.metadata()).toMatchObject({ format: "webp", width: 128 });
});

test("finds a preview with and without the service's path in its URL", async () => {
  const previews: Record<string, string> = { without: "/made/one.png", written: "/below/made/one.png" };
  const service = await openTestServer(({ url }, response) => {
    if (url === "/below/made/one.png") return void response.writeHead(200, { "content-type": "image/png" }).end(fixture.png);
    const id = url.match(/^\/below\/api\/assets\/(\w+)$/)?.[1];
    if (id === undefined) return sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
    return sendJsonResponse(response, { id, name: id, mime_type: "application/x", preview_url: previews[id] });
  });
  const { send } = createConnectionClient(fixture.harness, await fixture.harness.connect(`${service.url}/below`, "sk-secret-key"));
  for (const asset of Object.keys(previews))
    expect([asset, (await send(`/api/console/thumbnail?asset=${asset}&edge=128`)).status]).toEqual([asset, 200]);
});
