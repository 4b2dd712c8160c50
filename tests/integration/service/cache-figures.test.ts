// What the metrics say of the service's caches: how often each had what was needed, and how large it is.
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createMetrics, type Metrics } from "@/lib/shared/metrics";
import { keepTelemetry } from "@/lib/shared/telemetry";
import { bucketSettings } from "@/tests/support/blob-places";
import { readScrape } from "@/tests/support/prometheus";
import { type ServiceBench, startService } from "@/tests/support/service";
import { startStrictS3, type StrictS3 } from "@/tests/support/strict-s3";
import { until } from "@/tests/support/until";
import { canvas, ended, png, record, string, submit } from "./support";

let s3: StrictS3;
let bench: ServiceBench;
let metrics: Metrics;
beforeEach(async () => {
  metrics = await createMetrics();
  keepTelemetry({ metrics });
  s3 = await startStrictS3();
  bench = await startService({ ...bucketSettings(s3), concurrency: 1 });
});
afterEach(async () => {
  keepTelemetry(undefined);
  await bench.dispose();
  await s3.close();
});

async function figures(name: string): Promise<Record<string, number>> {
  const { series } = readScrape((await metrics.text()).body);
  return Object.fromEntries(series.filter((one) => one.name === name).map(({ labels, value }) => [labels.result ?? "all", value]));
}

/** Of the files below a folder of the service. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(join(bench.folder, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

it("counts thumbnails that were made and kept, and copies from the bucket that were fetched and kept, with what both take on the disk", async () => {
  const client = bench.client();
  const { asset_hash } = record((await client.upload(png(300, 200), "p.png")).body);
  const thumbnail = async (edge: number) =>
    expect((await client.raw("GET", `/api/view?filename=${string(asset_hash)}&res=${edge}`)).status).toBe(200);
  await thumbnail(64);
  await thumbnail(64);
  expect(await figures("lightdesk_service_thumbnails_total")).toEqual({ made: 1, kept: 1 });
  expect(await figures("lightdesk_service_thumbnail_cache_bytes")).toEqual({ all: await sizeOf("thumbnails") });
  expect(await figures("lightdesk_blob_copies_total")).toEqual({ kept: 1 });
  expect(await figures("lightdesk_blob_copies_bytes")).toEqual({ all: await sizeOf("blob-copies") });
  const hash = string(asset_hash).slice(7);
  await rm(join(bench.folder, "blob-copies", hash.slice(0, 2), hash.slice(2)));
  await thumbnail(128);
  expect(await figures("lightdesk_blob_copies_total")).toEqual({ kept: 1, fetched: 1 });
  expect(await figures("lightdesk_service_thumbnail_cache_bytes")).toEqual({ all: await sizeOf("thumbnails") });
  // An icon is neither.
  const text = record((await client.upload("text", "a.txt")).body);
  expect((await client.raw("GET", `/api/view?filename=${string(text.asset_hash)}&res=64`)).status).toBe(200);
  expect(await figures("lightdesk_service_thumbnails_total")).toEqual({ made: 2, kept: 1 });
});

it("counts nodes whose result was made and known, and says what stored results take once it has looked", async () => {
  const client = bench.client("ada");
  for (const expected of [{ made: 2 }, { made: 2, kept: 2 }]) {
    expect(await ended(client, await submit(client, canvas(7)))).toMatchObject({ status: "completed" });
    expect(await figures("lightdesk_node_results_total")).toEqual(expected);
  }
  expect(await sizeOf("node-cache")).toBeGreaterThan(0);
  await bench.service.stop();
  bench = await startService({ ...bucketSettings(s3), concurrency: 1, dataDir: bench.folder });
  const bytes = await sizeOf("node-cache");
  await until("the size is measured", async () => (await figures("lightdesk_node_cache_bytes")).all === bytes);
});
