import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asString, createPng, listAssets } from "./support";

describe("invalid asset uploads", async () => {
  const service = await startService({ maxUploadBytes: 60 * 1024 * 1024 });
  const client = service.client();

  async function expectNoLeftovers(): Promise<void> {
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
    expect(await listAssets(client)).toEqual([]);
  }

  const multipart = { "content-type": "multipart/form-data; boundary=b" };
  const partHeader = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
  const send = (body: string, headers?: Record<string, string>) => client.call("POST", "/api/assets", body, { ...multipart, ...headers });
  const createFromHash = (fields: object) =>
    client.post("/api/assets/from-hash", { hash: `blake3:${"0".repeat(64)}`, tags: ["a"], ...fields });

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
    ["a media type with a line break", () => client.upload("x", "a.txt", { mime_type: "a/b\r\nx: y" }), 400, "INVALID_BODY", "mime_type"],
    ["a name with a NUL", () => client.upload("x", "a.txt", { name: "a\0b" }), 400, "INVALID_BODY", "name"],
    ["an id that is not a UUID", () => client.upload("x", "a.txt", { id: "7" }), 400, "INVALID_BODY", "id"],
    ["a missing preview", () => client.upload("x", "a.txt", { preview_id: crypto.randomUUID() }), 400, "INVALID_PREVIEW_ID", "preview_id"],
    ["a reference name with a line break", () => createFromHash({ name: "a\nb" }), 400, "INVALID_BODY", "name"],
    ["a hash without an algorithm", () => createFromHash({ hash: "abc" }), 400, "INVALID_BODY", "hash"],
    ["a reference without tags", () => createFromHash({ tags: [] }), 400, "INVALID_BODY", "tags"],
    ["an unknown hash", () => createFromHash({}), 404, "NOT_FOUND", "hash"],
    ["a body that ends in the file", () => send(`${partHeader}half of the by`), 400, "TRUNCATED_UPLOAD", "complete"],
    [
      "a body shorter than declared",
      () => send(`${partHeader}all\r\n--b--\r\n`, { "content-length": "100000" }),
      400,
      "TRUNCATED_UPLOAD",
      "complete",
    ],
  ])("rejects %s", async (_, call, status, code, expectedText) => {
    expect(await call()).toMatchObject({ status, body: { code, message: expect.stringContaining(expectedText) } });
    await expectNoLeftovers();
  });

  it("rejects images that are too large for LoadImage", async () => {
    const largeImage = new Uint8Array(51 * 1024 * 1024);
    largeImage.set(createPng(4, 4));
    for (const [bytes, expectedText] of [
      [createPng(16_385, 2, { pixels: false }), "16384"],
      [createPng(9000, 9000, { pixels: false }), "pixels"],
      [largeImage, "50 MB"],
    ] as const)
      expect(await client.upload(bytes, "a.png", {}, "image", "/api/upload/image")).toMatchObject({
        status: 400,
        body: { code: "INVALID_IMAGE", message: expect.stringContaining(expectedText) },
      });
    await expectNoLeftovers();
  });

  it("rejects changes to shipped assets", async () => {
    const [shippedAsset] = await listAssets(client, "name_contains=product");
    const path = `/api/assets/${asString(shippedAsset?.id)}`;
    for (const [method, target, body] of [
      ["DELETE", path, undefined],
      ["PUT", path, { name: "mine" }],
      ["POST", `${path}/tags`, { tags: ["mine"] }],
    ] as const)
      expect(await client.call(method, target, body)).toMatchObject({
        status: 403,
        body: { code: "FORBIDDEN", message: expect.stringContaining("shipped") },
      });
  });
});
