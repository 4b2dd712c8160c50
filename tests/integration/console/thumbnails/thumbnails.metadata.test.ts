// Thumbnails of listed assets need one request each and use the service's own metadata.
import { expect, test } from "vitest";
import { operations } from "@/lib/contract/operations";
import { createAssetPreviewCache } from "@/lib/server/connections/asset-preview-cache";
import { startThumbnailHarness } from "./thumbnail-harness";

const fixture = await startThumbnailHarness();

/** Lists the asset as the gallery does, with an existing image as its preview. */
async function listAsset(id: string, preview: string) {
  fixture.files.set("/one.png", { type: "image/png", bytes: fixture.png });
  fixture.previews.set(id, preview);
  expect((await fixture.listAssets()).status).toBe(200);
}
const getPathsSince = (from: number) => fixture.service.requests.slice(from).map(({ url }) => url.replace(/\?.*/, ""));

test("loads a listed asset's thumbnail with one request", async () => {
  await listAsset("one", "/one.png");
  const from = fixture.service.requests.length;
  expect((await fixture.requestThumbnail("asset=one&version=1&edge=256")).status).toBe(200);
  expect(getPathsSince(from)).toEqual(["/one.png"]);
});

test("requests the asset when the version is missing", async () => {
  await listAsset("one", "/one.png");
  const from = fixture.service.requests.length;
  expect((await fixture.requestThumbnail("asset=one&edge=256")).status).toBe(200);
  expect(getPathsSince(from)).toEqual(["/api/assets/one", "/one.png"]);
});

test("refreshes an expired preview URL and returns 204 for a missing preview", async () => {
  await listAsset("two", "/old.png");
  fixture.previews.set("two", "/one.png");
  expect((await fixture.requestThumbnail("asset=two&version=1&edge=256")).status).toBe(200);
  await listAsset("three", "/gone.png");
  expect((await fixture.requestThumbnail("asset=three&version=1&edge=256")).status).toBe(204);
});

test("sends no request for an asset without a preview", async () => {
  await listAsset("text", "");
  const from = fixture.service.requests.length;
  expect((await fixture.requestThumbnail("asset=text&version=1&edge=256")).status).toBe(204);
  expect(getPathsSince(from)).toEqual([]);
});

test("isolates cached previews by key and limits their count, size and age", () => {
  let nowMs = 0;
  const seenAssets = createAssetPreviewCache(() => nowMs);
  const recordAssets = (ids: readonly string[], preview_url = "/x.png") =>
    seenAssets.record("reader", operations.listAssets, { assets: ids.map((id) => ({ id, name: id, preview_url })) });
  recordAssets(Array.from({ length: 6_000 }, (_, at) => `asset ${at}`));
  expect(seenAssets.find("reader", "asset 0")).toBeUndefined();
  expect(seenAssets.find("reader", "asset 5999")?.preview_url).toBe("/x.png");
  expect(seenAssets.find("another reader", "asset 5999")).toBeUndefined();
  recordAssets(["long"], `/${"x".repeat(5_000)}.png`);
  expect(seenAssets.find("reader", "long")).toBeUndefined();
  nowMs = 60_000;
  expect(seenAssets.find("reader", "asset 5999")).toBeUndefined();
});
