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
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

let folder: string;
let generated: string[];
beforeEach(async () => {
  folder = createTemporaryFolder();
  generated = [];
});
afterEach(async () => {
  setTelemetry(undefined);
});

const SIZE = 10_000;
const caller = new AbortController();
const openCache = (cacheFolder: string, maxBytes = 512 * 1024 ** 2) =>
  createDiskCache<Failure>({ folder: cacheFolder, maxBytes, extension: "webp", hasMetrics: true });

async function get(cache: DiskCache<Failure>, name: string): Promise<Uint8Array> {
  const result = await cache.get({ name: [name], caller }, async () => {
    generated.push(name);
    return ok(Buffer.alloc(SIZE, name));
  });
  return result.ok ? result.value : Buffer.alloc(0);
}

async function listFiles(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function getTotalBytes(): Promise<number> {
  const sizes = await Promise.all((await listFiles()).map(async (path) => (await stat(path).catch(() => undefined))?.size ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test("keeps the cache within its limit when two processes share it", async () => {
  await mkdir(join(folder, "old"));
  for (let index = 0; index < 60; index += 1) await writeFile(join(folder, "old", `${index}.webp`), Buffer.alloc(SIZE));
  const maxBytes = 40 * SIZE;
  const [first, second] = [openCache(folder, maxBytes), openCache(folder, maxBytes)];
  await get(first, "first");
  await until("earlier files are within the limit", async () => (await getTotalBytes()) <= maxBytes);
  for (let index = 0; index < 80; index += 1) {
    await get(index % 2 ? first : second, `picture ${index}`);
    await get(first, "first");
  }
  await until("all files are within the limit", async () => (await getTotalBytes()) <= maxBytes);
  expect(generated.filter((name) => name === "first")).toHaveLength(1);
});

test("regenerates a truncated, changed, empty or invalid cache file", async () => {
  const cache = openCache(folder);
  const bytes = await get(cache, "a");
  const [path = ""] = await listFiles();
  const corruptions = [
    () => truncate(path, SIZE / 2),
    () => truncate(path, 0),
    () => writeFile(path, Buffer.alloc(SIZE + 32)),
    () => writeFile(path, "RIFF"),
    async () => writeFile(path, (await readFile(path)).fill(1, 100, 101)),
  ];
  for (const [index, corrupt] of corruptions.entries()) {
    await corrupt();
    expect([index, Buffer.compare(await get(cache, "a"), bytes)]).toEqual([index, 0]);
    expect([index, generated.length]).toEqual([index, index + 2]);
  }
  await get(openCache(folder), "a");
  expect(generated).toHaveLength(corruptions.length + 1);
});

test("serves thumbnails without caching when disk writes fail", async () => {
  const path = join(folder, "not-a-folder");
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

test("reports generated and cached thumbnails and the cache size in metrics", async () => {
  const metrics = await createMetrics();
  setTelemetry({ metrics });
  const cache = openCache(folder);
  const getSeries = async () => readScrape((await metrics.getText()).body).series;
  const getCacheSize = async () => (await getSeries()).find(({ name }) => name === "lightdesk_thumbnail_cache_bytes")?.value;
  await get(cache, "a");
  await until("the folder has been scanned", async () => (await getCacheSize()) === SIZE + 32);
  for (const name of ["b", "a", "a"]) await get(cache, name);
  expect([await getCacheSize(), await getTotalBytes()]).toEqual([2 * (SIZE + 32), 2 * (SIZE + 32)]);
  expect((await getSeries()).filter(({ name }) => name === "lightdesk_thumbnails_total")).toMatchObject([
    { labels: { result: "made" }, value: 2 },
    { labels: { result: "kept" }, value: 2 },
  ]);
  await get(openCache(folder), "c");
  await until("a new process counts all three", async () => (await getCacheSize()) === 3 * (SIZE + 32));
});
