import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asString, createPng } from "./support";

describe("invalid asset uploads", async () => {
  const service = await startService({ maxUploadBytes: 60 * 1024 * 1024 });
  const client = service.client();

  async function expectNoLeftovers(): Promise<void> {
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
    expect((await client.get("/api/assets?include_public=false")).body).toMatchObject({ total: 0 });
  }

  const boundary = "test-boundary";
  const multipart = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const partHeader = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;

  it("discards a body that ends in the middle of the file", async () => {
    const response = await client.call("POST", "/api/assets", partHeader + "half of the by", multipart);
    expect(response).toMatchObject({ status: 400, body: { code: "TRUNCATED_UPLOAD" } });
    await expectNoLeftovers();
  });

  it("discards an upload when the client disconnects", async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(partHeader + "x".repeat(100_000)));
        controller.error(new Error("connection lost"));
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
    await expectNoLeftovers();
  });

  it("discards a body shorter than declared", async () => {
    const body = `${partHeader}all\r\n--${boundary}--\r\n`;
    const response = await client.call("POST", "/api/assets", body, { ...multipart, "content-length": String(body.length + 10) });
    expect(response).toMatchObject({ status: 400, body: { code: "TRUNCATED_UPLOAD" } });
    await expectNoLeftovers();
  });

  it("returns 413 for an upload above the limit", async () => {
    const limitedService = await startService({ maxUploadBytes: 1000 });
    expect(await limitedService.client().upload("x".repeat(1001), "big.txt")).toMatchObject({
      status: 413,
      body: { code: "FILE_TOO_LARGE" },
    });
    expect(await readdir(join(limitedService.folder, "tmp"))).toEqual([]);
  });

  it.each([
    ["a body that is not multipart", () => client.post("/api/assets", { url: "x" }), 415, "UNSUPPORTED_MEDIA_TYPE", "multipart"],
    ["no file", () => client.upload("x", "a.txt", {}, "attachment"), 400, "MISSING_FILE", "file"],
    ["metadata that is not JSON", () => client.upload("x", "a.txt", { user_metadata: "{" }), 400, "INVALID_BODY", "user_metadata"],
    ["metadata that is not an object", () => client.upload("x", "a.txt", { user_metadata: "[1]" }), 400, "INVALID_BODY", "user_metadata"],
    ["tags that are not a list", () => client.upload("x", "a.txt", { tags: "[" }), 400, "INVALID_BODY", "tags"],
    ["tags that are an object", () => client.upload("x", "a.txt", { tags: '{"a":1}' }), 400, "INVALID_BODY", "tags"],
    ["tags that are a JSON string", () => client.upload("x", "a.txt", { tags: '"a"' }), 400, "INVALID_BODY", "tags"],
    [
      "a media type with a line break",
      () => client.upload("x", "a.txt", { mime_type: "text/plain\r\nx: y" }),
      400,
      "INVALID_BODY",
      "mime_type",
    ],
    ["a name with a NUL", () => client.upload("x", "a.txt", { name: "a\0b" }), 400, "INVALID_BODY", "name"],
    [
      "a reference name with a line break",
      () => client.post("/api/assets/from-hash", { hash: `blake3:${"0".repeat(64)}`, tags: ["a"], name: "a\nb" }),
      400,
      "INVALID_BODY",
      "name",
    ],
    ["an id that is not a UUID", () => client.upload("x", "a.txt", { id: "7" }), 400, "INVALID_BODY", "id"],
    [
      "a preview that does not exist",
      () => client.upload("x", "a.txt", { preview_id: "6f0d4f7e-13b2-4a1f-9d5c-0c4f1f8a7a99" }),
      400,
      "INVALID_PREVIEW_ID",
      "preview_id",
    ],
    ["a hash without an algorithm", () => client.post("/api/assets/from-hash", { hash: "abc", tags: ["a"] }), 400, "INVALID_BODY", "hash"],
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
  ])("rejects %s", async (_, call, status, code, expectedText) => {
    expect(await call()).toMatchObject({ status, body: { code, message: expect.stringContaining(expectedText) } });
    await expectNoLeftovers();
  });

  it("rejects images that are too large for LoadImage", async () => {
    const upload = (bytes: Uint8Array<ArrayBuffer> | string, name: string) => client.upload(bytes, name, {}, "image", "/api/upload/image");
    expect(await upload(createPng(16_385, 2, { pixels: false }), "wide.png")).toMatchObject({
      status: 400,
      body: { code: "INVALID_IMAGE", message: expect.stringContaining("16384") },
    });
    expect(await upload(createPng(9000, 9000, { pixels: false }), "huge.png")).toMatchObject({
      status: 400,
      body: { code: "INVALID_IMAGE", message: expect.stringContaining("pixels") },
    });
    const largeImage = new Uint8Array(51 * 1024 * 1024);
    largeImage.set(createPng(4, 4));
    expect(await upload(largeImage, "heavy.png")).toMatchObject({
      status: 400,
      body: { code: "INVALID_IMAGE", message: expect.stringContaining("50 MB") },
    });
    await expectNoLeftovers();
  });

  it("rejects changes to shipped assets", async () => {
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
