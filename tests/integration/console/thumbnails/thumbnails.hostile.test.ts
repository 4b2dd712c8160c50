// The thumbnail route with expensive or sensitive content, services that hang, and clients that disconnect.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { expect, it, test } from "vitest";
import { readPixels } from "@/lib/service/images/decode";
import { readImageSize } from "@/lib/shared/image-size";
import { createConnectionClient } from "@/tests/support/connection-client";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { startThumbnailHarness } from "./thumbnail-harness";

const fixture = await startThumbnailHarness();

/** Starts a service that responds only on demand. */
async function startPausedService() {
  const pending: (() => void)[] = [];
  let abortedCount = 0;
  const { requestThumbnail } = await fixture.connect((_, response) => {
    response.once("close", () => (abortedCount += response.writableFinished ? 0 : 1));
    pending.push(() => void response.writeHead(200, { "content-type": "image/png" }).end(fixture.png));
  });
  return {
    pending,
    getAbortedCount: () => abortedCount,
    request: (file: string, signal?: AbortSignal) => requestThumbnail(`filename=${file}&edge=256`, { signal }),
  };
}

async function uploadImage(name: string, bytes: Buffer): Promise<Buffer> {
  fixture.files.set(name, { type: "image/webp", bytes });
  const response = await fixture.requestThumbnail(`filename=${name}&edge=256`);
  expect([name, response.status]).toEqual([name, 200]);
  return Buffer.from(await response.arrayBuffer());
}

test("keeps small plain previews and redraws animated, geotagged or large ones", async () => {
  const createImage = () => sharp({ create: { width: 200, height: 100, channels: 3, background: "red" } });
  const smallImage = await createImage().webp().toBuffer();
  expect((await uploadImage("small", smallImage)).equals(smallImage)).toBe(true);

  const imageWithExif = await createImage()
    .withExif({ IFD3: { GPSLatitude: "51/1 30/1 0/1" }, IFD0: { Copyright: "private note" } })
    .webp()
    .toBuffer();
  expect(imageWithExif.includes("private note")).toBe(true);
  const strippedImage = await uploadImage("with-exif", imageWithExif);
  expect([(await sharp(strippedImage).metadata()).exif, strippedImage.includes("private note")]).toEqual([undefined, false]);

  const frames = Buffer.concat(Array.from({ length: 3 }, (_, at) => Buffer.alloc(200 * 100 * 3, at * 80)));
  const animation = await sharp(frames, { raw: { width: 200, height: 300, channels: 3, pageHeight: 100 } })
    .webp()
    .toBuffer();
  expect((await sharp(animation).metadata()).pages).toBe(3);
  expect((await sharp(await uploadImage("moving", animation)).metadata()).pages).toBeUndefined();

  const imageWithTrailer = Buffer.concat([smallImage, Buffer.from("trailing data")]);
  expect((await uploadImage("behind", imageWithTrailer)).includes("trailing")).toBe(false);
  const largeImage = Buffer.concat([smallImage, Buffer.alloc(1024 ** 2)]);
  expect((await uploadImage("heavy", largeImage)).length).toBeLessThan(1000);
});

test("never decodes an SVG, not even to read its size", async () => {
  const bytes = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg">${'<rect width="1" height="1" fill="url(#a)"/>'.repeat(300_000)}</svg>`,
  );
  fixture.files.set("heavy.svg", { type: "image/png", bytes });
  const maxRssBefore = process.resourceUsage().maxRSS;
  expect((await fixture.requestThumbnail("filename=heavy.svg&edge=128")).status).toBe(204);
  expect((process.resourceUsage().maxRSS - maxRssBefore) / 1024).toBeLessThan(150);
});

test("delays only its own thumbnails when a service hangs", async () => {
  const pausedService = await startPausedService();
  const controller = new AbortController();
  const requests = Array.from({ length: 24 }, (_, index) => pausedService.request(`${index}.png`, controller.signal));
  await until("sixteen requests arrive", () => pausedService.pending.length === 16);
  fixture.files.set("elsewhere.png", { type: "image/png", bytes: fixture.png });
  expect((await fixture.requestThumbnail("filename=elsewhere.png&edge=128")).status).toBe(200);
  expect(pausedService.getAbortedCount()).toBe(0);
  controller.abort();
  await Promise.all(requests);
  // Abandoned requests were aborted, and those still queued were never sent.
  await until("sixteen requests are aborted", () => pausedService.getAbortedCount() === 16);
  expect(pausedService.pending).toHaveLength(16);
});

test("fetches once for many requests and aborts with the last one", async () => {
  const { pending, getAbortedCount, request } = await startPausedService();
  const controllers = Array.from({ length: 20 }, () => new AbortController());
  const requests = controllers.map(({ signal }) => request("one.png", signal));
  await until("the request arrives", () => pending.length === 1);
  for (const controller of controllers.slice(0, 8)) controller.abort();
  pending[0]?.();
  expect((await Promise.all(requests.slice(8))).map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect([pending.length, getAbortedCount()]).toEqual([1, 0]);

  const loneController = new AbortController();
  const canceledRequest = request("two.png", loneController.signal);
  await until("the second request arrives", () => pending.length === 2);
  loneController.abort();
  await until("the request is aborted", () => getAbortedCount() === 1);
  expect((await canceledRequest).ok).toBe(false);
  const secondResponse = request("two.png");
  await until("the request is sent again", () => pending.length === 3);
  pending[2]?.();
  expect((await secondResponse).status).toBe(200);
});

test("isolates cached previews by connection, key and session", async () => {
  const name = `${"c".repeat(64)}.png`;
  fixture.files.set(name, { type: "image/png", bytes: fixture.png });
  expect((await fixture.requestThumbnail(`filename=${name}&edge=256`)).status).toBe(200);
  const getSentKeys = () => fixture.service.requests.filter(({ url }) => url.includes(name)).map(({ headers }) => headers["x-api-key"]);
  expect(getSentKeys()).toEqual(["sk-secret-key"]);
  const { send } = createConnectionClient(fixture.harness, await fixture.harness.connect(fixture.service.url, "sk-other-key"));
  const path = `/api/console/thumbnail?filename=${name}&edge=256`;
  fixture.files.delete(name);
  expect((await send(path)).status).toBe(404);
  expect(getSentKeys()).toEqual(["sk-secret-key", "sk-other-key"]);
  const response = await send(path, { as: undefined });
  expect([response.status, response.headers.get("content-type")]).toEqual([401, "application/json"]);
  expect(getSentKeys()).toHaveLength(2);
});

const folder = createTemporaryFolder();

/** Creates a landscape image with four quarters of different grey. */
const createQuartersImage = (orientation: number) => {
  const pixels = Buffer.alloc(32 * 16 * 3);
  for (let at = 0; at < pixels.length; at += 3) {
    const [x, y] = [(at / 3) % 32, Math.floor(at / 3 / 32)];
    pixels.fill(20 + (x < 16 ? 0 : 70) + (y < 8 ? 0 : 140), at, at + 3);
  }
  return sharp(pixels, { raw: { width: 32, height: 16, channels: 3 } }).withMetadata({ orientation });
};

/** Returns the size and the rounded value in the middle of each quarter. */
async function sampleQuarters(bytes: Buffer | Uint8Array): Promise<number[]> {
  const { data, info } = await sharp(bytes).removeAlpha().toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  const samplePixel = (x: number, y: number) => {
    const offset = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    return Math.round((data[offset] ?? 0) / 35);
  };
  return [info.width, info.height, samplePixel(0.25, 0.25), samplePixel(0.75, 0.25), samplePixel(0.25, 0.75), samplePixel(0.75, 0.75)];
}

const encoders = {
  webp: (orientation: number) => createQuartersImage(orientation).webp({ lossless: true }),
  png: (orientation: number) => createQuartersImage(orientation).png(),
  jpeg: (orientation: number) => createQuartersImage(orientation).jpeg({ quality: 95 }),
  tiff: (orientation: number) => createQuartersImage(orientation).tiff(),
  avif: (orientation: number) => createQuartersImage(orientation).avif({ quality: 90 }),
};
/** All orientations of JPEG files, and for other kinds an upright and a mirrored and rotated one. */
const cases = Object.keys(encoders).flatMap((kind) =>
  (kind === "jpeg" ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 7]).map((orientation) => [kind, orientation] as const),
);

it.each(cases)("shows a %s of orientation %i alike in previews, thumbnails and nodes", async (kind, orientation) => {
  const encode = Object.entries(encoders).find(([name]) => name === kind)?.[1];
  const bytes = await (encode ?? encoders.png)(orientation).toBuffer();
  const expected = await sampleQuarters(await sharp(bytes).autoOrient().png().toBuffer());
  const name = `${kind}-${orientation}`;
  fixture.files.set(name, { type: `image/${kind}`, bytes });
  await writeFile(join(folder, name), bytes);

  const readBytes = async (query: string) => Buffer.from(await (await fixture.requestThumbnail(query)).arrayBuffer());
  const buffer = await readBytes(`whole=true&filename=${name}`);
  // Browsers rotate JPEGs automatically and show other formats as stored.
  expect(await sampleQuarters(kind === "jpeg" ? await sharp(buffer).autoOrient().png().toBuffer() : buffer)).toEqual(expected);
  if (kind === "jpeg" || orientation === 1) expect(kind === "tiff" || buffer.equals(bytes)).toBe(true);
  expect(await sampleQuarters(await readBytes(`filename=${name}&edge=128`))).toEqual(expected);

  const loaded = await readPixels(join(folder, name), () => undefined);
  const raw = { width: loaded.size.width, height: loaded.size.height, channels: 3 as const };
  expect(await sampleQuarters(await sharp(loaded.data, { raw }).png().toBuffer())).toEqual(expected);
  if (kind !== "tiff" && kind !== "avif") expect(await readImageSize(bytes)).toEqual({ width: expected[0], height: expected[1] });
});

it("keeps the bytes and type of an ordinary image", async () => {
  fixture.files.set("plain.png", { type: "image/png", bytes: fixture.png });
  const response = await fixture.requestThumbnail("whole=true&filename=plain.png");
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(Buffer.from(await response.arrayBuffer()).equals(fixture.png)).toBe(true);
  expect((await fixture.requestThumbnail("whole=true&filename=none.png")).status).toBe(404);
});

it("never sends an oversized image and reports its size", async () => {
  const large = Buffer.from(fixture.png);
  large.writeUInt32BE(20_000, 16);
  large.writeUInt32BE(20_000, 20);
  const bytes = Buffer.concat([large, Buffer.alloc(1024 ** 2)]);
  fixture.files.set("large.png", { type: "image/png", bytes });
  fixture.files.set("large.avif", { type: "image/avif", bytes: await readFile("tests/fixtures/60-megapixels.avif") });
  for (const [name, size] of [
    ["large.png", "20000x20000"],
    ["large.avif", "10000x6000"],
  ])
    for (const query of [`whole=true&filename=${name}`, `edge=1024&filename=${name}`]) {
      const response = await fixture.requestThumbnail(query);
      const result = [query, response.status, response.headers.get("x-too-large"), await response.text()];
      expect(result).toEqual([query, 204, size, ""]);
    }
});

it("creates no preview of whole media and forwards preview parameters", async () => {
  for (const type of ["video/mp4", "audio/wav"]) {
    fixture.files.set("media", { type, bytes: Buffer.alloc(1024) });
    expect([type, (await fixture.requestThumbnail("filename=media&edge=128")).status]).toEqual([type, 204]);
  }
  fixture.files.set("plain.png", { type: "image/png", bytes: fixture.png });
  fixture.service.requests.splice(0);
  const query = `connection=${fixture.connection}&filename=plain.png&preview=${encodeURIComponent("webp;90")}&channel=rgb`;
  expect((await fixture.harness.request(`/api/view?${query}`, { as: "viewer" })).status).toBe(200);
  const [params] = fixture.service.requests.map(({ url }) => new URL(url, "http://x").searchParams);
  expect([params?.get("preview"), params?.get("channel")]).toEqual(["webp;90", "rgb"]);
});
