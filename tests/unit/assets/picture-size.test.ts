import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { pictureSizeOf } from "@/lib/shared/picture-size";

const drawn = () => sharp({ create: { width: 301, height: 97, channels: 4, background: { r: 9, g: 80, b: 200, alpha: 0.5 } } });
const size = { width: 301, height: 97 };

describe("the size of a picture is read from the first bytes of", () => {
  it.each([
    ["a PNG", () => drawn().png()],
    ["a GIF", () => drawn().gif()],
    ["a JPEG", () => drawn().jpeg()],
    ["a progressive JPEG", () => drawn().jpeg({ progressive: true })],
    ["a WebP with transparency", () => drawn().webp()],
    ["a plain WebP", () => drawn().removeAlpha().webp()],
    ["a lossless WebP", () => drawn().webp({ lossless: true })],
  ])("%s", async (_, draw) => {
    const bytes = new Uint8Array(await draw().toBuffer());
    expect(await pictureSizeOf(bytes)).toEqual(size);
  });

  it.each([1, 3, 6, 8])("a photograph that lies in the way %i, as it is seen", async (orientation) => {
    const bytes = new Uint8Array(await drawn().jpeg().withMetadata({ orientation }).toBuffer());
    expect(await pictureSizeOf(bytes)).toEqual(orientation >= 5 ? { width: 97, height: 301 } : size);
  });
});

it("a kind of which nothing tells how it is turned has no size", async () => {
  const bytes = (format: "avif" | "tiff") => drawn().removeAlpha().toFormat(format).withMetadata({ orientation: 6 }).toBuffer();
  for (const format of ["avif", "tiff"] as const) expect(await pictureSizeOf(new Uint8Array(await bytes(format))), format).toBeUndefined();
});

it("a photograph whose directory of facts is elsewhere has no size rather than one that lies on its side", async () => {
  const bytes = new Uint8Array(await drawn().jpeg().withMetadata({ orientation: 6 }).toBuffer());
  const pointer = Buffer.from(bytes.buffer, bytes.byteOffset).indexOf("Exif\0\0", "latin1") + 10;
  const moved = bytes.map((byte, at) => (at >= pointer && at < pointer + 4 && byte === 8 ? 9 : byte));
  expect(await pictureSizeOf(moved)).toBeUndefined();
});

it("bytes that are no picture, or end before they say, have no size, and nothing is thrown", async () => {
  const whole = new Uint8Array(await drawn().jpeg().withMetadata({ orientation: 6 }).toBuffer());
  for (let length = 0; length < whole.length; length += 7) await pictureSizeOf(whole.subarray(0, length));
  for (const text of ["", "<svg/>", "\x89PNG\r\n\x1a\n", "GIF89a", "RIFF....WEBPVP8L", "RIFF....WEBPnone0000"]) {
    expect(await pictureSizeOf(Uint8Array.from(text, (letter) => letter.charCodeAt(0))), text).toBeUndefined();
  }
  // A segment of length zero ends the search.
  expect(await pictureSizeOf(Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0, 0, 0]))).toBeUndefined();
});
