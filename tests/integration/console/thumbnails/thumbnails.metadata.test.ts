// Thumbnails of listed assets need one request each and use the service's own metadata.
import { beforeEach, expect, test } from "vitest";
import { operations } from "@/lib/contract/operations";
import { createAssetPreviewCache } from "@/lib/server/connections/asset-preview-cache";
import { startThumbnailHarness } from "./thumbnail-harness";

let fixture: Awaited<ReturnType<typeof startThumbnailHarness>>;
beforeEach(async () => {
  fixture = await startThumbnailHarness();
});

const getPathsSince = (from: number) => fixture.service.requests.slice(from).map(({ url }) => url.replace(/\?.*/, ""));

test("loads a listed asset's thumbnail with one request", async () => {
  fixture.files.set("/one.png", { type: "image/png", bytes: fixture.png });
  fixture.previews.set("one", "/one.png");
  expect((await fixture.listAssets()).status).toBe(200);
  const from = fixture.service.requests.length;
  expect((await fixture.requestThumbnail("asset=one&version=1&edge=256")).status).toBe(200);
  expect(getPathsSince(from)).toEqual(["/one.png"]);
});

test("requests the asset when the version is missing or the key differs", async () => {
  fixture.files.set("/one.png", { type: "image/png", bytes: fixture.png });
  fixture.previews.set("one", "/one.png");
  await fixture.listAssets();
  const from = fixture.service.requests.length;
  expect((await fixture.requestThumbnail("asset=one&edge=256")).status).toBe(200);
  expect(getPathsSince(from)).toEqual(["/api/assets/one", "/one.png"]);
  const seenAssets = createAssetPreviewCache(() => 0);
  seenAssets.record("a connection, a key", operations.listAssets, { assets: [{ id: "one", name: "one", preview_url: "/one.png" }] });
  expect(seenAssets.find("a connection, a key", "one")?.preview_url).toBe("/one.png");
  expect(seenAssets.find("a connection, another key", "one")).toBeUndefined();
});

test("refreshes an expired preview URL and returns 204 for a missing preview", async () => {
  fixture.files.set("/new.png", { type: "image/png", bytes: fixture.png });
  fixture.previews.set("one", "/old.png");
  await fixture.listAssets();
  fixture.previews.set("one", "/new.png");
  expect((await fixture.requestThumbnail("asset=one&version=1&edge=256")).status).toBe(200);
  fixture.previews.set("two", "/gone.png");
  await fixture.listAssets();
  expect((await fixture.requestThumbnail("asset=two&version=1&edge=256")).status).toBe(204);
});

test("sends no request for an asset without a preview", async () => {
  fixture.previews.set("text", "");
  await fixture.listAssets();
  const from = fixture.service.requests.length;
  expect((await fixture.requestThumbnail("asset=text&version=1&edge=256")).status).toBe(204);
  expect(getPathsSince(from)).toEqual([]);
});

test("limits the cache's entry count, entry size and age", () => {
  let nowMs = 0;
  const seenAssets = createAssetPreviewCache(() => nowMs);
  const recordAssets = (ids: readonly string[], preview_url = "/x.png") =>
    seenAssets.record("reader", operations.listAssets, { assets: ids.map((id) => ({ id, name: id, preview_url })) });
  recordAssets(Array.from({ length: 6_000 }, (_, at) => `asset ${at}`));
  expect(seenAssets.find("reader", "asset 0")).toBeUndefined();
  expect(seenAssets.find("reader", "asset 5999")).toBeDefined();
  recordAssets(["long"], `/${"x".repeat(5_000)}.png`);
  expect(seenAssets.find("reader", "long")).toBeUndefined();
  nowMs = 60_000;
  expect(seenAssets.find("reader", "asset 5999")).toBeUndefined();
  seenAssets.record("reader", operations.listJobs, { assets: [{ id: "job", name: "job" }] });
  expect(seenAssets.find("reader", "job")).toBeUndefined();
});
