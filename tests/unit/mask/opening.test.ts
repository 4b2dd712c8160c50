// Header checks before decoding any pixel, with real files of each kind.
import sharp, { type Sharp } from "sharp";
import { expect, it, vi } from "vitest";
import { getMaskEncoding, mayBeTransparent } from "@/components/mask/file/open-mask";
import { fetchFile } from "@/components/mask/file/picture-file";

const picture = (channels: 3 | 4, size = 4) =>
  sharp({ create: { width: size, height: size, channels, background: { r: 200, g: 40, b: 90, alpha: 0.5 } } });
const getFile = async (sharp: Sharp) => new Blob([new Uint8Array(await sharp.toBuffer())]);

it.each<[string, () => Sharp, boolean]>([
  ["a JPEG", () => picture(3).jpeg(), false],
  ["a PNG of colours", () => picture(3).png(), false],
  ["one of colours with a profile before them", () => picture(3).png().withIccProfile("p3"), false],
  ["one of a palette without a clear entry", () => picture(3).png({ palette: true }), false],
  ["one of a palette with a clear entry", () => picture(4).png({ palette: true }), true],
  ["one of colours and alpha", () => picture(4).png(), true],
  ["one of grey and alpha", () => picture(4).toColourspace("b-w").png(), true],
  ["one of 16 bits and alpha", () => picture(4).toColourspace("rgb16").png(), true],
  ["a WebP, which is not looked into", () => picture(3).webp(), true],
])("reports whether a %s can have transparent pixels", async (_, make, isIt) => {
  expect(await mayBeTransparent(await getFile(make()))).toBe(isIt);
});

it("doesn't call a truncated file opaque", async () => {
  const blob = await getFile(picture(3).png());
  expect(await mayBeTransparent(blob.slice(0, 40))).toBe(true);
  expect(await mayBeTransparent(new Blob([]))).toBe(true);
});

const oriented = (orientation: number) => picture(3, 8).withMetadata({ orientation });

it.each<[string, () => Sharp, unknown, unknown]>([
  ["a JPEG held upright", () => oriented(1).jpeg(), undefined, undefined],
  ["a JPEG without a note of it", () => picture(3).jpeg(), undefined, undefined],
  ["a JPEG held sideways", () => oriented(6).jpeg(), undefined, { orientation: 6, isTurned: true }],
  ["a JPEG held upside down, with a profile", () => oriented(3).withIccProfile("p3").jpeg(), undefined, { orientation: 3, isTurned: true }],
  ["a WebP held sideways, which browsers do not turn", () => oriented(8).webp(), ...both({ orientation: 8, isTurned: false })],
  ["a WebP without a note of it", () => picture(4).webp(), undefined, undefined],
  ["a PNG held sideways", () => oriented(5).png(), undefined, { orientation: 5, isTurned: true }],
  ["a PNG", () => picture(4).png(), undefined, undefined],
])("%s decides how its mask is oriented", async (_, make, turns, keeps) => {
  const file = await getFile(make());
  expect([await getMaskEncoding(file, false), await getMaskEncoding(file, true)]).toEqual([turns, keeps]);
});

it.each([false, true])("rotates the mask back for an upright WebP where pixels are kept (%s)", async (keepsPixels) => {
  const expected = keepsPixels ? { orientation: 8, isTurned: true } : undefined;
  expect(await getMaskEncoding(await getFile(oriented(8).webp()), keepsPixels, true)).toEqual(expected);
});

it("reads only the header of an oversized picture", async () => {
  const large = await picture(3).png().toBuffer();
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

it("reports nothing for a truncated photo", async () => {
  const blob = await getFile(oriented(6).jpeg());
  for (let length = 0; length < 40; length += 1)
    expect([undefined, 6]).toContain((await getMaskEncoding(blob.slice(0, length), true))?.orientation);
});

function both(hold: unknown): [unknown, unknown] {
  return [hold, hold];
}
