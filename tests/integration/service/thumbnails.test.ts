import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createThumbnails, type WithFile } from "@/lib/service/assets/thumbnails";
import { createMetrics, type Metrics } from "@/lib/shared/metrics";
import { setTelemetry } from "@/lib/shared/telemetry";
import { bucketSettings } from "@/tests/support/blob-backends";
import { readScrape } from "@/tests/support/prometheus";
import { startStrictS3 } from "@/tests/support/servers";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { type StrictS3 } from "@/tests/support/strict-s3";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { asRecord, asString, canvas, type Json, png, submit, waitForEnd } from "./support";

const mp4 = new Uint8Array(Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypisom\0\0\0\0isommp42"), Buffer.alloc(64)]));
const wav = new Uint8Array(Buffer.from(`RIFF\0\0\0\0WAVEfmt ${"\0".repeat(40)}`, "latin1"));
const glb = new Uint8Array(Buffer.from(`glTF\x02\0\0\0${"\0".repeat(40)}`, "latin1"));

async function add(client: Client, bytes: Uint8Array<ArrayBuffer>, name: string): Promise<Json> {
  return asRecord((await client.upload(bytes, name)).body);
}

async function thumbnail(client: Client, asset: Json, edge: number) {
  const response = await client.raw("GET", `/api/view?filename=${asString(asset.asset_hash)}&res=${edge}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    error: response.ok ? undefined : asRecord(JSON.parse(bytes.toString())),
  };
}

async function colour(bytes: Buffer): Promise<number[]> {
  const { data } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray(0, 4)];
}

const createPlain = async (options: { width: number; height: number; background: string; orientation?: number }) => {
  const image = sharp({ create: { ...options, channels: 4 } });
  return new Uint8Array(await (options.orientation ? image.withMetadata({ orientation: options.orientation }) : image).png().toBuffer());
};

describe("thumbnails of pictures", async () => {
  const service = await startService();
  const client = service.client();

  it.each([
    [300, 200, 64, "64x43"],
    [200, 300, 1024, "683x1024"],
    [8, 8, 64, "64x64"],
    [4000, 2, 64, "64x1"],
  ])("are WebP with the requested longer edge: %i by %i at %i", async (width, height, edge, expected) => {
    const { status, headers, bytes } = await thumbnail(client, await add(client, png(width, height), "p.png"), edge);
    expect([status, headers.get("content-type")]).toEqual([200, "image/webp"]);
    const metadata = await sharp(bytes).metadata();
    expect([metadata.format, `${metadata.width}x${metadata.height}`]).toEqual(["webp", expected]);
  });

  it("are upright and keep transparency", async () => {
    const turned = await add(client, await createPlain({ width: 100, height: 50, background: "#00ff0080", orientation: 6 }), "turned.png");
    const { bytes } = await thumbnail(client, turned, 100);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 50, height: 100, hasAlpha: true });
    expect((await colour(bytes))[3]).toBe(128);
  });

  it("show an animation's first frame", async () => {
    const frames = ["red", "blue"].map((background) => ({ create: { width: 40, height: 40, channels: 3 as const, background } }));
    const pictures = await Promise.all(frames.map((frame) => sharp(frame).png().toBuffer()));
    const gif = new Uint8Array(
      await sharp(pictures, { join: { animated: true } })
        .gif()
        .toBuffer(),
    );
    const { bytes } = await thumbnail(client, await add(client, gif, "a.gif"), 64);
    expect((await sharp(bytes).metadata()).pages ?? 1).toBe(1);
    const [red, , blue] = await colour(bytes);
    expect([Number(red) > 200, Number(blue) < 50]).toEqual([true, true]);
  });

  it("are refused for oversized headers and for non-pictures", async () => {
    for (const bytes of [
      png(9000, 9000, { pixels: false }),
      new Uint8Array(Buffer.concat([png(5, 5).subarray(0, 20), Buffer.alloc(99)])),
    ]) {
      const { status, error } = await thumbnail(client, await add(client, bytes, "bad.png"), 64);
      expect([status, error?.code]).toEqual([422, "UNPROCESSABLE"]);
    }
  });

  it("are immutable when requested by hash and deleted with the original", async () => {
    const asset = await add(client, png(33, 44), "kept.png");
    const { headers } = await thumbnail(client, asset, 128);
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
    const folder = temporaryFolder();
    const folders = { thumbnails: join(folder, "kept"), temp: folder };
    const source = join(folder, "source.png");
    await writeFile(
      source,
      await sharp({
        create: { width: 256, height: 256, channels: 3, background: "red", noise: { type: "gaussian", mean: 128, sigma: 60 } },
      })
        .png()
        .toBuffer(),
    );
    const content = (at: number) => ({ hash: String(at).padStart(64, "0"), media_type: "image/png", name: "s.png" });
    const inFile: WithFile = (use) => use(source);
    const size = (await createThumbnails(folders).get(content(0), inFile, 256)).webp.length;
    const thumbnails = createThumbnails(folders, { maxBytes: size * 3.5 });
    for (let at = 1; at < 8; at += 1) await thumbnails.get(content(at), inFile, 256);
    const cachedFiles = (await readdir(folders.thumbnails, { recursive: true })).filter((name) => name.endsWith(".webp"));
    expect(cachedFiles.length).toBeLessThanOrEqual(3);
    expect(cachedFiles.some((name) => name.includes("7/256.webp"))).toBe(true);
  });
});

describe("thumbnails of other files, without ffmpeg", async () => {
  const service = await startService({ publicUrl: "https://desk.example/base" });
  const client = service.client();

  it("are a distinct icon by kind under the asset's address", async () => {
    const looks = new Set<string>();
    for (const [bytes, name] of [
      [mp4, "v.mp4"],
      [wav, "a.wav"],
    ] as const) {
      const url = asString((await add(client, bytes, name)).preview_url);
      expect(url).toMatch(/^https:\/\/desk\.example\/base\/api\/view\?.*res=512/);
      const response = await client.raw("GET", url.slice("https://desk.example/base".length));
      const picture = Buffer.from(await response.arrayBuffer());
      expect(await sharp(picture).metadata()).toMatchObject({ format: "webp", width: 512, height: 512 });
      // ffmpeg may be installed one day, so clients must not keep the placeholder for good.
      expect(response.headers.get("cache-control")).not.toContain("immutable");
      looks.add(picture.toString("base64"));
    }
    for (const [bytes, name] of [
      [glb, "m.glb"],
      [new Uint8Array([1, 2, 3, 250]), "x.weights"],
    ] as const) {
      const asset = await add(client, bytes, name);
      expect(asset).not.toHaveProperty("preview_url");
      const { status, bytes: picture } = await thumbnail(client, asset, 512);
      expect([status, (await sharp(picture).metadata()).width]).toEqual([200, 512]);
      looks.add(picture.toString("base64"));
    }
    expect(looks.size).toBe(4);
  });
});

describe("thumbnails drawn by ffmpeg", async () => {
  const folder = temporaryFolder();
  await writeFile(join(folder, "frame.png"), await createPlain({ width: 1024, height: 512, background: "#ff0000" }));

  /** A fake ffmpeg: records how it was called, then runs `script`. */
  async function fakeFfmpeg(name: string, script: string): Promise<{ path: string; calls: () => Promise<string[]> }> {
    const path = join(folder, name);
    const log = `${path}.log`;
    await writeFile(log, "");
    await writeFile(path, `#!/bin/sh\necho "$*" >> '${log}'\n${script}\n`);
    await chmod(path, 0o700);
    return { path, calls: async () => (await readFile(log, "utf8")).split("\n").filter((line) => line !== "") };
  }

  it("are drawn from one frame, once for all requests and edges", async () => {
    const ffmpeg = await fakeFfmpeg("good", `cat '${join(folder, "frame.png")}'`);
    const service = await startService({ ffmpeg: ffmpeg.path });
    const client = service.client();
    const film = await add(client, mp4, "film.txt");
    const responses = await Promise.all([64, 64, 64, 256, 512, 1024].map((edge) => thumbnail(client, film, edge)));
    for (const [at, edge] of [64, 64, 64, 256, 512, 1024].entries()) {
      const bytes = responses[at]?.bytes ?? Buffer.alloc(0);
      expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: edge, height: edge / 2 });
      expect((await colour(bytes))[0]).toBeGreaterThan(240);
      expect(responses[at]?.headers.get("cache-control")).toContain("immutable");
    }
    const [call, ...otherCalls] = await ffmpeg.calls();
    expect(otherCalls).toEqual([]);
    const hash = asString(film.asset_hash).slice(7);
    const path = join(service.folder, "blobs", "blake3-v1", hash.slice(0, 2), hash.slice(2));
    expect(call).toContain(`-protocol_whitelist file -f mov -t 10 -i file:${path} `);
    await thumbnail(client, await add(client, wav, "sound.mp4"), 64);
    expect((await ffmpeg.calls())[1]).toContain("-f wav");
  });

  it("fall back to an icon when ffmpeg fails, without an immediate retry", async () => {
    const ffmpeg = await fakeFfmpeg("bad", "echo broken; exit 1");
    const service = await startService({ ffmpeg: ffmpeg.path });
    const client = service.client();
    const film = await add(client, mp4, "film.mp4");
    for (const edge of [64, 128, 1024]) {
      const { status, bytes, headers } = await thumbnail(client, film, edge);
      expect([status, (await sharp(bytes).metadata()).width]).toEqual([200, edge]);
      expect(headers.get("cache-control")).not.toContain("immutable");
    }
    expect(await ffmpeg.calls()).toHaveLength(1);
  });

  it("don't delay a stop: a hanging ffmpeg is killed", async () => {
    const ffmpeg = await fakeFfmpeg("slow", `echo $$ > '${join(folder, "pid")}'\nexec sleep 3600`);
    const service = await startService({ ffmpeg: ffmpeg.path });
    const client = service.client();
    const film = await add(client, mp4, "film.mp4");
    const pendingThumbnail = thumbnail(client, film, 64);
    const pid = await until("ffmpeg runs", async () => Number(await readFile(join(folder, "pid"), "utf8").catch(() => "0")) || false);
    await service.dispose();
    expect((await pendingThumbnail).status).toBe(200);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});

describe("cache figures", () => {
  let s3: StrictS3;
  let service: TestService;
  let metrics: Metrics;
  beforeEach(async () => {
    metrics = await createMetrics();
    setTelemetry({ metrics });
    s3 = await startStrictS3();
    service = await startService({ ...bucketSettings(s3), concurrency: 1 });
  });
  afterEach(async () => {
    setTelemetry(undefined);
  });

  async function figures(name: string): Promise<Record<string, number>> {
    const { series } = readScrape((await metrics.text()).body);
    return Object.fromEntries(series.filter((series) => series.name === name).map(({ labels, value }) => [labels.result ?? "all", value]));
  }

  /** Of the files below a folder of the service. */
  async function getSize(folder: string): Promise<number> {
    const entries = await readdir(join(service.folder, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  it("counts made and cached thumbnails and bucket copies with their size", async () => {
    const client = service.client();
    const { asset_hash } = asRecord((await client.upload(png(300, 200), "p.png")).body);
    const thumbnail = async (edge: number) =>
      expect((await client.raw("GET", `/api/view?filename=${asString(asset_hash)}&res=${edge}`)).status).toBe(200);
    await thumbnail(64);
    await thumbnail(64);
    expect(await figures("lightdesk_service_thumbnails_total")).toEqual({ made: 1, kept: 1 });
    expect(await figures("lightdesk_service_thumbnail_cache_bytes")).toEqual({ all: await getSize("thumbnails") });
    expect(await figures("lightdesk_blob_copies_total")).toEqual({ kept: 1 });
    expect(await figures("lightdesk_blob_copies_bytes")).toEqual({ all: await getSize("blob-copies") });
    const hash = asString(asset_hash).slice(7);
    await rm(join(service.folder, "blob-copies", hash.slice(0, 2), hash.slice(2)));
    await thumbnail(128);
    expect(await figures("lightdesk_blob_copies_total")).toEqual({ kept: 1, fetched: 1 });
    expect(await figures("lightdesk_service_thumbnail_cache_bytes")).toEqual({ all: await getSize("thumbnails") });
    // An icon is neither.
    const text = asRecord((await client.upload("text", "a.txt")).body);
    expect((await client.raw("GET", `/api/view?filename=${asString(text.asset_hash)}&res=64`)).status).toBe(200);
    expect(await figures("lightdesk_service_thumbnails_total")).toEqual({ made: 2, kept: 1 });
  });

  it("counts computed and cached nodes and the size of stored results", async () => {
    const client = service.client("ada");
    for (const expected of [{ made: 2 }, { made: 2, kept: 2 }]) {
      expect(await waitForEnd(client, await submit(client, canvas(7)))).toMatchObject({ status: "completed" });
      expect(await figures("lightdesk_node_results_total")).toEqual(expected);
    }
    expect(await getSize("node-cache")).toBeGreaterThan(0);
    await service.service.stop();
    service = await startService({ ...bucketSettings(s3), concurrency: 1, dataDir: service.folder });
    const bytes = await getSize("node-cache");
    await until("the size is measured", async () => (await figures("lightdesk_node_cache_bytes")).all === bytes);
  });
});
