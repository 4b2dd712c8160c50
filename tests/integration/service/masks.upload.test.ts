import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { ended, png, record, string, submit } from "./support";

/** Left half painted: alpha 0, red; right half untouched: opaque, green. */
async function painting(width: number, height: number): Promise<Uint8Array<ArrayBuffer>> {
  const pixels = Buffer.alloc(width * height * 4);
  for (let at = 0; at < pixels.length; at += 4) pixels.set((at / 4) % width < width / 2 ? [255, 0, 0, 0] : [0, 255, 0, 255], at);
  return new Uint8Array(
    await sharp(pixels, { raw: { width, height, channels: 4 } })
      .png()
      .toBuffer(),
  );
}

describe("POST /api/upload/mask", () => {
  let bench: ServiceBench;
  let client: Client;
  let original: string;
  beforeAll(async () => {
    bench = await startService();
    client = bench.client();
    original = string(record((await client.upload(png(20, 10, { seed: 50 }), "o.png", {}, "image", "/api/upload/image")).body).name);
  });
  afterAll(() => bench.dispose());

  const upload = (bytes: Uint8Array<ArrayBuffer> | string, reference: unknown) =>
    client.upload(bytes, "m.png", { original_ref: JSON.stringify(reference) }, "image", "/api/upload/mask");

  async function pixel(name: string, x: number, y: number): Promise<number[]> {
    const bytes = Buffer.from(await (await client.raw("GET", `/api/view?filename=${name}`)).arrayBuffer());
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    return [...data.subarray((y * info.width + x) * info.channels, (y * info.width + x + 1) * info.channels)];
  }

  it("stores the original with the painted alpha, and the three layers beside it", async () => {
    const answer = await upload(await painting(20, 10), { filename: original, type: "input" });
    expect(answer).toMatchObject({
      status: 200,
      body: { type: "input", metadata: { is_mask: true, original_hash: original, mask_type: "painted_masked" } },
    });
    const { name, metadata } = record(answer.body);
    const { mask, paint, painted } = record(record(metadata).related_files);
    const grey = (50 + 7 * 5) % 256;
    expect([await pixel(string(name), 2, 5), await pixel(string(name), 15, 5)]).toEqual([
      [grey, grey, grey, 0],
      [grey, grey, grey, 255],
    ]);
    expect([(await pixel(string(mask), 2, 5))[0], (await pixel(string(mask), 15, 5))[0]]).toEqual([255, 0]);
    expect([await pixel(string(paint), 2, 5), (await pixel(string(paint), 15, 5))[3]]).toEqual([[255, 0, 0, 255], 0]);
    expect([await pixel(string(painted), 2, 5), await pixel(string(painted), 15, 5)]).toEqual([
      [255, 0, 0],
      [grey, grey, grey],
    ]);
    expect((await client.get(`/api/files/mask-layers?filename=${string(name)}`)).body).toEqual({
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
    const job = await ended(client, await submit(client, graph));
    const file = string(record(job.preview_output).filename);
    expect([(await pixel(file, 2, 5))[0], (await pixel(file, 15, 5))[0]]).toEqual([255, 0]);
  });

  it("refuses what is no image, does not fit, or names no original", async () => {
    const mask = await painting(20, 10);
    expect(await upload("no image", { filename: original })).toMatchObject({ status: 400, body: { code: "INVALID_IMAGE" } });
    expect(await upload(await painting(10, 10), { filename: original })).toMatchObject({
      status: 400,
      body: { code: "INVALID_IMAGE", message: expect.stringContaining("20 by 10") },
    });
    for (const reference of [{ filename: "nobody.png" }, {}, "text", null]) {
      expect(await upload(mask, reference)).toMatchObject({
        status: 400,
        body: { code: "INVALID_BODY", message: expect.stringContaining("original_ref") },
      });
    }
    expect(await client.upload(mask, "m.png", {}, "image", "/api/upload/mask")).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("original_ref") },
    });
    expect((await client.get(`/api/files/mask-layers?filename=${original}`)).status).toBe(404);
  });
});
