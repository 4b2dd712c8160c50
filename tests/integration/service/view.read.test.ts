import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asString, createPng, fetchBytes, uploadImage } from "./support";

describe("GET /api/view", async () => {
  const bytes = createPng(300, 200, { seed: 3 });
  const service = await startService();
  const client = service.client();
  const file = asString(asRecord((await client.upload(bytes, "view me.png", { type: "input" }, "image", "/api/upload/image")).body).name);

  it("returns the upload name and a file name by hash from upload/image", async () => {
    const response = await client.upload(
      createPng(5, 5),
      "p.png",
      { type: "temp", subfolder: "a/b", overwrite: "true" },
      "image",
      "/api/upload/image",
    );
    expect(response).toMatchObject({
      status: 200,
      body: { name: expect.stringMatching(/^[0-9a-f]{64}\.png$/), display_name: "p.png", subfolder: "a/b", type: "temp" },
    });
    expect((await client.upload(createPng(5, 5), "p.png", {}, "image", "/api/upload/image")).body).toMatchObject({
      subfolder: "",
      type: "output",
    });
  });

  it("finds bytes by hash, by blake3 name and by upload name", async () => {
    for (const name of [
      file,
      `blake3:${file.slice(0, 64)}`,
      `clients/${file}`,
      `a/b/${file} [input]`,
      "view me.png",
      "view me.png [input]",
    ])
      expect((await fetchBytes(client, `/api/view?filename=${encodeURIComponent(name)}`)).equals(Buffer.from(bytes)), name).toBe(true);
    const eve = service.client("eve");
    expect(await eve.get(`/api/view?filename=${file}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect((await eve.get("/api/view?filename=photo.png")).status).toBe(200);
    expect(await client.get("/api/view")).toMatchObject({ status: 400, body: { message: expect.stringContaining("filename") } });
  });

  it("prefers the user's newest input to a shipped file of the same name", async () => {
    await client.upload("user text", "photo.png", { tags: "input" });
    expect((await client.get("/api/view?filename=photo.png")).text).toBe("user text");
  });

  it("finds the newest upload of a name when its content already exists", async () => {
    for (const content of ["first", "second", "first"]) {
      await client.upload(content, "same.txt");
      expect((await client.get("/api/view?filename=same.txt")).text).toBe(content);
    }
  });

  it.each([
    ["RGB", 3, "srgb", 255],
    ["RGBA", 4, "srgb", 128],
    ["gray", 3, "b-w", 255],
    ["gray with alpha", 4, "b-w", 128],
    ["16-bit RGB", 3, "rgb16", 255],
    ["16-bit RGBA", 4, "rgb16", 128],
    ["CMYK", 3, "cmyk", 255],
  ] as const)("serves upright channels of an image as PNG: %s", async (_name, channels, space, alpha) => {
    const image = sharp({ create: { width: 3, height: 2, channels, background: "#ff804080" } })
      .toColourspace(space)
      .withMetadata({ orientation: 6 });
    const bytes = new Uint8Array(await (space === "cmyk" ? image.jpeg() : image.png()).toBuffer());
    const name = await uploadImage(client, bytes, "channels");
    const rgb = await fetchBytes(client, `/api/view?filename=${name}&channel=rgb`);
    expect(await sharp(rgb).metadata()).toMatchObject({ format: "png", width: 2, height: 3, space: "srgb", channels: 3 });
    const { data, info } = await sharp(await fetchBytes(client, `/api/view?filename=${name}&channel=a`))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 2, height: 3, channels: 4 });
    expect([...data]).toEqual(Array.from({ length: 6 }, () => [0, 0, 0, alpha]).flat());
  });

  it("rejects an unknown edge", async () => {
    expect(await client.get(`/api/view?filename=${file}&res=63`)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("res") },
    });
  });

  it.each([
    ["noise.latent", Buffer.from([8, 0, 0, 0, 0, 0, 0, 0, ...Buffer.from('{"a":1 }')]), "latent"],
    ["clip.mp4", Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypisom\0\0\0\0isommp42"), Buffer.alloc(64)]), "mp4"],
  ])("accepts a file for another loader in upload/image: %s", async (name, content, extension) => {
    const response = await client.upload(new Uint8Array(content), name, { type: "input", subfolder: "" }, "image", "/api/upload/image");
    expect(response).toMatchObject({ status: 200, body: { display_name: name, type: "input" } });
    const assetName = asString(asRecord(response.body).name);
    expect(assetName.endsWith(`.${extension}`)).toBe(true);
    expect((await fetchBytes(client, `/api/view?filename=${assetName}&type=input`)).equals(content)).toBe(true);
  });

  it.each([
    ["webp;80", "webp"],
    ["jpeg", "jpeg"],
    ["bmp;10", "webp"],
  ])("re-encodes an image as the preview parameter requests: %s", async (preview, format) => {
    const response = await client.raw("GET", `/api/view?filename=${file}&preview=${encodeURIComponent(preview)}`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, `image/${format}`]);
    expect(await sharp(Buffer.from(await response.arrayBuffer())).metadata()).toMatchObject({ format, width: 300, height: 200 });
  });
});
