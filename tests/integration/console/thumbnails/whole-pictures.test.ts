// Pictures that a page shows whole: upright whatever notes how they are held, and never one that is too large.
import { readFile } from "node:fs/promises";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readPixels } from "@/lib/service/images/decode";
import { pictureSizeOf } from "@/lib/shared/picture-size";
import { startThumbnailWorld } from "./thumbnail-world";

let world: Awaited<ReturnType<typeof startThumbnailWorld>>;
let folder = "";
beforeAll(async () => {
  world = await startThumbnailWorld();
  folder = await mkdtemp(join(tmpdir(), "lightdesk-whole-"));
});
afterAll(async () => {
  await world.dispose();
  await rm(folder, { recursive: true, force: true });
});

/** Four quarters of different grey, wider than high, and noise in none. */
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
    const place = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    return Math.round((data[place] ?? 0) / 35);
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

  const whole = Buffer.from(await (await world.ask(`whole=true&filename=${name}`)).arrayBuffer());
  // Browsers turn a JPEG by themselves, and show any other picture as it is stored.
  expect(await look(kind === "jpeg" ? await sharp(whole).autoOrient().png().toBuffer() : whole)).toEqual(expected);
  if (kind === "jpeg" || orientation === 1) expect(kind === "tiff" || whole.equals(bytes)).toBe(true);
  expect(await look(Buffer.from(await (await world.ask(`filename=${name}&edge=128`)).arrayBuffer()))).toEqual(expected);

  const loaded = await readPixels(join(folder, name), () => undefined);
  const raw = { width: loaded.size.width, height: loaded.size.height, channels: 3 as const };
  expect(await look(await sharp(loaded.data, { raw }).png().toBuffer())).toEqual(expected);
  if (kind !== "tiff" && kind !== "avif") expect(await pictureSizeOf(bytes)).toEqual({ width: expected[0], height: expected[1] });
});

it("keeps the bytes of an ordinary picture, its type and its validator", async () => {
  world.files.set("plain.png", { type: "image/png", bytes: world.png });
  const answer = await world.ask("whole=true&filename=plain.png");
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(Buffer.from(await answer.arrayBuffer()).equals(world.png)).toBe(true);
  expect((await world.ask("whole=true&filename=none.png")).status).toBe(404);
});

it("never sends a picture that is too large, and says how large it is", async () => {
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
      const answer = await world.ask(`${query}&filename=${name}`);
      expect([query, name, answer.status, answer.headers.get("x-too-large"), await answer.text()]).toEqual([query, name, 204, size, ""]);
    }
  }
});

it("has no thumbnail for a video or audio file that its service sends whole, and passes a preview's encoding on", async () => {
  for (const type of ["video/mp4", "audio/wav"]) {
    world.files.set("media", { type, bytes: Buffer.alloc(1024) });
    expect([type, (await world.ask("filename=media&edge=128")).status]).toEqual([type, 204]);
  }
  world.files.set("plain.png", { type: "image/png", bytes: world.png });
  world.service.seen.splice(0);
  const query = `connection=${world.connection}&filename=plain.png&preview=${encodeURIComponent("webp;90")}&channel=rgb`;
  expect((await world.harness.request(`/api/view?${query}`, { as: "viewer" })).status).toBe(200);
  const [asked] = world.service.seen.map(({ url }) => new URL(url, "http://x").searchParams);
  expect([asked?.get("preview"), asked?.get("channel")]).toEqual(["webp;90", "rgb"]);
});
