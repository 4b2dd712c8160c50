// Look-ups of mask layers and of stored content by hash. A missing result isn't an error, but a failed look-up is.
import sharp from "sharp";
import { expect, test } from "vitest";
import { createConnectionClient } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });

const requestLayers = (filename: string, connection = "embedded") =>
  createConnectionClient(harness, connection).send(`/api/console/mask-layers?filename=${filename}`);

async function uploadImage(path: string, fields: Record<string, string>, alpha: number) {
  const file = await sharp({ create: { width: 6, height: 4, channels: 4, background: { r: 1, g: 2, b: 3, alpha } } })
    .png()
    .toBuffer();
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.set("image", new File([new Uint8Array(file)], "x.png", { type: "image/png" }));
  const response = await harness.request(path, { as: "operator", method: "POST", body });
  expect(response.status).toBe(200);
  const upload: { name: string; metadata?: { related_files: { mask: string } } } = await response.json();
  return upload;
}

test("returns a masked picture's layer, and none for other pictures", async () => {
  const { name } = await uploadImage("/api/upload/image", {}, 1);
  const masked = await uploadImage("/api/upload/mask", { original_ref: JSON.stringify({ filename: name }) }, 0.5);
  const response = await requestLayers(masked.name);
  expect([response.status, await response.json()]).toEqual([200, { mask: masked.metadata?.related_files.mask }]);
  for (const filename of [name, "nobody.png"]) {
    const nullResponse = await requestLayers(filename);
    expect([nullResponse.status, await nullResponse.json()]).toEqual([200, { mask: null }]);
  }
  expect((await requestLayers("")).status).toBe(400);
});

test("returns null for a service without mask layers and an error for a failing one", async () => {
  let status = 404;
  const service = await openTestServer((_, response) => void response.writeHead(status).end());
  const connectionWithoutLayers = await harness.connect(service.url, "sk-any");
  expect(await (await requestLayers("a.png", connectionWithoutLayers)).json()).toEqual({ mask: null });
  status = 500;
  const failingConnection = await harness.connect(`${service.url}/failing`, "sk-any");
  expect((await requestLayers("a.png", failingConnection)).ok).toBe(false);
  await service.close();
  expect((await requestLayers("a.png", await harness.connect(`${service.url}/closed`, "sk-any"))).ok).toBe(false);
});

const UNKNOWN_HASH = `blake3:${"0".repeat(64)}`;
const createFromHash = (body: object, { connection = "embedded", as = "operator" as "operator" | "viewer" } = {}) =>
  createConnectionClient(harness, connection, as).post("/api/console/known-content", body);

test("creates an asset from stored content and returns null for an unknown hash", async () => {
  const body = new FormData();
  body.set("tags", '["input"]');
  body.set("file", new File(["known"], "known.txt"));
  const upload: { id: string; asset_hash: string } = await (
    await harness.request("/api/assets", { as: "operator", method: "POST", body })
  ).json();
  const response = await createFromHash({ hash: upload.asset_hash, tags: ["again"], name: "other.txt" });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { asset: { id: upload.id, asset_hash: upload.asset_hash, created_new: false, tags: ["input", "again"] } },
  ]);
  const nullResponse = await createFromHash({ hash: UNKNOWN_HASH, tags: ["input"] });
  expect([nullResponse.status, await nullResponse.json()]).toEqual([200, { asset: null }]);
});

test("rejects invalid hashes and viewers, and reports services without hash lookup", async () => {
  expect((await createFromHash({ hash: "x", tags: ["input"] })).status).toBe(400);
  expect((await createFromHash({ hash: UNKNOWN_HASH, tags: ["input"] }, { as: "viewer" })).status).toBe(403);
  const service = await openTestServer((_, response) => sendJsonResponse(response, { code: "NOT_IMPLEMENTED", message: "no" }, 501));
  const connection = await harness.connect(service.url, "sk-any");
  const getStatus = async () => (await createFromHash({ hash: UNKNOWN_HASH, tags: ["input"] }, { connection })).status;
  expect(await getStatus()).toBe(501);
  await service.close();
  expect(await getStatus()).toBe(502);
});
