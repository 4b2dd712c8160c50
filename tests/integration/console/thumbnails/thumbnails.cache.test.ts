// Thumbnails on disk: bounded, never truncated, and never blocking a response.
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Failure } from "@/lib/contract/failure";
import { createDiskCache, type DiskCache } from "@/lib/shared/disk-cache";
import { createMetrics } from "@/lib/shared/metrics";
import { ok } from "@/lib/shared/result";
import { setTelemetry } from "@/lib/shared/telemetry";
import { readScrape } from "@/tests/support/prometheus";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

let folder: string;
let generated: string[];
beforeEach(async () => {
  folder = temporaryFolder();
  generated = [];
});
afterEach(async () => {
  setTelemetry(undefined);
});

const SIZE = 10_000;
const asker = new AbortController();
const openCache = (cacheFolder: string, maxBytes = 512 * 1024 ** 2) =>
  createDiskCache<Failure>({ folder: cacheFolder, maxBytes, extension: "webp", hasMetrics: true });

async function get(cache: DiskCache<Failure>, name: string): Promise<Uint8Array> {
  const result = await cache.get({ name: [name], asker }, async () => {
    generated.push(name);
    return ok(Buffer.alloc(SIZE, name));
  });
  return result.ok ? result.value : Buffer.alloc(0);
}

async function files(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function bytes(): Promise<number> {
  const sizes = await Promise.all((await files()).map(async (path) => (await stat(path).catch(() => undefined))?.size ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test("keeps the cache within its limit, also beside another process", async () => {
  await mkdir(join(folder, "old"));
  for (let at = 0; at < 60; at += 1) await writeFile(join(folder, "old", `${at}.webp`), Buffer.alloc(SIZE));
  const maxBytes = 40 * SIZE;
  const [first, second] = [openCache(folder, maxBytes), openCache(folder, maxBytes)];
  await get(first, "first");
  await until("what was left is within the bound", async () => (await bytes()) <= maxBytes);
  for (let at = 0; at < 80; at += 1) {
    await get(at % 2 ? first : second, `picture ${at}`);
    await get(first, "first");
  }
  await until("all of it is within the bound", async () => (await bytes()) <= maxBytes);
  expect(generated.filter((name) => name === "first")).toHaveLength(1);
});

test("remakes a truncated, changed, empty or foreign cache file", async () => {
  const cache = openCache(folder);
  const bytes = await get(cache, "a");
  const [path = ""] = await files();
  const damages = [
    () => truncate(path, SIZE / 2),
    () => truncate(path, 0),
    () => writeFile(path, Buffer.alloc(SIZE + 32)),
    () => writeFile(path, "RIFF"),
    async () => writeFile(path, (await readFile(path)).fill(1, 100, 101)),
  ];
  for (const [at, damage] of damages.entries()) {
    await damage();
    expect([at, Buffer.compare(await get(cache, "a"), bytes)]).toEqual([at, 0]);
    expect([at, generated.length]).toEqual([at, at + 2]);
  }
  await get(openCache(folder), "a");
  expect(generated).toHaveLength(damages.length + 1);
});

test("serves pictures without caching when the disk refuses writes", async () => {
  const path = join(folder, "a file in the folder's place");
  await writeFile(path, "");
  for (const location of [path, join(path, "deeper")]) {
    const cache = openCache(location, 1);
    expect((await get(cache, "a")).length).toBe(SIZE);
    expect((await get(cache, "a")).length).toBe(SIZE);
  }
  expect(generated).toHaveLength(4);
  await rm(folder, { recursive: true });
  const smallCache = openCache(folder, 1);
  expect((await get(smallCache, "b")).length).toBe(SIZE);
});

test("reports made and cached thumbnails and the cache size in metrics", async () => {
  const metrics = await createMetrics();
  setTelemetry({ metrics });
  const cache = openCache(folder);
  const all = async () => readScrape((await metrics.text()).body).series;
  const size = async () => (await all()).find(({ name }) => name === "lightdesk_thumbnail_cache_bytes")?.value;
  await get(cache, "a");
  await until("the folder was looked through", async () => (await size()) === SIZE + 32);
  for (const name of ["b", "a", "a"]) await get(cache, name);
  expect([await size(), await bytes()]).toEqual([2 * (SIZE + 32), 2 * (SIZE + 32)]);
  expect((await all()).filter(({ name }) => name === "lightdesk_thumbnails_total")).toMatchObject([
    { labels: { result: "made" }, value: 2 },
    { labels: { result: "kept" }, value: 2 },
  ]);
  await get(openCache(folder), "c");
  await until("a new process counts all three", async () => (await size()) === 3 * (SIZE + 32));
});
