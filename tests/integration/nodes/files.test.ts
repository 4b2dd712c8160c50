// Reads and writes image files of all common formats.
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openTestRunner, readPixels, runGraph } from "./support";

const sixteenBitImages = z
  .record(z.string(), z.object({ png: z.string(), colours: z.array(z.number()), alpha: z.array(z.number()).optional() }))
  .parse(JSON.parse(readFileSync("tests/fixtures/reference/sixteen-bits.json", "utf8")));
const testRunner = openTestRunner();

const loadAndShow = {
  l: { class_type: "LoadImage", inputs: { image: "in" } },
  m: { class_type: "MaskToImage", inputs: { mask: ["l", 1] } },
  o: { class_type: "SaveImage", inputs: { images: ["l", 0], filename_prefix: "image" } },
  p: { class_type: "SaveImage", inputs: { images: ["m", 0], filename_prefix: "mask" } },
};

async function loadImage(content: Buffer) {
  await writeFile(join(testRunner.folder, "in"), content);
  const { outcome, files } = await runGraph(testRunner, loadAndShow, { imagesDir: testRunner.folder });
  expect(outcome).toEqual({ kind: "success" });
  const readOutputs = (node: string) => Promise.all(files.filter(({ nodeId }) => nodeId === node).map(({ path }) => readPixels(path)));
  return { images: await readOutputs("o"), masks: await readOutputs("p") };
}

const createPlainImage = (background: string, width = 6, height = 4) => sharp({ create: { width, height, channels: 3, background } });

describe("loading", () => {
  it("rotates a JPEG by its EXIF orientation", async () => {
    const { images } = await loadImage(await createPlainImage("#ff0000").withMetadata({ orientation: 6 }).jpeg().toBuffer());
    expect(images[0]).toMatchObject({ width: 4, height: 6 });
  });

  it("loads grey files as three equal channels without a mask", async () => {
    const { images, masks } = await loadImage(await createPlainImage("#808080").greyscale().png().toBuffer());
    expect([...(images[0]?.bytes.subarray(0, 3) ?? [])]).toEqual([128, 128, 128]);
    expect(masks[0]).toMatchObject({ width: 64, height: 64 });
  });

  it.each(Object.entries(sixteenBitImages))("converts a 16-bit PNG in %s to Pillow's bytes", async (_label, { png, colours, alpha }) => {
    const { images, masks } = await loadImage(Buffer.from(png, "base64"));
    expect([...(images[0]?.bytes ?? [])]).toEqual(colours);
    // A mask is the inverse of alpha: 1 - a / 255, truncated on saving.
    const mask = alpha?.flatMap((byte) => Array<number>(3).fill(Math.trunc(Math.fround(255 * Math.fround(1 - Math.fround(byte / 255))))));
    if (mask) expect([...(masks[0]?.bytes ?? [])]).toEqual(mask);
    else expect(masks[0]).toMatchObject({ width: 64, height: 64 });
  });

  it("converts CMYK without a profile to the colours Pillow produces, without alpha", async () => {
    const jpeg = await readFile("tests/fixtures/reference/ink.jpg");
    const cmyk = sharp(jpeg, { ignoreIcc: true }).pipelineColourspace("cmyk").toColourspace("cmyk");
    const { images, masks } = await loadImage(jpeg);
    expect([...(images[0]?.bytes.subarray(0, 3) ?? [])]).toEqual([187, 119, 42]);
    expect(masks[0]).toMatchObject({ width: 64, height: 64 });
    expect(await loadImage(await cmyk.ensureAlpha(0.5).tiff({ compression: "none" }).toBuffer())).toEqual({ images, masks });
  });

  it("returns a zero mask of its own size for an opaque palette", async () => {
    const { masks } = await loadImage(await createPlainImage("#336699").png({ palette: true }).toBuffer());
    expect(masks[0]).toMatchObject({ width: 6, height: 4 });
    expect(masks[0]?.bytes.every((byte) => byte === 0)).toBe(true);
  });

  it("returns the image loader's mask for a file without alpha", async () => {
    await writeFile(join(testRunner.folder, "in"), await createPlainImage("#336699").png().toBuffer());
    const graph = {
      l: { class_type: "LoadImageMask", inputs: { image: "in", channel: "alpha" } },
      m: { class_type: "MaskToImage", inputs: { mask: ["l", 0] } },
      o: { class_type: "SaveImage", inputs: { images: ["m", 0], filename_prefix: "x" } },
    };
    const { files } = await runGraph(testRunner, graph, { imagesDir: testRunner.folder });
    expect(files).toMatchObject([{ width: 64, height: 64 }]);
  });

  it("returns a mask of 1 for a palette's transparent colour", async () => {
    const pixels = sharp(Buffer.from([255, 0, 0, 255, 0, 255, 0, 0]), { raw: { width: 2, height: 1, channels: 4 } });
    const { images, masks } = await loadImage(await pixels.png({ palette: true }).toBuffer());
    expect([...(images[0]?.bytes.subarray(0, 3) ?? [])]).toEqual([255, 0, 0]);
    expect([...(masks[0]?.bytes ?? [])]).toEqual([0, 0, 0, 255, 255, 255]);
  });

  it("keeps grey and alpha", async () => {
    const pixels = sharp(Buffer.from([200, 255, 200, 0]), { raw: { width: 2, height: 1, channels: 2 } });
    const { images, masks } = await loadImage(await pixels.png().toBuffer());
    expect([...(images[0]?.bytes ?? [])]).toEqual([200, 200, 200, 200, 200, 200]);
    expect([...(masks[0]?.bytes ?? [])]).toEqual([0, 0, 0, 255, 255, 255]);
  });

  it("turns an animation into a batch", async () => {
    const frames = Buffer.concat([Buffer.alloc(24, "ff0000", "hex"), Buffer.alloc(24, "0000ff", "hex")]);
    const animation = sharp(frames, { raw: { width: 4, height: 4, channels: 3, pageHeight: 2 } });
    const { images, masks } = await loadImage(await animation.gif().toBuffer());
    expect(images.map(({ width, height, bytes }) => [width, height, ...bytes.subarray(0, 3)])).toEqual([
      [4, 2, 255, 0, 0],
      [4, 2, 0, 0, 255],
    ]);
    expect(masks.map(({ width, height }) => [width, height])).toEqual([
      [4, 2],
      [4, 2],
    ]);
  });

  it("rejects a truncated file and names it with its node", async () => {
    const png = await createPlainImage("#ff0000", 200, 200).png().toBuffer();
    await writeFile(join(testRunner.folder, "in"), png.subarray(0, png.length - 60));
    const { outcome } = await runGraph(testRunner, loadAndShow, { imagesDir: testRunner.folder });
    const node = { node_id: "l", node_type: "LoadImage" };
    const exception = { exception_type: "ImageDecodeError", exception_message: expect.stringContaining('"in"') };
    expect(outcome).toMatchObject({ kind: "error", error: { ...node, ...exception } });
  });

  it("rejects an oversized file by its header", async () => {
    await writeFile(join(testRunner.folder, "in"), await createPlainImage("#ff0000", 300, 300).png().toBuffer());
    const { outcome } = await runGraph(testRunner, loadAndShow, { imagesDir: testRunner.folder, maxPixels: 80_000 });
    expect(outcome).toMatchObject({ kind: "error", error: { node_id: "l", exception_type: "OOMError" } });
  });
});

describe("an animated WEBP", () => {
  it("contains every frame of the batch with its delay", async () => {
    const graph = {
      a: { class_type: "EmptyImage", inputs: { width: 8, height: 6, batch_size: 1, color: 0xff0000 } },
      b: { class_type: "ImageInvert", inputs: { image: ["a", 0] } },
      c: { class_type: "ImageBatch", inputs: { image1: ["a", 0], image2: ["b", 0] } },
      o: {
        class_type: "SaveAnimatedWEBP",
        inputs: { images: ["c", 0], filename_prefix: "%width%x%height%/clip", fps: 4, lossless: true, quality: 80, method: "default" },
      },
    };
    const { files } = await runGraph(testRunner, graph);
    expect(files).toMatchObject([{ displayName: "clip_00001_.webp", mimeType: "image/webp", animated: true, width: 8, height: 6 }]);
    const header = await sharp(files[0]?.path, { pages: -1 }).metadata();
    expect(header).toMatchObject({ pages: 2, pageHeight: 6, delay: [250, 250], loop: 0 });
    expect(header.exif?.toString("latin1")).toContain(`prompt:${JSON.stringify(graph)}`);
  });

  it("writes a whole file for a single image with an oversized graph", async () => {
    const graph = {
      a: { class_type: "EmptyImage", inputs: { width: 8, height: 6, batch_size: 1, color: 0xff0000 } },
      o: {
        class_type: "SaveAnimatedWEBP",
        inputs: { images: ["a", 0], filename_prefix: "still", fps: 4, lossless: true, quality: 0, method: "fastest" },
      },
    };
    const { files } = await runGraph(testRunner, graph, { pngText: { prompt: "x".repeat(100_000), workflow: '{"id":"é"}' } });
    expect(files[0]).not.toHaveProperty("animated", true);
    expect((await readPixels(files[0]?.path ?? "")).bytes.subarray(0, 3)).toEqual(Buffer.from([255, 0, 0]));
    const { exif } = await sharp(files[0]?.path).metadata();
    expect(exif?.toString("latin1")).toContain('workflow:{"id":"\\u00e9"}');
    expect(exif?.toString("latin1")).not.toContain("prompt:");
  });
});

describe("a file's name", () => {
  it("is the prefix with placeholders replaced and never becomes a path", async () => {
    const createSaveNode = (filename_prefix: string) => ({ class_type: "SaveImage", inputs: { images: ["a", 0], filename_prefix } });
    const graph = {
      a: { class_type: "EmptyImage", inputs: { width: 3, height: 2, batch_size: 1, color: 0 } },
      o: createSaveNode("%width%x%height%_%batch_num%"),
      p: createSaveNode("../../etc/passwd"),
      q: createSaveNode("../.."),
    };
    const { files } = await runGraph(testRunner, graph);
    expect(files.map(({ displayName }) => displayName)).toEqual(["3x2_0_00001_.png", "passwd_00001_.png", "image_00001_.png"]);
    expect(files.every(({ path }) => path.startsWith(testRunner.folder))).toBe(true);
  });
});
