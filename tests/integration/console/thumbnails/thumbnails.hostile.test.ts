// The thumbnail route with content that is expensive or reveals too much, services that hang, and clients that disconnect.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { expect, it, test } from "vitest";
import { readPixels } from "@/lib/service/images/decode";
import { readPictureSize } from "@/lib/shared/picture-size";
import { openTestServer } from "@/tests/support/servers";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { startThumbnailWorld } from "./thumbnail-world";

const world = await startThumbnailWorld();

const requestThumbnail = (connection: string, file: string, options?: { signal: AbortSignal }) =>
  world.harness.request(`/api/console/thumbnail?connection=${connection}&filename=${file}&edge=256`, {
    as: "viewer",
    signal: options?.signal,
  });

/** Responds only on demand. */
async function startHolding() {
  const pending: (() => void)[] = [];
  let left = 0;
  const server = await openTestServer((_, response) => {
    response.once("close", () => (left += response.writableFinished ? 0 : 1));
    pending.push(() => void response.writeHead(200, { "content-type": "image/png" }).end(world.png));
  });
  return { ...server, pending, left: () => left, connection: await world.harness.connect(server.url, "sk-secret-key") };
}

async function uploadImage(name: string, bytes: Buffer): Promise<Buffer> {
  world.files.set(name, { type: "image/webp", bytes });
  const response = await world.ask(`filename=${name}&edge=256`);
  expect([name, response.status]).toEqual([name, 200]);
  return Buffer.from(await response.arrayBuffer());
}

test("keeps safe small previews and redraws moving, located or heavy ones", async () => {
  const picture = () => sharp({ create: { width: 200, height: 100, channels: 3, background: "red" } });
  const small = await picture().webp().toBuffer();
  expect((await uploadImage("small", small)).equals(small)).toBe(true);

  const unresponsivePicture = await picture()
    .withExif({ IFD3: { GPSLatitude: "51/1 30/1 0/1" }, IFD0: { Copyright: "a home" } })
    .webp()
    .toBuffer();
  expect(unresponsivePicture.includes("a home")).toBe(true);
  const silent = await uploadImage("told", unresponsivePicture);
  expect([(await sharp(silent).metadata()).exif, silent.includes("a home")]).toEqual([undefined, false]);

  const frames = Buffer.concat(Array.from({ length: 3 }, (_, at) => Buffer.alloc(200 * 100 * 3, at * 80)));
  const moving = await sharp(frames, { raw: { width: 200, height: 300, channels: 3, pageHeight: 100 } })
    .webp()
    .toBuffer();
  expect((await sharp(moving).metadata()).pages).toBe(3);
  expect((await sharp(await uploadImage("moving", moving)).metadata()).pages).toBeUndefined();

  const behind = Buffer.concat([small, Buffer.from("what stands behind a picture")]);
  expect((await uploadImage("behind", behind)).includes("stands behind")).toBe(false);
  const heavy = Buffer.concat([small, Buffer.alloc(1024 ** 2)]);
  expect((await uploadImage("heavy", heavy)).length).toBeLessThan(1000);
});

test("never decodes an SVG drawing, not even for its size", async () => {
  const bytes = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg">${'<rect width="1" height="1" fill="url(#a)"/>'.repeat(300_000)}</svg>`,
  );
  world.files.set("heavy.svg", { type: "image/png", bytes });
  const highestBefore = process.resourceUsage().maxRSS;
  expect((await world.ask("filename=heavy.svg&edge=128")).status).toBe(204);
  expect((process.resourceUsage().maxRSS - highestBefore) / 1024).toBeLessThan(150);
});

test("delays only its own pictures when a service hangs", async () => {
  const hanging = await startHolding();
  const controller = new AbortController();
  const waiting = Array.from({ length: 24 }, (_, at) => requestThumbnail(hanging.connection, `${at}.png`, controller));
  await until("sixteen are asked for", () => hanging.pending.length === 16);
  world.files.set("elsewhere.png", { type: "image/png", bytes: world.png });
  expect((await world.ask("filename=elsewhere.png&edge=128")).status).toBe(200);
  expect(hanging.left()).toBe(0);
  controller.abort();
  await Promise.all(waiting);
  // Abandoned requests were aborted, and those still queued were never sent.
  await until("sixteen are left", () => hanging.left() === 16);
  expect(hanging.pending).toHaveLength(16);
  await hanging.close();
});

test("fetches once for a hundred requests and aborts with the last one", async () => {
  const slow = await startHolding();
  const leaving = Array.from({ length: 100 }, () => new AbortController());
  const requests = leaving.map((each) => requestThumbnail(slow.connection, "one.png", each));
  await until("it is asked for", () => slow.pending.length === 1);
  for (const each of leaving.slice(0, 40)) each.abort();
  slow.pending[0]?.();
  expect((await Promise.all(requests.slice(40))).map(({ status }) => status)).toEqual(Array(60).fill(200));
  expect([slow.pending.length, slow.left()]).toEqual([1, 0]);

  const alone = new AbortController();
  const canceledRequest = requestThumbnail(slow.connection, "two.png", alone);
  await until("the second is asked for", () => slow.pending.length === 2);
  alone.abort();
  await until("it is left", () => slow.left() === 1);
  expect((await canceledRequest).ok).toBe(false);
  const secondResponse = requestThumbnail(slow.connection, "two.png");
  await until("it is asked for anew", () => slow.pending.length === 3);
  slow.pending[2]?.();
  expect((await secondResponse).status).toBe(200);
  await slow.close();
});

test("isolates cached previews by connection, key and session", async () => {
  const name = `${"c".repeat(64)}.png`;
  world.files.set(name, { type: "image/png", bytes: world.png });
  expect((await world.ask(`filename=${name}&edge=256`)).status).toBe(200);
  const asks = () => world.service.requests.filter(({ url }) => url.includes(name)).map(({ headers }) => headers["x-api-key"]);
  expect(asks()).toEqual(["sk-secret-key"]);
  const otherConnection = await world.harness.connect(world.service.url, "sk-other-key");
  world.files.delete(name);
  expect((await requestThumbnail(otherConnection, name)).status).toBe(404);
  expect(asks()).toEqual(["sk-secret-key", "sk-other-key"]);
  const response = await world.harness.request(`/api/console/thumbnail?connection=${otherConnection}&filename=${name}&edge=256`);
  expect([response.status, response.headers.get("content-type")]).toEqual([401, "application/json"]);
  expect(asks()).toHaveLength(2);
});

const folder = temporaryFolder();

/** Four quarters of different grey, wider than high, without noise. */
const quarters = (orientation: number) => {
  const pixels = Buffer.alloc(32 * 16 * 3);
  for (let at = 0; at < pixels.length; at += 3) {
    const [x, y] = [(at / 3) % 32, Math.floor(at / 3 / 32)];
    pixels.fill(20 + (x < 16 ? 0 : 70) + (y < 8 ? 0 : 140), at, at + 3);
  }
  return sharp(pixels, { raw: { width: 32, height: 16, channels: 3 } }).withMetadata({ orientation });
};

/** The middle of each quarter, rounded, with the size. */
async function look(bytes: Buffer | Uint8Array): Promise<number[]> {
  const { data, info } = await sharp(bytes).removeAlpha().toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => {
    const offset = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    return Math.round((data[offset] ?? 0) / 35);
  };
  return [info.width, info.height, at(0.25, 0.25), at(0.75, 0.25), at(0.25, 0.75), at(0.75, 0.75)];
}

const kinds = {
  webp: (orientation: number) => quarters(orientation).webp({ lossless: true }),
  png: (orientation: number) => quarters(orientation).png(),
  jpeg: (orientation: number) => quarters(orientation).jpeg({ quality: 95 }),
  tiff: (orientation: number) => quarters(orientation).tiff(),
  avif: (orientation: number) => quarters(orientation).avif({ quality: 90 }),
};
const cases = Object.keys(kinds).flatMap((kind) => Array.from({ length: 8 }, (_, index) => [kind, index + 1] as const));

it.each(cases)("shows a %s of orientation %i as its thumbnail and its node do", async (kind, orientation) => {
  const make = Object.entries(kinds).find(([name]) => name === kind)?.[1];
  const bytes = await (make ?? kinds.png)(orientation).toBuffer();
  const expected = await look(await sharp(bytes).autoOrient().png().toBuffer());
  const name = `${kind}-${orientation}`;
  world.files.set(name, { type: `image/${kind}`, bytes });
  await writeFile(join(folder, name), bytes);

  const buffer = Buffer.from(await (await world.ask(`whole=true&filename=${name}`)).arrayBuffer());
  // Browsers rotate a JPEG automatically, and show other pictures as stored.
  expect(await look(kind === "jpeg" ? await sharp(buffer).autoOrient().png().toBuffer() : buffer)).toEqual(expected);
  if (kind === "jpeg" || orientation === 1) expect(kind === "tiff" || buffer.equals(bytes)).toBe(true);
  expect(await look(Buffer.from(await (await world.ask(`filename=${name}&edge=128`)).arrayBuffer()))).toEqual(expected);

  const loaded = await readPixels(join(folder, name), () => undefined);
  const raw = { width: loaded.size.width, height: loaded.size.height, channels: 3 as const };
  expect(await look(await sharp(loaded.data, { raw }).png().toBuffer())).toEqual(expected);
  if (kind !== "tiff" && kind !== "avif") expect(await readPictureSize(bytes)).toEqual({ width: expected[0], height: expected[1] });
});

it("keeps the bytes of an ordinary picture, its type and its validator", async () => {
  world.files.set("plain.png", { type: "image/png", bytes: world.png });
  const response = await world.ask("whole=true&filename=plain.png");
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(Buffer.from(await response.arrayBuffer()).equals(world.png)).toBe(true);
  expect((await world.ask("whole=true&filename=none.png")).status).toBe(404);
});

it("never sends an oversized picture and reports its size", async () => {
  const large = Buffer.from(world.png);
  large.writeUInt32BE(20_000, 16);
  large.writeUInt32BE(20_000, 20);
  const bytes = Buffer.concat([large, Buffer.alloc(1024 ** 2)]);
  world.files.set("large.png", { type: "image/png", bytes });
  world.files.set("large.avif", { type: "image/avif", bytes: await readFile("tests/fixtures/60-megapixels.avif") });
  for (const query of ["whole=true", "edge=128", "edge=1024"]) {
    for (const [name, size] of [
      ["large.png", "20000x20000"],
      ["large.avif", "10000x6000"],
    ]) {
      const response = await world.ask(`${query}&filename=${name}`);
      expect([query, name, response.status, response.headers.get("x-too-large"), await response.text()]).toEqual([
        query,
        name,
        204,
        size,
        "",
      ]);
    }
  }
});

it("makes no preview of whole media and keeps a preview's encoding", async () => {
  for (const type of ["video/mp4", "audio/wav"]) {
    world.files.set("media", { type, bytes: Buffer.alloc(1024) });
    expect([type, (await world.ask("filename=media&edge=128")).status]).toEqual([type, 204]);
  }
  world.files.set("plain.png", { type: "image/png", bytes: world.png });
  world.service.requests.splice(0);
  const query = `connection=${world.connection}&filename=plain.png&preview=${encodeURIComponent("webp;90")}&channel=rgb`;
  expect((await world.harness.request(`/api/view?${query}`, { as: "viewer" })).status).toBe(200);
  const [params] = world.service.requests.map(({ url }) => new URL(url, "http://x").searchParams);
  expect([params?.get("preview"), params?.get("channel")]).toEqual(["webp;90", "rgb"]);
});
