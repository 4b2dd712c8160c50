import { readdir } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asString, createPng, fetchBytes, listAssets, runGraph, uploadImage } from "./support";

/** Creates an image whose left half is painted (alpha 0, red) and whose right half is opaque green. */
async function createPaintedImage(width: number, height: number): Promise<Uint8Array<ArrayBuffer>> {
  const pixels = Buffer.alloc(width * height * 4);
  for (let offset = 0; offset < pixels.length; offset += 4)
    pixels.set((offset / 4) % width < width / 2 ? [255, 0, 0, 0] : [0, 255, 0, 255], offset);
  return new Uint8Array(
    await sharp(pixels, { raw: { width, height, channels: 4 } })
      .png()
      .toBuffer(),
  );
}

describe("POST /api/upload/mask", async () => {
  const service = await startService();
  const client = service.client();
  const originalName = await uploadImage(client, createPng(20, 10, { seed: 50 }), "o.png");

  const upload = (bytes: Uint8Array<ArrayBuffer> | string, reference: unknown) =>
    client.upload(bytes, "m.png", { original_ref: JSON.stringify(reference) }, "image", "/api/upload/mask");

  async function readPixel(name: string, x: number, y: number): Promise<number[]> {
    const bytes = await fetchBytes(client, `/api/view?filename=${name}`);
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    return [...data.subarray((y * info.width + x) * info.channels, (y * info.width + x + 1) * info.channels)];
  }

  it("stores the original with painted alpha and three layers", async () => {
    const response = await upload(await createPaintedImage(20, 10), { filename: originalName, type: "input" });
    expect(response).toMatchObject({
      status: 200,
      body: {
        display_name: "o-masked.png",
        type: "input",
        metadata: { is_mask: true, original_hash: originalName, mask_type: "painted_masked" },
      },
    });
    const { name, metadata } = asRecord(response.body);
    const { mask, paint, painted } = asRecord(asRecord(metadata).related_files);
    const grey = (50 + 7 * 5) % 256;
    expect([await readPixel(asString(name), 2, 5), await readPixel(asString(name), 15, 5)]).toEqual([
      [grey, grey, grey, 0],
      [grey, grey, grey, 255],
    ]);
    expect([(await readPixel(asString(mask), 2, 5))[0], (await readPixel(asString(mask), 15, 5))[0]]).toEqual([255, 0]);
    expect([await readPixel(asString(paint), 2, 5), (await readPixel(asString(paint), 15, 5))[3]]).toEqual([[255, 0, 0, 255], 0]);
    expect([await readPixel(asString(painted), 2, 5), await readPixel(asString(painted), 15, 5)]).toEqual([
      [255, 0, 0],
      [grey, grey, grey],
    ]);
    expect((await client.get(`/api/files/mask-layers?filename=${asString(name)}`)).body).toEqual({
      mask,
      paint,
      painted,
      painted_masked: name,
    });

    const graph = {
      "1": { class_type: "LoadImageMask", inputs: { image: name, channel: "alpha" } },
      "2": { class_type: "MaskToImage", inputs: { mask: ["1", 0] } },
      "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "mask" } },
    };
    const job = await runGraph(client, graph);
    const file = asString(asRecord(job.preview_output).filename);
    expect([(await readPixel(file, 2, 5))[0], (await readPixel(file, 15, 5))[0]]).toEqual([255, 0]);
  });

  it("rejects invalid masks and originals", async () => {
    const mask = await createPaintedImage(20, 10);
    const truncatedMask = new Uint8Array(Buffer.concat([mask.subarray(0, 60), Buffer.alloc(50)]));
    const getHash = async (content: Uint8Array<ArrayBuffer> | string) =>
      asString(asRecord((await client.upload(content, "a.bin")).body).asset_hash);
    for (const [bytes, filename, expectedText] of [
      ["no image", originalName, ""],
      [truncatedMask, originalName, ""],
      [await createPaintedImage(10, 10), originalName, "20 by 10"],
      [createPng(16_385, 1, { pixels: false }), originalName, "16384"],
      [createPng(9000, 9000, { pixels: false }), originalName, "pixels"],
      [mask, await getHash(createPng(17_000, 1, { pixels: false })), ""],
      [mask, await getHash("some text"), ""],
    ] as const)
      expect(await upload(bytes, { filename })).toMatchObject({
        status: 400,
        body: { code: "INVALID_IMAGE", message: expect.stringContaining(expectedText) },
      });
    const rejection = { status: 400, body: { code: "INVALID_BODY", message: expect.stringContaining("original_ref") } };
    for (const reference of [{ filename: "missing.png" }, {}, "text", null]) expect(await upload(mask, reference)).toMatchObject(rejection);
    expect(await client.upload(mask, "m.png", {}, "image", "/api/upload/mask")).toMatchObject(rejection);
    expect((await client.get(`/api/files/mask-layers?filename=${originalName}`)).status).toBe(404);
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
  });

  it.each([
    ["a blake3 name", (name: string) => ({ filename: `blake3:${name.slice(0, 64)}` })],
    ["its upload name", () => ({ filename: "o.png" })],
    ["an annotated name", () => ({ filename: "o.png [input]", subfolder: "", type: "input" })],
    ["a name in a folder", () => ({ filename: "clipspace/o.png", subfolder: "clipspace" })],
    ["a hash in a folder", (name: string) => ({ filename: `clipspace/${name} [input]` })],
    ["a shipped image", () => ({ filename: "product.png", type: "input" })],
  ])("finds the original by %s", async (_, reference) => {
    const originalRef = reference(originalName);
    const isShared = originalRef.filename === "product.png";
    const { width = 0, height = 0 } = isShared
      ? await sharp(await fetchBytes(client, "/api/view?filename=product.png")).metadata()
      : { width: 20, height: 10 };
    const response = await upload(await createPaintedImage(width, height), originalRef);
    expect(response).toMatchObject({
      status: 200,
      body: { name: expect.stringMatching(/^[0-9a-f]{64}\.png$/), metadata: { is_mask: true } },
    });
    if (!isShared) expect(asRecord(asRecord(response.body).metadata).original_hash).toBe(originalName);
  });

  it("returns the subfolder and keeps half-painted pixels half transparent", async () => {
    const pixels = Buffer.from(Array.from({ length: 20 * 10 }, () => [0, 0, 255, 64]).flat());
    const halfPainted = new Uint8Array(
      await sharp(pixels, { raw: { width: 20, height: 10, channels: 4 } })
        .png()
        .toBuffer(),
    );
    const fields = { original_ref: JSON.stringify({ filename: originalName }), subfolder: "clipspace", type: "input" };
    const { name, subfolder, metadata } = asRecord((await client.upload(halfPainted, "m.png", fields, "image", "/api/upload/mask")).body);
    expect([subfolder, (await readPixel(asString(name), 3, 3))[3]]).toEqual(["clipspace", 64]);
    const { mask, paint } = asRecord(asRecord(metadata).related_files);
    expect([(await readPixel(asString(mask), 3, 3))[0], await readPixel(asString(paint), 3, 3)]).toEqual([191, [0, 0, 255, 191]]);
  });

  it("rotates the mask like its original", async () => {
    const rotatedImage = await sharp({ create: { width: 20, height: 10, channels: 3, background: "#123456" } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const name = await uploadImage(client, new Uint8Array(rotatedImage), "t.jpg");
    expect((await upload(await createPaintedImage(20, 10), { filename: name })).status).toBe(400);
    const response = await upload(await createPaintedImage(10, 20), { filename: name });
    const bytes = await fetchBytes(client, `/api/view?filename=${asString(asRecord(response.body).name)}`);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 10, height: 20, hasAlpha: true });
  });

  const rawOptions = { width: 3, height: 1, channels: 3 } as const;
  const channelValues = [200, 50, 50, 20, 200, 90, 7, 8, 9];
  const createDeepPixels = () => new Uint16Array([...channelValues, 0].map((value) => value * 256 + 77)).subarray(0, 9);
  it.each([
    ["with another color profile", () => sharp(Buffer.from(channelValues), { raw: rawOptions }).png().withIccProfile("p3"), 8],
    ["with 16 bits", () => sharp(createDeepPixels(), { raw: rawOptions }).toColourspace("rgb16").png(), 16],
    ["with its own alpha", () => sharp(Buffer.from(channelValues), { raw: rawOptions }).ensureAlpha(0.3).png(), 8],
    ["with a palette", () => sharp(Buffer.from(channelValues), { raw: rawOptions }).png({ palette: true }), 1],
  ])("applies the mask's alpha to an original %s and keeps its bytes", async (_, createImage) => {
    const bytes = new Uint8Array(await createImage().toBuffer());
    const readValues = async (file: Uint8Array) => [
      ...(await sharp(file, { ignoreIcc: true }).removeAlpha().toColourspace("srgb").raw({ depth: "uchar" }).toBuffer()),
    ];
    const name = await uploadImage(client, bytes, "x.png");
    const response = await upload(await createPaintedImage(3, 1), { filename: name });
    const fetchFile = (file: string) => fetchBytes(client, `/api/view?filename=${file}`);
    const masked = await fetchFile(asString(asRecord(response.body).name));
    expect(await readValues(masked)).toEqual(await readValues(bytes));
    const { data } = await sharp(masked).extractChannel(3).raw().toBuffer({ resolveWithObject: true });
    expect([...data]).toEqual([0, 0, 255]);
    expect((await sharp(masked).metadata()).icc?.equals((await sharp(bytes).metadata()).icc ?? Buffer.alloc(0))).toBe(
      (await sharp(bytes).metadata()).icc && true,
    );
    expect(Buffer.compare(await fetchFile(name), bytes)).toBe(0);
  });

  it("returns a deleted layer as null and deletes a mask with its result", async () => {
    const { name, metadata } = asRecord((await upload(await createPaintedImage(20, 10), { filename: originalName })).body);
    const { paint, mask } = asRecord(asRecord(metadata).related_files);
    const findAssetId = async (file: unknown) => {
      const hash = `blake3:${asString(file).slice(0, 64)}`;
      return asString((await listAssets(client, "limit=500")).find((asset) => asset.asset_hash === hash)?.id);
    };
    const getLayers = async () => client.get(`/api/files/mask-layers?filename=${asString(name)}`);
    await client.call("DELETE", `/api/assets/${await findAssetId(paint)}`);
    expect((await getLayers()).body).toMatchObject({ paint: null, mask, painted_masked: name });
    expect((await service.client("eve").get(`/api/files/mask-layers?filename=${asString(name)}`)).status).toBe(404);
    await client.call("DELETE", `/api/assets/${await findAssetId(name)}`);
    expect((await getLayers()).status).toBe(404);
    expect(await client.get("/api/files/mask-layers")).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("filename") },
    });
  });
});
