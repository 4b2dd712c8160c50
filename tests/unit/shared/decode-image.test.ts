import { readFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { expect, it } from "vitest";
import { ImageTooLargeError, readImageHeader, requireDecodable, withImage } from "@/lib/shared/decode-image";

const createImage = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: "#3a7" } });
const png = await createImage(16, 16).png().toBuffer();

/** Returns a copy of the file with a different size in its header. */
function withHeaderSize(file: Buffer, position: number, write: "writeUInt32BE" | "writeUInt16BE" | "writeUInt16LE", step: number): Buffer {
  const copy = Buffer.from(file);
  for (const offset of [position, position + step]) copy[write](12_000, offset);
  return copy;
}

function createChunk(type: string, content: Buffer): Buffer {
  const typeAndContent = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(typeAndContent));
  return Buffer.concat([length, typeAndContent, checksum]);
}

/** Creates a TIFF with one grey pixel per page. */
function createTiff(count: number): Buffer {
  const length = 2 + 8 * 12 + 4;
  const file = Buffer.alloc(8 + count * length + 1);
  file.write("II*\0", 0, "latin1");
  file.writeUInt32LE(8, 4);
  const tags = [
    [256, 1],
    [257, 1],
    [258, 8],
    [259, 1],
    [262, 1],
    [273, file.length - 1],
    [278, 1],
    [279, 1],
  ] as const;
  for (let page = 0, offset = 8; page < count; page++, offset += length) {
    file.writeUInt16LE(tags.length, offset);
    for (const [index, [tag, value]] of tags.entries()) {
      file.writeUInt16LE(tag, offset + 2 + index * 12);
      file.writeUInt16LE(4, offset + 4 + index * 12);
      file.writeUInt32LE(1, offset + 6 + index * 12);
      file.writeUInt32LE(value, offset + 10 + index * 12);
    }
    file.writeUInt32LE(page === count - 1 ? 0 : offset + length, offset + length - 4);
  }
  return file;
}

const gif = Buffer.from(
  "GIF89a\x10\0\x10\0\x80\0\0\0\0\0\xff\xff\xff\x2c\0\0\0\0\x10\0\x10\0\0\x02\x0e\x8c\x8f\xa9\xcb\xed\x0f\xa3\x9c\xb4\xda\x8b\xb3\x3e\x05\0;",
  "latin1",
);
const jpeg = await createImage(16, 16).jpeg({ progressive: true }).toBuffer();
const oversizedImages: [string, Buffer][] = [
  ["AVIF of 60 megapixels", readFileSync("tests/fixtures/60-megapixels.avif")],
  ["PNG of 144 megapixels", withHeaderSize(png, 16, "writeUInt32BE", 4)],
  ["progressive JPEG of 144 megapixels", withHeaderSize(jpeg, jpeg.indexOf(Buffer.from([0xff, 0xc2])) + 5, "writeUInt16BE", 2)],
  ["GIF of 144 megapixels", withHeaderSize(withHeaderSize(gif, 6, "writeUInt16LE", 2), 24, "writeUInt16LE", 2)],
  [
    "PNG of compressed texts",
    Buffer.concat([
      png.subarray(0, 33),
      ...Array<Buffer>(40).fill(createChunk("zTXt", Buffer.concat([Buffer.from("a\0\0"), deflateSync(Buffer.alloc(7_900_000))]))),
      png.subarray(33),
    ]),
  ],
  ["GIF of millions of frames", Buffer.concat([gif.subarray(0, -1), Buffer.alloc(68 * 1024 ** 2, gif.subarray(19, -1)), gif.subarray(-1)])],
];

it.each(oversizedImages)("rejects a %s before decoding", async (_kind, file) => {
  let isDecoded = false;
  const decode = () => ((isDecoded = true), Promise.resolve());
  await expect(withImage(file, decode)).rejects.toThrow(ImageTooLargeError);
  await expect(requireDecodable(file)).rejects.toThrow(ImageTooLargeError);
  expect(isDecoded).toBe(false);
});

it("rejects a TIFF with more than 1,000 pages", async () => {
  await expect(readImageHeader(createTiff(1001))).rejects.toThrow("more than 1000 pages");
  expect(await readImageHeader(createTiff(1000))).toMatchObject({ format: "tiff", pages: 1000 });
});

it("rejects a PNG with more than 100,000 chunks", async () => {
  const file = Buffer.concat([png.subarray(0, 8), Buffer.alloc(12 * 100_001)]);
  await expect(readImageHeader(file)).rejects.toThrow("more than 100000 chunks");
});

it.each(["<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", "%PDF-1.7", "P6 1 1 255 abc", ""])(
  "rejects the unsupported format of %j",
  async (text) => {
    await expect(readImageHeader(Buffer.from(text))).rejects.toThrow("unsupported image format");
  },
);

it("reads images of every supported format", async () => {
  const small = createImage(40, 30);
  for (const [format, file] of [
    ["png", png],
    ["jpeg", await createImage(6000, 4000).jpeg().toBuffer()],
    ["webp", await small.clone().webp().toBuffer()],
    ["heif", await small.clone().avif({ effort: 0 }).toBuffer()],
    ["gif", gif],
    ["tiff", await small.clone().tiff({ bigtiff: true }).toBuffer()],
  ] as const)
    expect(await withImage(file, (header) => Promise.resolve(header.format))).toBe(format);
});

it("limits concurrent decoding to the memory budget", async () => {
  const largeImage = withHeaderSize(png, 16, "writeUInt32BE", 4);
  largeImage.writeUInt32BE(5000, 20);
  let [activeCount, maxActiveCount] = [0, 0];
  const decode = () =>
    withImage(largeImage, async () => {
      maxActiveCount = Math.max(maxActiveCount, (activeCount += 1));
      // Takes longer than the other calls need to read their headers.
      for (let count = 0; count < 5; count += 1) await readImageHeader(png);
      activeCount -= 1;
    });
  await Promise.all([decode(), decode(), decode()]);
  expect([activeCount, maxActiveCount]).toEqual([0, 1]);
});
