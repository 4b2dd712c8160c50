// Header checks before decoding any pixel, with real files of each kind.
import sharp, { type Sharp } from "sharp";
import { expect, it, vi } from "vitest";
import { fetchFile } from "@/components/mask/file/mask-source";
import { getMaskEncoding, mayBeTransparent } from "@/components/mask/file/open-mask";

const createImage = (channels: 3 | 4, size = 4) =>
  sharp({ create: { width: size, height: size, channels, background: { r: 200, g: 40, b: 90, alpha: 0.5 } } });
const toBlob = async (sharp: Sharp) => new Blob([new Uint8Array(await sharp.toBuffer())]);

it.each<[string, () => Sharp, boolean]>([
  ["a JPEG", () => createImage(3).jpeg(), false],
  ["an RGB PNG", () => createImage(3).png(), false],
  ["an RGB PNG with a color profile", () => createImage(3).png().withIccProfile("p3"), false],
  ["a palette PNG without a transparent entry", () => createImage(3).png({ palette: true }), false],
  ["a palette PNG with a transparent entry", () => createImage(4).png({ palette: true }), true],
  ["an RGBA PNG", () => createImage(4).png(), true],
  ["a grey PNG with alpha", () => createImage(4).toColourspace("b-w").png(), true],
  ["a 16-bit PNG with alpha", () => createImage(4).toColourspace("rgb16").png(), true],
  ["a WebP, which is not inspected", () => createImage(3).webp(), true],
])("detects whether %s can have transparent pixels", async (_, make, expected) => {
  expect(await mayBeTransparent(await toBlob(make()))).toBe(expected);
});

it("treats a truncated file as possibly transparent", async () => {
  const blob = await toBlob(createImage(3).png());
  expect(await mayBeTransparent(blob.slice(0, 40))).toBe(true);
  expect(await mayBeTransparent(new Blob([]))).toBe(true);
});

const createOrientedImage = (orientation: number) => createImage(3, 8).withMetadata({ orientation });

it.each<[string, () => Sharp, unknown, unknown]>([
  ["an upright JPEG", () => createOrientedImage(1).jpeg(), undefined, undefined],
  ["a JPEG without an orientation", () => createImage(3).jpeg(), undefined, undefined],
  ["a rotated JPEG", () => createOrientedImage(6).jpeg(), undefined, { orientation: 6, isRotated: true }],
  [
    "an upside-down JPEG with a color profile",
    () => createOrientedImage(3).withIccProfile("p3").jpeg(),
    undefined,
    { orientation: 3, isRotated: true },
  ],
  [
    "a rotated WebP, which browsers don't rotate",
    () => createOrientedImage(8).webp(),
    ...repeatEncoding({ orientation: 8, isRotated: false }),
  ],
  ["a WebP without an orientation", () => createImage(4).webp(), undefined, undefined],
  ["a rotated PNG", () => createOrientedImage(5).png(), undefined, { orientation: 5, isRotated: true }],
  ["a PNG", () => createImage(4).png(), undefined, undefined],
])("returns the mask orientation for %s", async (_, make, expectedEncoding, expectedPixelEncoding) => {
  const file = await toBlob(make());
  expect([await getMaskEncoding(file, false), await getMaskEncoding(file, true)]).toEqual([expectedEncoding, expectedPixelEncoding]);
});

it.each([false, true])("rotates the mask back for an upright WebP when pixels are kept (%s)", async (keepsPixels) => {
  const expected = keepsPixels ? { orientation: 8, isRotated: true } : undefined;
  expect(await getMaskEncoding(await toBlob(createOrientedImage(8).webp()), keepsPixels, true)).toEqual(expected);
});

it("reads only the header of an oversized image", async () => {
  const large = await createImage(3).png().toBuffer();
  large.writeUInt32BE(20_000, 16);
  large.writeUInt32BE(20_000, 20);
  let sentCount = 0;
  const body = new ReadableStream<Uint8Array>(
    { pull: (controller) => void controller.enqueue(sentCount++ === 0 ? new Uint8Array(large) : new Uint8Array(1024)) },
    { highWaterMark: 0 },
  );
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(body)));
  expect(await fetchFile("/api/view?filename=a.png")).toEqual({
    ok: false,
    failure: { kind: "too-large", why: { reason: "edge", width: 20_000, height: 20_000 } },
  });
  expect(sentCount).toBe(1);
});

it("returns no wrong orientation for a truncated photo", async () => {
  const blob = await toBlob(createOrientedImage(6).jpeg());
  for (let length = 0; length < 40; length += 1)
    expect([undefined, 6]).toContain((await getMaskEncoding(blob.slice(0, length), true))?.orientation);
});

function repeatEncoding(encoding: unknown): [unknown, unknown] {
  return [encoding, encoding];
}
