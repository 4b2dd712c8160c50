import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asString, png } from "./support";

describe("creating assets, refused", async () => {
  const service = await startService({ maxUploadBytes: 60 * 1024 * 1024 });
  const client = service.client();

  async function expectNothingLeft(): Promise<void> {
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
    expect((await client.get("/api/assets?include_public=false")).body).toMatchObject({ total: 0 });
  }

  const boundary = "frontier";
  const multipart = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const opening = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;

  it("discards a body that ends in the middle of the file", async () => {
    const response = await client.call("POST", "/api/assets", opening + "half of the by", multipart);
    expect(response).toMatchObject({ status: 400, body: { code: "TRUNCATED_UPLOAD" } });
    await expectNothingLeft();
  });

  it("discards an upload when the client disconnects", async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(opening + "x".repeat(100_000)));
        controller.error(new Error("the line was cut"));
      },
    });
    const request = new Request("http://service.test/api/assets", {
      method: "POST",
      body,
      headers: { ...multipart, "x-api-key": (await service.service.keys.createKey("ada")).key },
      ...{ duplex: "half" },
    });
    const response = await service.service.fetch(request);
    expect([response.status, asRecord(await response.json()).code]).toEqual([400, "TRUNCATED_UPLOAD"]);
    await expectNothingLeft();
  });

  it("discards a body shorter than declared", async () => {
    const whole = `${opening}all\r\n--${boundary}--\r\n`;
    const response = await client.call("POST", "/api/assets", whole, { ...multipart, "content-length": String(whole.length + 10) });
    expect(response).toMatchObject({ status: 400, body: { code: "TRUNCATED_UPLOAD" } });
    await expectNothingLeft();
  });

  it("answers 413 to more bytes than the service takes", async () => {
    const small = await startService({ maxUploadBytes: 1000 });
    expect(await small.client().upload("x".repeat(1001), "big.txt")).toMatchObject({ status: 413, body: { code: "FILE_TOO_LARGE" } });
    expect(await readdir(join(small.folder, "tmp"))).toEqual([]);
  });

  it.each([
    ["another kind of body", () => client.post("/api/assets", { url: "x" }), 415, "UNSUPPORTED_MEDIA_TYPE", "multipart"],
    ["no file", () => client.upload("x", "a.txt", {}, "attachment"), 400, "MISSING_FILE", "file"],
    ["metadata that is no JSON", () => client.upload("x", "a.txt", { user_metadata: "{" }), 400, "INVALID_BODY", "user_metadata"],
    ["metadata that is no object", () => client.upload("x", "a.txt", { user_metadata: "[1]" }), 400, "INVALID_BODY", "user_metadata"],
    ["tags that are no list", () => client.upload("x", "a.txt", { tags: "[" }), 400, "INVALID_BODY", "tags"],
    ["tags that are an object", () => client.upload("x", "a.txt", { tags: '{"a":1}' }), 400, "INVALID_BODY", "tags"],
    ["tags that are one JSON text", () => client.upload("x", "a.txt", { tags: '"a"' }), 400, "INVALID_BODY", "tags"],
    ["a media type of two lines", () => client.upload("x", "a.txt", { mime_type: "text/plain\r\nx: y" }), 400, "INVALID_BODY", "mime_type"],
    ["a name with NUL", () => client.upload("x", "a.txt", { name: "a\0b" }), 400, "INVALID_BODY", "name"],
    [
      "a reference with a name of two lines",
      () => client.post("/api/assets/from-hash", { hash: `blake3:${"0".repeat(64)}`, tags: ["a"], name: "a\nb" }),
      400,
      "INVALID_BODY",
      "name",
    ],
    ["an id that is no UUID", () => client.upload("x", "a.txt", { id: "7" }), 400, "INVALID_BODY", "id"],
    [
      "a preview that does not exist",
      () => client.upload("x", "a.txt", { preview_id: "6f0d4f7e-13b2-4a1f-9d5c-0c4f1f8a7a99" }),
      400,
      "INVALID_PREVIEW_ID",
      "preview_id",
    ],
    ["a hash without its kind", () => client.post("/api/assets/from-hash", { hash: "abc", tags: ["a"] }), 400, "INVALID_BODY", "hash"],
    [
      "a reference without tags",
      () => client.post("/api/assets/from-hash", { hash: `blake3:${"0".repeat(64)}`, tags: [] }),
      400,
      "INVALID_BODY",
      "tags",
    ],
    [
      "an unknown hash",
      () => client.post("/api/assets/from-hash", { hash: `blake3:${"0".repeat(64)}`, tags: ["a"] }),
      404,
      "NOT_FOUND",
      "hash",
    ],
  ])("refuses %s", async (_, call, status, code, word) => {
    expect(await call()).toMatchObject({ status, body: { code, message: expect.stringContaining(word) } });
    await expectNothingLeft();
  });

  it("judges an image for LoadImage by its header", async () => {
    const upload = (bytes: Uint8Array<ArrayBuffer> | string, name: string) => client.upload(bytes, name, {}, "image", "/api/upload/image");
    expect(await upload(png(16_385, 2, { pixels: false }), "wide.png")).toMatchObject({
      status: 400,
      body: { code: "INVALID_IMAGE", message: expect.stringContaining("16384") },
    });
    expect(await upload(png(9000, 9000, { pixels: false }), "huge.png")).toMatchObject({
      status: 400,
      body: { code: "INVALID_IMAGE", message: expect.stringContaining("pixels") },
    });
    const heavy = new Uint8Array(51 * 1024 * 1024);
    heavy.set(png(4, 4));
    expect(await upload(heavy, "heavy.png")).toMatchObject({
      status: 400,
      body: { code: "INVALID_IMAGE", message: expect.stringContaining("50 MB") },
    });
    await expectNothingLeft();
  });

  it("refuses changes to shipped assets", async () => {
    const sharedAssets = asRecord((await client.get("/api/assets?name_contains=product")).body).assets;
    const id = asString(asRecord(Array.isArray(sharedAssets) ? sharedAssets[0] : undefined).id);
    for (const [method, path, body] of [
      ["DELETE", `/api/assets/${id}`, undefined],
      ["PUT", `/api/assets/${id}`, { name: "mine" }],
      ["POST", `/api/assets/${id}/tags`, { tags: ["mine"] }],
    ] as const) {
      expect(await client.call(method, path, body)).toMatchObject({
        status: 403,
        body: { code: "FORBIDDEN", message: expect.stringContaining("shipped") },
      });
    }
  });
});
