import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createThumbnails, type InFile } from "@/lib/service/assets/thumbnails";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { type Json, png, record, string } from "./support";

const mp4 = new Uint8Array(Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypisom\0\0\0\0isommp42"), Buffer.alloc(64)]));
const wav = new Uint8Array(Buffer.from(`RIFF\0\0\0\0WAVEfmt ${"\0".repeat(40)}`, "latin1"));
const glb = new Uint8Array(Buffer.from(`glTF\x02\0\0\0${"\0".repeat(40)}`, "latin1"));

async function add(client: Client, bytes: Uint8Array<ArrayBuffer>, name: string): Promise<Json> {
  return record((await client.upload(bytes, name)).body);
}

async function thumbnail(client: Client, asset: Json, edge: number) {
  const answer = await client.raw("GET", `/api/view?filename=${string(asset.asset_hash)}&res=${edge}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, headers: answer.headers, bytes, error: answer.ok ? undefined : record(JSON.parse(bytes.toString())) };
}

async function colour(bytes: Buffer): Promise<number[]> {
  const { data } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray(0, 4)];
}

const plain = async (options: { width: number; height: number; background: string; orientation?: number }) => {
  const image = sharp({ create: { ...options, channels: 4 } });
  return new Uint8Array(await (options.orientation ? image.withMetadata({ orientation: options.orientation }) : image).png().toBuffer());
};

describe("thumbnails of pictures", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService();
    client = bench.client();
  });
  afterAll(() => bench.dispose());

  it.each([
    [300, 200, 64, "64x43"],
    [200, 300, 1024, "683x1024"],
    [8, 8, 64, "64x64"],
    [4000, 2, 64, "64x1"],
  ])("are WebP whose longer edge is the asked one: %i by %i at %i", async (width, height, edge, expected) => {
    const { status, headers, bytes } = await thumbnail(client, await add(client, png(width, height), "p.png"), edge);
    expect([status, headers.get("content-type")]).toEqual([200, "image/webp"]);
    const made = await sharp(bytes).metadata();
    expect([made.format, `${made.width}x${made.height}`]).toEqual(["webp", expected]);
  });

  it("stand upright, and keep what is transparent", async () => {
    const turned = await add(client, await plain({ width: 100, height: 50, background: "#00ff0080", orientation: 6 }), "turned.png");
    const { bytes } = await thumbnail(client, turned, 100);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 50, height: 100, hasAlpha: true });
    expect((await colour(bytes))[3]).toBe(128);
  });

  it("show the first frame of what is animated", async () => {
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

  it("are refused for what is too large, judged by its header, and for what is no picture after all", async () => {
    for (const bytes of [
      png(9000, 9000, { pixels: false }),
      new Uint8Array(Buffer.concat([png(5, 5).subarray(0, 20), Buffer.alloc(99)])),
    ]) {
      const { status, error } = await thumbnail(client, await add(client, bytes, "bad.png"), 64);
      expect([status, error?.code]).toEqual([422, "UNPROCESSABLE"]);
    }
  });

  it("are kept for good by whoever asked by hash, and leave with their original", async () => {
    const asset = await add(client, png(33, 44), "kept.png");
    const { headers } = await thumbnail(client, asset, 128);
    expect(headers.get("cache-control")).toContain("immutable");
    const path = `/api/view?filename=${string(asset.asset_hash)}&res=128`;
    expect((await client.raw("GET", path, undefined, { "if-none-match": headers.get("etag") ?? "" })).status).toBe(304);
    const hash = string(asset.asset_hash).slice(7);
    const shard = join(bench.folder, "thumbnails", hash.slice(0, 2));
    expect(await readdir(shard)).toEqual([hash.slice(2)]);
    await client.call("DELETE", `/api/assets/${string(asset.id)}`);
    expect(await readdir(shard)).toEqual([]);
  });

  it("stay within a bound on disk: the least recently used go", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lightdesk-thumbnails-"));
    try {
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
      const inFile: InFile = (use) => use(source);
      const size = (await createThumbnails(folders).get(content(0), inFile, 256)).webp.length;
      const thumbnails = createThumbnails(folders, { maxBytes: size * 3.5 });
      for (let at = 1; at < 8; at += 1) await thumbnails.get(content(at), inFile, 256);
      const kept = (await readdir(folders.thumbnails, { recursive: true })).filter((name) => name.endsWith(".webp"));
      expect(kept.length).toBeLessThanOrEqual(3);
      expect(kept.some((name) => name.includes("7/256.webp"))).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("thumbnails of what is no picture, without ffmpeg", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService({ publicUrl: "https://desk.example/base" });
    client = bench.client();
  });
  afterAll(() => bench.dispose());

  it("are a sign of the kind, each of its own look, under the address that the asset names", async () => {
    const looks = new Set<string>();
    for (const [bytes, name] of [
      [mp4, "v.mp4"],
      [wav, "a.wav"],
    ] as const) {
      const url = string((await add(client, bytes, name)).preview_url);
      expect(url).toMatch(/^https:\/\/desk\.example\/base\/api\/view\?.*res=512/);
      const answer = await client.raw("GET", url.slice("https://desk.example/base".length));
      const picture = Buffer.from(await answer.arrayBuffer());
      expect(await sharp(picture).metadata()).toMatchObject({ format: "webp", width: 512, height: 512 });
      // ffmpeg may be installed one day, so clients must not keep the placeholder for good.
      expect(answer.headers.get("cache-control")).not.toContain("immutable");
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

describe("thumbnails drawn by ffmpeg", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "lightdesk-ffmpeg-"));
    await writeFile(join(folder, "frame.png"), await plain({ width: 1024, height: 512, background: "#ff0000" }));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** A fake ffmpeg: records how it was called, then runs `script`. */
  async function fakeFfmpeg(name: string, script: string): Promise<{ path: string; calls: () => Promise<string[]> }> {
    const path = join(folder, name);
    const log = `${path}.log`;
    await writeFile(log, "");
    await writeFile(path, `#!/bin/sh\necho "$*" >> '${log}'\n${script}\n`);
    await chmod(path, 0o700);
    return { path, calls: async () => (await readFile(log, "utf8")).split("\n").filter((line) => line !== "") };
  }

  it("are made of one frame, once for all who ask and for every edge, from the file alone", async () => {
    const ffmpeg = await fakeFfmpeg("good", `cat '${join(folder, "frame.png")}'`);
    const bench = await startService({ ffmpeg: ffmpeg.path });
    try {
      const client = bench.client();
      const film = await add(client, mp4, "film.txt");
      const answers = await Promise.all([64, 64, 64, 256, 512, 1024].map((edge) => thumbnail(client, film, edge)));
      for (const [at, edge] of [64, 64, 64, 256, 512, 1024].entries()) {
        const bytes = answers[at]?.bytes ?? Buffer.alloc(0);
        expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: edge, height: edge / 2 });
        expect((await colour(bytes))[0]).toBeGreaterThan(240);
        expect(answers[at]?.headers.get("cache-control")).toContain("immutable");
      }
      const [call, ...more] = await ffmpeg.calls();
      expect(more).toEqual([]);
      const hash = string(film.asset_hash).slice(7);
      const path = join(bench.folder, "blobs", "blake3-v1", hash.slice(0, 2), hash.slice(2));
      expect(call).toContain(`-protocol_whitelist file -f mov -t 10 -i file:${path} `);
      await thumbnail(client, await add(client, wav, "sound.mp4"), 64);
      expect((await ffmpeg.calls())[1]).toContain("-f wav");
    } finally {
      await bench.dispose();
    }
  });

  it("give way to the sign where ffmpeg fails, which is not tried again at once", async () => {
    const ffmpeg = await fakeFfmpeg("bad", "echo broken; exit 1");
    const bench = await startService({ ffmpeg: ffmpeg.path });
    try {
      const client = bench.client();
      const film = await add(client, mp4, "film.mp4");
      for (const edge of [64, 128, 1024]) {
        const { status, bytes, headers } = await thumbnail(client, film, edge);
        expect([status, (await sharp(bytes).metadata()).width]).toEqual([200, edge]);
        expect(headers.get("cache-control")).not.toContain("immutable");
      }
      expect(await ffmpeg.calls()).toHaveLength(1);
    } finally {
      await bench.dispose();
    }
  });

  it("hold up no stop: an ffmpeg that hangs is ended", async () => {
    const ffmpeg = await fakeFfmpeg("slow", `echo $$ > '${join(folder, "pid")}'\nexec sleep 3600`);
    const bench = await startService({ ffmpeg: ffmpeg.path });
    const client = bench.client();
    const film = await add(client, mp4, "film.mp4");
    const answer = thumbnail(client, film, 64);
    const pid = await until("ffmpeg runs", async () => Number(await readFile(join(folder, "pid"), "utf8").catch(() => "0")) || false);
    await bench.dispose();
    expect((await answer).status).toBe(200);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});
