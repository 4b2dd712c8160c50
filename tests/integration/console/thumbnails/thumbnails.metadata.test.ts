// Thumbnails of just listed assets: one call to the service each, and always the service's own metadata.
import { beforeEach, expect, test } from "vitest";
import { operations } from "@/lib/contract/operations";
import { createSeenAssets } from "@/lib/server/connections/seen-assets";
import { startThumbnailWorld } from "./thumbnail-world";

let world: Awaited<ReturnType<typeof startThumbnailWorld>>;
beforeEach(async () => {
  world = await startThumbnailWorld();
});

const since = (from: number) => world.service.requests.slice(from).map(({ url }) => url.replace(/\?.*/, ""));

test("loads a listed asset's thumbnail with one call", async () => {
  world.files.set("/one.png", { type: "image/png", bytes: world.png });
  world.previews.set("one", "/one.png");
  expect((await world.list()).status).toBe(200);
  const from = world.service.requests.length;
  expect((await world.ask("asset=one&version=1&edge=256")).status).toBe(200);
  expect(since(from)).toEqual(["/one.png"]);
});

test("requests the asset without a version or with another key", async () => {
  world.files.set("/one.png", { type: "image/png", bytes: world.png });
  world.previews.set("one", "/one.png");
  await world.list();
  const from = world.service.requests.length;
  expect((await world.ask("asset=one&edge=256")).status).toBe(200);
  expect(since(from)).toEqual(["/api/assets/one", "/one.png"]);
  const seenAssets = createSeenAssets(() => 0);
  seenAssets.record("a connection, a key", operations.listAssets, { assets: [{ id: "one", name: "one", preview_url: "/one.png" }] });
  expect(seenAssets.find("a connection, a key", "one")?.preview_url).toBe("/one.png");
  expect(seenAssets.find("a connection, another key", "one")).toBeUndefined();
});

test("refreshes an expired address but keeps a refusal", async () => {
  world.files.set("/new.png", { type: "image/png", bytes: world.png });
  world.previews.set("one", "/old.png");
  await world.list();
  world.previews.set("one", "/new.png");
  expect((await world.ask("asset=one&version=1&edge=256")).status).toBe(200);
  world.previews.set("two", "/gone.png");
  await world.list();
  expect((await world.ask("asset=two&version=1&edge=256")).status).toBe(204);
});

test("makes no call for an asset without a picture", async () => {
  world.previews.set("text", "");
  await world.list();
  const from = world.service.requests.length;
  expect((await world.ask("asset=text&version=1&edge=256")).status).toBe(204);
  expect(since(from)).toEqual([]);
});

test("limits the cache in number, size and time", () => {
  let nowMs = 0;
  const seenAssets = createSeenAssets(() => nowMs);
  const learn = (ids: readonly string[], preview_url = "/x.png") =>
    seenAssets.record("reader", operations.listAssets, { assets: ids.map((id) => ({ id, name: id, preview_url })) });
  learn(Array.from({ length: 6_000 }, (_, at) => `asset ${at}`));
  expect(seenAssets.find("reader", "asset 0")).toBeUndefined();
  expect(seenAssets.find("reader", "asset 5999")).toBeDefined();
  learn(["long"], `/${"x".repeat(5_000)}.png`);
  expect(seenAssets.find("reader", "long")).toBeUndefined();
  nowMs = 60_000;
  expect(seenAssets.find("reader", "asset 5999")).toBeUndefined();
  seenAssets.record("reader", operations.listJobs, { assets: [{ id: "job", name: "job" }] });
  expect(seenAssets.find("reader", "job")).toBeUndefined();
});
