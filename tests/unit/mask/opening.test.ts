// What a file's header tells before a pixel of it is decoded. Real files of each kind are the judges.
import sharp, { type Sharp } from "sharp";
import { expect, it } from "vitest";
import { mayBeClear } from "@/components/mask/file/may-be-clear";

const picture = (channels: 3 | 4, size = 4) =>
  sharp({ create: { width: size, height: size, channels, background: { r: 200, g: 40, b: 90, alpha: 0.5 } } });
const fileOf = async (made: Sharp) => new Blob([new Uint8Array(await made.toBuffer())]);

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
])("of %s says whether any pixel can be clear", async (_, make, isIt) => {
  expect(await mayBeClear(await fileOf(make()))).toBe(isIt);
});

it("of a file that is cut off, or is none, does not say that nothing is clear", async () => {
  const whole = await fileOf(picture(3).png());
  expect(await mayBeClear(whole.slice(0, 40))).toBe(true);
  expect(await mayBeClear(new Blob([]))).toBe(true);
});
