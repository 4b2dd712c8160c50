import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asString, createPng } from "./support";

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
    for (const name of [file, `blake3:${file.slice(0, 64)}`, "view me.png", "view me.png [input]"]) {
      const response = await client.raw("GET", `/api/view?filename=${encodeURIComponent(name)}`);
      expect([name, response.status]).toEqual([name, 200]);
      expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);
    }
    expect(await service.client("eve").get(`/api/view?filename=${file}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect(
      await service
        .client("eve")
        .raw("GET", "/api/view?filename=photo.png")
        .then((response) => response.status),
    ).toBe(200);
    expect(await client.get("/api/view")).toMatchObject({ status: 400, body: { message: expect.stringContaining("filename") } });
  });

  it("prefers the user's newest input to a shipped file of the same name", async () => {
    await client.upload("user text", "photo.png", { tags: "input" });
    expect((await client.get("/api/view?filename=photo.png")).text).toBe("user text");
  });

  it("serves ranges and returns 304 for a matching ETag", async () => {
    const path = `/api/view?filename=${file}`;
    const response = await client.raw("GET", path);
    const etag = response.headers.get("etag") ?? "";
    expect(etag).toBe(`"${file.slice(0, 64)}"`);
    expect(response.headers.get("content-length")).toBe(String(bytes.length));
    await response.arrayBuffer();
    const part = await client.raw("GET", path, undefined, { range: "bytes=10-19" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 10-19/${bytes.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(Buffer.from(bytes.subarray(10, 20)))).toBe(true);
    const tail = await client.raw("GET", path, undefined, { range: "bytes=-5" });
    expect(Buffer.from(await tail.arrayBuffer()).equals(Buffer.from(bytes.subarray(-5)))).toBe(true);
    expect((await client.raw("GET", path, undefined, { range: `bytes=${bytes.length}-` })).status).toBe(416);
    expect((await client.raw("GET", path, undefined, { "if-none-match": `W/${etag}` })).status).toBe(304);
    const head = await client.raw("HEAD", path);
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, String(bytes.length), ""]);
  });

  it("never serves markup inline under any file name", async () => {
    for (const [text, name, type] of [
      ["<!doctype html><script>1</script>", "a.png", "text/html; charset=utf-8"],
      ["<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "a.jpg", "image/svg+xml"],
      ["<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "b.png", "image/svg+xml"],
    ] as const) {
      const asset = asRecord((await client.upload(text, name)).body);
      for (const path of [
        `/api/view?filename=${asString(asset.asset_hash)}`,
        `/api/assets/${asString(asset.id)}/content?disposition=inline`,
      ]) {
        const response = await client.raw("GET", path);
        expect(response.headers.get("content-type")).toBe(type);
        expect(response.headers.get("content-disposition")).toMatch(/^attachment/);
        expect(response.headers.get("x-content-type-options")).toBe("nosniff");
        await response.arrayBuffer();
      }
    }
  });

  it("serves a WebP thumbnail and a single channel as PNG", async () => {
    const thumbnail = await client.raw("GET", `/api/view?filename=${file}&res=64`);
    expect(thumbnail.headers.get("content-type")).toBe("image/webp");
    expect(await sharp(Buffer.from(await thumbnail.arrayBuffer())).metadata()).toMatchObject({ format: "webp", width: 64, height: 43 });
    const alpha = await client.raw("GET", `/api/view?filename=product.png&channel=a`);
    expect(await sharp(Buffer.from(await alpha.arrayBuffer())).metadata()).toMatchObject({ format: "png", channels: 4 });
    const rgb = await client.raw("GET", `/api/view?filename=product.png&channel=rgb`);
    expect(await sharp(Buffer.from(await rgb.arrayBuffer())).metadata()).toMatchObject({ format: "png", channels: 3 });
    expect(await client.get(`/api/view?filename=${file}&res=63`)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("res") },
    });
  });
});

describe("files for non-image loaders", async () => {
  const service = await startService();
  const client = service.client();

  it.each([
    ["clip.mp4", Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypisom\0\0\0\0isommp42"), Buffer.alloc(64)]), "mp4"],
    ["sound.wav", Buffer.from(`RIFF\0\0\0\0WAVEfmt ${"\0".repeat(40)}`, "latin1"), "wav"],
    ["noise.latent", Buffer.from([8, 0, 0, 0, 0, 0, 0, 0, ...Buffer.from('{"a":1 }')]), "latent"],
  ])("are accepted by upload/image: %s", async (name, bytes, extension) => {
    const response = await client.upload(new Uint8Array(bytes), name, { type: "input", subfolder: "" }, "image", "/api/upload/image");
    expect(response).toMatchObject({ status: 200, body: { display_name: name, type: "input" } });
    const assetName = asString(asRecord(response.body).name);
    expect(assetName.endsWith(`.${extension}`)).toBe(true);
    const view = await client.raw("GET", `/api/view?filename=${assetName}&type=input`);
    expect(Buffer.from(await view.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it.each([
    ["webp;80", "webp"],
    ["jpeg;60", "jpeg"],
    ["jpeg", "jpeg"],
    ["bmp;10", "webp"],
  ])("are re-encoded as the preview parameter requests: %s", async (preview, format) => {
    const { asset_hash: hash } = asRecord((await client.upload(createPng(40, 20), "a.png")).body);
    const response = await client.raw("GET", `/api/view?filename=${asString(hash)}&preview=${encodeURIComponent(preview)}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([response.status, response.headers.get("content-type")]).toEqual([200, `image/${format}`]);
    expect(await sharp(bytes).metadata()).toMatchObject({ format, width: 40, height: 20 });
  });
});
