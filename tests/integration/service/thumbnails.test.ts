import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createThumbnails, type WithFile } from "@/lib/service/assets/thumbnails";
import { createMetrics, type Metrics } from "@/lib/shared/metrics";
import { setTelemetry } from "@/lib/shared/telemetry";
import { createBucketSettings } from "@/tests/support/blob-backends";
import { readScrape } from "@/tests/support/prometheus";
import { startStrictS3 } from "@/tests/support/servers";
import { type Client, startService } from "@/tests/support/service";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { asRecord, asString, createColorGraph, createPng, type Json, runGraph } from "./support";

const mp4 = new Uint8Array(Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypisom\0\0\0\0isommp42"), Buffer.alloc(64)]));
const wav = new Uint8Array(Buffer.from(`RIFF\0\0\0\0WAVEfmt ${"\0".repeat(40)}`, "latin1"));
const glb = new Uint8Array(Buffer.from(`glTF\x02\0\0\0${"\0".repeat(40)}`, "latin1"));

async function uploadAsset(client: Client, bytes: Uint8Array<ArrayBuffer>, name: string): Promise<Json> {
  return asRecord((await client.upload(bytes, name)).body);
}

async function fetchThumbnail(client: Client, asset: Json, edge: number) {
  const response = await client.raw("GET", `/api/view?filename=${asString(asset.asset_hash)}&res=${edge}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    error: response.ok ? undefined : asRecord(JSON.parse(bytes.toString())),
  };
}

async function readFirstPixel(bytes: Buffer): Promise<number[]> {
  const { data } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray(0, 4)];
}

const createPlainImage = async (options: { width: number; height: number; background: string; orientation?: number }) => {
  const image = sharp({ create: { ...options, channels: 4 } });
  return new Uint8Array(await (options.orientation ? image.withMetadata({ orientation: options.orientation }) : image).png().toBuffer());
};

describe("thumbnails of images", async () => {
  const service = await startService();
  const client = service.client();

  it.each([
    [300, 200, 64, "64x43"],
    [200, 300, 1024, "683x1024"],
    [8, 8, 64, "64x64"],
    [4000, 2, 64, "64x1"],
  ])("are WebP with the requested longer edge for %i by %i at %i", async (width, height, edge, expected) => {
    const { status, headers, bytes } = await fetchThumbnail(client, await uploadAsset(client, createPng(width, height), "p.png"), edge);
    expect([status, headers.get("content-type")]).toEqual([200, "image/webp"]);
    const metadata = await sharp(bytes).metadata();
    expect([metadata.format, `${metadata.width}x${metadata.height}`]).toEqual(["webp", expected]);
  });

  it("are upright and keep transparency", async () => {
    const rotatedImage = await uploadAsset(
      client,
      await createPlainImage({ width: 100, height: 50, background: "#00ff0080", orientation: 6 }),
      "turned.png",
    );
    const { bytes } = await fetchThumbnail(client, rotatedImage, 100);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 50, height: 100, hasAlpha: true });
    expect((await readFirstPixel(bytes))[3]).toBe(128);
  });

  it("show an animation's first frame", async () => {
    const frames = ["red", "blue"].map((background) => ({ create: { width: 40, height: 40, channels: 3 as const, background } }));
    const frameImages = await Promise.all(frames.map((frame) => sharp(frame).png().toBuffer()));
    const gif = new Uint8Array(
      await sharp(frameImages, { join: { animated: true } })
        .gif()
        .toBuffer(),
    );
    const { bytes } = await fetchThumbnail(client, await uploadAsset(client, gif, "a.gif"), 64);
    expect((await sharp(bytes).metadata()).pages ?? 1).toBe(1);
    const [red, , blue] = await readFirstPixel(bytes);
    expect([Number(red) > 200, Number(blue) < 50]).toEqual([true, true]);
  });

  it("are rejected for oversized and invalid images", async () => {
    for (const bytes of [
      createPng(9000, 9000, { pixels: false }),
      new Uint8Array(Buffer.concat([createPng(5, 5).subarray(0, 20), Buffer.alloc(99)])),
    ]) {
      const { status, error } = await fetchThumbnail(client, await uploadAsset(client, bytes, "bad.png"), 64);
      expect([status, error?.code]).toEqual([422, "UNPROCESSABLE"]);
    }
  });

  it("are immutable when requested by hash and deleted with the original", async () => {
    const asset = await uploadAsset(client, createPng(33, 44), "image.png");
    const { headers } = await fetchThumbnail(client, asset, 128);
    expect(headers.get("cache-control")).toContain("immutable");
    const path = `/api/view?filename=${asString(asset.asset_hash)}&res=128`;
    expect((await client.raw("GET", path, undefined, { "if-none-match": headers.get("etag") ?? "" })).status).toBe(304);
    const hash = asString(asset.asset_hash).slice(7);
    const shard = join(service.folder, "thumbnails", hash.slice(0, 2));
    expect(await readdir(shard)).toEqual([hash.slice(2)]);
    await client.call("DELETE", `/api/assets/${asString(asset.id)}`);
    expect(await readdir(shard)).toEqual([]);
  });

  it("stay within a size limit by evicting the least recently used", async () => {
    const folder = createTemporaryFolder();
    const folders = { thumbnails: join(folder, "thumbnails"), temp: folder };
    const source = join(folder, "source.png");
    const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
    await sharp({ create: { width: 256, height: 256, channels: 3, background: "red", noise } })
      .png()
      .toFile(source);
    const createContent = (index: number) => ({ hash: String(index).padStart(64, "0"), media_type: "image/png", name: "s.png" });
    const withSource: WithFile = (use) => use(source);
    const size = (await createThumbnails(folders).get(createContent(0), withSource, 256)).webp.length;
    const thumbnails = createThumbnails(folders, { maxBytes: size * 3.5 });
    for (let index = 1; index < 8; index += 1) await thumbnails.get(createContent(index), withSource, 256);
    const cachedFiles = (await readdir(folders.thumbnails, { recursive: true })).filter((name) => name.endsWith(".webp"));
    expect(cachedFiles.length).toBeLessThanOrEqual(3);
    expect(cachedFiles.some((name) => name.includes("7/256.webp"))).toBe(true);
  });
});

describe("thumbnails of other files without ffmpeg", async () => {
  const service = await startService({ publicUrl: "https://desk.example/base" });
  const client = service.client();

  it("are a distinct icon for each kind of file", async () => {
    const icons = new Set<string>();
    for (const [bytes, name, hasPreview] of [
      [mp4, "v.mp4", true],
      [wav, "a.wav", true],
      [glb, "m.glb", false],
      [new Uint8Array([1, 2, 3, 250]), "x.weights", false],
    ] as const) {
      const asset = await uploadAsset(client, bytes, name);
      if (hasPreview) expect(asset.preview_url).toMatch(/^https:\/\/desk\.example\/base\/api\/view\?.*res=512/);
      else expect(asset).not.toHaveProperty("preview_url");
      const { bytes: image, headers } = await fetchThumbnail(client, asset, 512);
      expect(await sharp(image).metadata()).toMatchObject({ format: "webp", width: 512, height: 512 });
      // ffmpeg may be installed later, so clients must not cache the placeholder forever.
      if (hasPreview) expect(headers.get("cache-control")).not.toContain("immutable");
      icons.add(image.toString("base64"));
    }
    expect(icons.size).toBe(4);
  });
});

describe("thumbnails by ffmpeg", async () => {
  const folder = createTemporaryFolder();
  await writeFile(join(folder, "frame.png"), await createPlainImage({ width: 1024, height: 512, background: "#ff0000" }));

  /** Creates a fake ffmpeg that logs its arguments, then runs `script`. */
  async function createFakeFfmpeg(name: string, script: string): Promise<{ path: string; calls: () => Promise<string[]> }> {
    const path = join(folder, name);
    const log = `${path}.log`;
    await writeFile(log, "");
    await writeFile(path, `#!/bin/sh\necho "$*" >> '${log}'\n${script}\n`);
    await chmod(path, 0o700);
    return { path, calls: async () => (await readFile(log, "utf8")).split("\n").filter((line) => line !== "") };
  }

  it("are created from one frame, once for all requests and edges", async () => {
    const ffmpeg = await createFakeFfmpeg("good", `cat '${join(folder, "frame.png")}'`);
    const service = await startService({ ffmpeg: ffmpeg.path });
    const client = service.client();
    const video = await uploadAsset(client, mp4, "video.txt");
    const responses = await Promise.all([64, 64, 64, 256, 512, 1024].map((edge) => fetchThumbnail(client, video, edge)));
    for (const [index, edge] of [64, 64, 64, 256, 512, 1024].entries()) {
      const bytes = responses[index]?.bytes ?? Buffer.alloc(0);
      expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: edge, height: edge / 2 });
      expect((await readFirstPixel(bytes))[0]).toBeGreaterThan(240);
      expect(responses[index]?.headers.get("cache-control")).toContain("immutable");
    }
    const [call, ...otherCalls] = await ffmpeg.calls();
    expect(otherCalls).toEqual([]);
    const hash = asString(video.asset_hash).slice(7);
    const path = join(service.folder, "blobs", "blake3-v1", hash.slice(0, 2), hash.slice(2));
    expect(call).toContain(`-protocol_whitelist file -f mov -t 10 -i file:${path} `);
    await fetchThumbnail(client, await uploadAsset(client, wav, "sound.mp4"), 64);
    expect((await ffmpeg.calls())[1]).toContain("-f wav");
  });

  it("fall back to an icon when ffmpeg fails, without an immediate retry", async () => {
    const ffmpeg = await createFakeFfmpeg("bad", "echo broken; exit 1");
    const service = await startService({ ffmpeg: ffmpeg.path });
    const client = service.client();
    const video = await uploadAsset(client, mp4, "video.mp4");
    for (const edge of [64, 128, 1024]) {
      const { status, bytes, headers } = await fetchThumbnail(client, video, edge);
      expect([status, (await sharp(bytes).metadata()).width]).toEqual([200, edge]);
      expect(headers.get("cache-control")).not.toContain("immutable");
    }
    expect(await ffmpeg.calls()).toHaveLength(1);
  });

  it("don't delay a stop when ffmpeg hangs", async () => {
    const ffmpeg = await createFakeFfmpeg("slow", `echo $$ > '${join(folder, "pid")}'\nexec sleep 3600`);
    const service = await startService({ ffmpeg: ffmpeg.path });
    const client = service.client();
    const video = await uploadAsset(client, mp4, "video.mp4");
    const pendingThumbnail = fetchThumbnail(client, video, 64);
    const pid = await until("ffmpeg runs", async () => Number(await readFile(join(folder, "pid"), "utf8").catch(() => "0")) || false);
    await service.dispose();
    expect((await pendingThumbnail).status).toBe(200);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});

describe("cache metrics", () => {
  let metrics: Metrics;
  beforeEach(async () => {
    metrics = await createMetrics();
    setTelemetry({ metrics });
  });
  afterEach(() => setTelemetry(undefined));

  async function readSeries(name: string): Promise<Record<string, number>> {
    const { series } = readScrape((await metrics.getText()).body);
    return Object.fromEntries(series.filter((series) => series.name === name).map(({ labels, value }) => [labels.result ?? "all", value]));
  }

  async function getFolderSize(...path: string[]): Promise<number> {
    const entries = await readdir(join(...path), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  it("counts created and cached thumbnails and bucket copies with their size", async () => {
    const service = await startService(createBucketSettings(await startStrictS3()));
    const client = service.client();
    const { asset_hash } = asRecord((await client.upload(createPng(300, 200), "p.png")).body);
    const requestThumbnail = async (edge: number) =>
      expect((await client.raw("GET", `/api/view?filename=${asString(asset_hash)}&res=${edge}`)).status).toBe(200);
    await requestThumbnail(64);
    await requestThumbnail(64);
    expect(await readSeries("lightdesk_service_thumbnails_total")).toEqual({ made: 1, kept: 1 });
    expect(await readSeries("lightdesk_service_thumbnail_cache_bytes")).toEqual({ all: await getFolderSize(service.folder, "thumbnails") });
    expect(await readSeries("lightdesk_blob_copies_total")).toEqual({ kept: 1 });
    expect(await readSeries("lightdesk_blob_copies_bytes")).toEqual({ all: await getFolderSize(service.folder, "blob-copies") });
    const hash = asString(asset_hash).slice(7);
    await rm(join(service.folder, "blob-copies", hash.slice(0, 2), hash.slice(2)));
    await requestThumbnail(128);
    expect(await readSeries("lightdesk_blob_copies_total")).toEqual({ kept: 1, fetched: 1 });
    expect(await readSeries("lightdesk_service_thumbnail_cache_bytes")).toEqual({ all: await getFolderSize(service.folder, "thumbnails") });
    // An icon isn't counted.
    const text = asRecord((await client.upload("text", "a.txt")).body);
    expect((await client.raw("GET", `/api/view?filename=${asString(text.asset_hash)}&res=64`)).status).toBe(200);
    expect(await readSeries("lightdesk_service_thumbnails_total")).toEqual({ made: 2, kept: 1 });
  });

  it("counts computed and cached nodes and the size of stored results", async () => {
    const service = await startService({ concurrency: 1 });
    const client = service.client();
    for (const expected of [{ made: 2 }, { made: 2, kept: 2 }]) {
      expect(await runGraph(client, createColorGraph(7))).toMatchObject({ status: "completed" });
      expect(await readSeries("lightdesk_node_results_total")).toEqual(expected);
    }
    expect(await getFolderSize(service.folder, "node-cache")).toBeGreaterThan(0);
    await service.service.stop();
    await service.service.start();
    const bytes = await getFolderSize(service.folder, "node-cache");
    await until("the size is measured", async () => (await readSeries("lightdesk_node_cache_bytes")).all === bytes);
  });
});
