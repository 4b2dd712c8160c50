// The thumbnail route: what it makes, and what it refuses to open.
import { crc32 } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";
import { until } from "@/tests/support/until";

let harness: Harness;
let service: LittleServer;
let storage: LittleServer;
let connection: string;
let png: Buffer;
const files = new Map<string, { type: string; bytes: Buffer } | { location: string }>();
const previews = new Map<string, string>();

beforeAll(async () => {
  png = await sharp({ create: { width: 800, height: 400, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  storage = await startLittleServer((_, response) => void response.writeHead(200, { "content-type": "image/png" }).end(png));
  harness = await createHarness({ settings: { LIGHTDESK_TRUSTED_HOSTS: storage.host }, upstreamLimits: { readMs: 2000 } });
  service = await startLittleServer(({ url }, response) => {
    const at = new URL(url, "http://x");
    const asset = at.pathname.match(/^\/api\/assets\/(\w+)$/)?.[1];
    if (asset) return answerJson(response, { id: asset, name: asset, mime_type: "application/x", preview_url: previews.get(asset) });
    const file = files.get(at.searchParams.get("filename") ?? at.pathname);
    if (!file) return answerJson(response, { code: "NOT_FOUND", message: "no" }, 404);
    if ("location" in file) return void response.writeHead(302, { location: file.location }).end();
    response.writeHead(200, { "content-type": file.type }).end(file.bytes);
  });
  connection = await harness.connect(service.url, "sk-secret-key");
});
afterAll(async () => {
  await Promise.all([service.close(), storage.close()]);
  await harness.dispose();
});

const ask = (query: string, headers?: Record<string, string>) =>
  harness.request(`/api/console/thumbnail?connection=${connection}&${query}`, { as: "viewer", headers });

test("a picture becomes a WebP of the asked edge, once for many askers, and from disk afterwards", async () => {
  files.set("big.png", { type: "image/png", bytes: png });
  const before = service.seen.length;
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask("filename=big.png&edge=256")));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  const first = Buffer.from((await answers[0]?.arrayBuffer()) ?? new ArrayBuffer(0));
  expect(await sharp(first).metadata()).toMatchObject({ format: "webp", width: 256, height: 128 });
  expect(service.seen.length).toBe(before + 1);
  await ask("filename=big.png&edge=256");
  expect(service.seen.length).toBe(before + 1);
  await ask("filename=big.png&edge=128");
  expect(service.seen.length).toBe(before + 2);
});

test("a very long picture that fills its box is cropped in its middle and sharp, though its service shrinks it to a strip", async () => {
  const banner = await sharp({ create: { width: 4000, height: 200, channels: 3, background: "red" } })
    .composite([{ input: { create: { width: 200, height: 200, channels: 3, background: "blue" } }, left: 1900, top: 0 }])
    .png()
    .toBuffer();
  const resizing = await startLittleServer(async ({ url }, response) => {
    const edge = Number(new URL(url, "http://x").searchParams.get("res") ?? 4000);
    const shown = await sharp(banner).resize({ width: edge, height: edge, fit: "inside" }).png().toBuffer();
    response.writeHead(200, { "content-type": "image/png" }).end(shown);
  });
  const there = await harness.connect(resizing.url, "sk-secret-key");
  const made = async (query: string) => {
    const answer = await harness.request(`/api/console/thumbnail?connection=${there}&filename=banner.png&${query}`, { as: "viewer" });
    return sharp(Buffer.from(await answer.arrayBuffer()));
  };
  expect(await (await made("edge=256")).metadata()).toMatchObject({ width: 256, height: 13 });
  const filled = await made("edge=256&fit=fill");
  expect(await filled.metadata()).toMatchObject({ format: "webp", width: 256, height: 128 });
  const { data } = await filled
    .extract({ left: 128, top: 64, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect([...data].map((value) => value > 128)).toEqual([false, false, true]);
  // A smaller edge needs no more than the service shrinks to; what is not long is asked for once.
  expect(resizing.seen.map(({ url }) => new URL(url, "http://x").searchParams.get("res"))).toEqual(["256", "256", null]);
  await resizing.close();
});

test("a whole wall of pictures is asked for at once, and six files at most are held while they are made", async () => {
  let [open, most] = [0, 0];
  const held: (() => void)[] = [];
  const slow = await startLittleServer((_, response) => {
    open += 1;
    most = Math.max(most, open);
    response.on("close", () => (open -= 1));
    held.push(() => void response.writeHead(200, { "content-type": "image/png" }).end(png));
  });
  const there = await harness.connect(slow.url, "sk-secret-key");
  const asked = Array.from({ length: 24 }, (_, index) =>
    harness.request(`/api/console/thumbnail?connection=${there}&filename=${index}.png&edge=128`, { as: "viewer" }),
  );
  for (let answered = 0; answered < 24; answered += 6) {
    await until("six are asked for", () => held.length === 6);
    for (const answer of held.splice(0)) answer();
  }
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(24).fill(200));
  expect(most).toBe(6);
  await slow.close();
});

test("an unchanged thumbnail is answered 304, and a content-addressed one is kept for good", async () => {
  const name = `${"a".repeat(64)}.png`;
  files.set(name, { type: "image/png", bytes: png });
  const first = await ask(`filename=${name}&edge=128`);
  expect(first.headers.get("cache-control")).toContain("immutable");
  const again = await ask(`filename=${name}&edge=128`, { "if-none-match": first.headers.get("etag") ?? "" });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("an asset of one version is kept for good, another version is made anew, and without one it is asked for again", async () => {
  files.set("/shown/v.png", { type: "image/png", bytes: png });
  previews.set("v", "/shown/v.png");
  const made = () => service.seen.filter(({ url }) => url === "/shown/v.png").length;
  const one = await ask("asset=v&edge=128&version=blake3:1");
  expect([one.headers.get("cache-control"), made()]).toEqual(["private, max-age=31536000, immutable", 1]);
  await ask("asset=v&edge=128&version=blake3:1");
  expect(made()).toBe(1);
  await ask("asset=v&edge=128&version=blake3:2");
  expect(made()).toBe(2);
  expect((await ask("asset=v&edge=128")).headers.get("cache-control")).toBe("private, no-cache");
});

test.each(["without an end and without a length", "that stands still"])(
  "a body %s is given up, and its connection closed",
  async (kind) => {
    let isGone = false;
    const bad = await startLittleServer((_, response) => {
      response.on("close", () => (isGone = true));
      response.writeHead(200, { "content-type": "image/png" }).write(png.subarray(0, 100));
      if (kind === "that stands still") return;
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1024 ** 2)));
        response.once("drain", more);
      };
      more();
    });
    const there = await harness.connect(bad.url, "sk-secret-key");
    const answer = await harness.request(`/api/console/thumbnail?connection=${there}&filename=x&edge=128`, { as: "viewer" });
    expect(answer.status).toBe(404);
    await until("the connection is closed", () => isGone);
    await bad.close();
  },
);

test("the pictures of the embedded service have thumbnails", async () => {
  const { assets } = await (await harness.request("/api/assets?include_tags=input&connection=embedded", { as: "viewer" })).json();
  const answer = await harness.request(`/api/console/thumbnail?asset=${assets[0].id}&edge=256`, { as: "viewer" });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/webp"]);
});

test("the type is judged by content: of SVG, HTML, nonsense and half a picture no preview can be made, which is no error", async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><script>alert(1)</script></svg>');
  for (const [name, bytes] of Object.entries({
    svg,
    html: Buffer.from("<html>"),
    nonsense: Buffer.from("PNG"),
    half: png.subarray(0, png.length / 2),
    empty: Buffer.alloc(0),
  })) {
    files.set(name, { type: "image/png", bytes });
    const answer = await ask(`filename=${name}&edge=128`);
    expect([name, answer.status, await answer.text()]).toEqual([name, 204, ""]);
  }
});

test("what is called a picture and is none has no preview in the service inside, which is no error", async () => {
  const form = new FormData();
  form.set("tags", '["input"]');
  form.set("file", new File(["no picture at all"], "nonsense.png", { type: "image/png" }));
  const made = await harness.request("/api/assets?connection=embedded", { as: "operator", method: "POST", body: form });
  const { id } = await made.json();
  const answer = await harness.request(`/api/console/thumbnail?asset=${id}&edge=256&version=blake3:1&connection=embedded`, {
    as: "viewer",
  });
  expect([made.status, answer.status]).toEqual([201, 204]);
  const half = new FormData();
  half.set("tags", '["input"]');
  half.set("file", new File([new Uint8Array(png.subarray(0, png.length / 2))], "half.png", { type: "image/png" }));
  const cut = await (await harness.request("/api/assets?connection=embedded", { as: "operator", method: "POST", body: half })).json();
  expect((await harness.request(`/api/console/thumbnail?asset=${cut.id}&edge=256&connection=embedded`, { as: "viewer" })).status).toBe(204);
});

test("that no preview can be made is kept by the browser for what never changes, and is asked again for what may or was not read", async () => {
  const kept = async (query: string) => {
    const { status, headers } = await ask(`${query}&edge=128`);
    return [status, headers.get("cache-control")];
  };
  const name = `${"b".repeat(64)}.png`;
  for (const each of [name, "/shown/bad.png"]) files.set(each, { type: "image/png", bytes: Buffer.from("no picture") });
  files.set("sorry", { type: "text/html", bytes: Buffer.from("<h1>Back soon</h1>") });
  previews.set("bad", "/shown/bad.png");
  const aDay = "private, max-age=86400, immutable";
  expect(await kept(`filename=${name}`)).toEqual([204, aDay]);
  expect(await kept("asset=bad&version=blake3:1")).toEqual([204, aDay]);
  expect(await kept("asset=bad")).toEqual([204, "private, no-cache"]);
  // A page in the place of a file is an outage's, and says nothing of the file.
  expect((await kept("filename=sorry"))[0]).toBe(404);
});

test("a picture of more pixels than the bound is refused from its header", async () => {
  const bomb = await sharp({ create: { width: 16_000, height: 16_000, channels: 3, background: "white" }, limitInputPixels: false })
    .png({ compressionLevel: 9 })
    .toBuffer();
  files.set("bomb", { type: "image/png", bytes: bomb });
  expect((await ask("filename=bomb&edge=128")).status).toBe(404);
}, 30_000);

test("a picture of 30,000 pixels an edge is refused from its header, and one that is only long is shrunk", async () => {
  const header = (width: number, height: number) => {
    const ihdr = Buffer.alloc(25);
    ihdr.writeUInt32BE(13, 0);
    ihdr.write("IHDR", 4, "latin1");
    ihdr.writeUInt32BE(width, 8);
    ihdr.writeUInt32BE(height, 12);
    ihdr.set([8, 2, 0, 0, 0], 16);
    ihdr.writeUInt32BE(crc32(ihdr.subarray(4, 21)), 21);
    return Buffer.concat([png.subarray(0, 8), ihdr, png.subarray(33)]);
  };
  files.set("30000", { type: "image/png", bytes: header(30_000, 30_000) });
  expect((await ask("filename=30000&edge=128")).status).toBe(404);
  const long = sharp({ create: { width: 30_000, height: 30, channels: 3, background: "white" } });
  files.set("long", { type: "image/png", bytes: await long.png().toBuffer() });
  expect(await sharp(Buffer.from(await (await ask("filename=long&edge=128")).arrayBuffer())).metadata()).toMatchObject({ width: 128 });
});

test("a body without end or length is left at the bound or when time is up, and one without a length is read", async () => {
  let sent = 0;
  let isLeft = false;
  const endless = await startLittleServer(({ url }, response) => {
    const name = new URL(url, "http://x").searchParams.get("filename");
    // No length is announced: the pieces are the length.
    response.writeHead(200, { "content-type": "image/png" });
    if (name === "unsized.png") return void response.end(png);
    response.once("close", () => (isLeft = true));
    response.write(png.subarray(0, 100));
    if (name === "dripping.png") return;
    const piece = Buffer.alloc(1024 ** 2);
    const pour = () => {
      while (!response.destroyed && response.write(piece)) sent += 1;
      if (!response.destroyed) response.once("drain", pour);
    };
    pour();
  });
  const there = await harness.connect(endless.url, "sk-secret-key");
  const get = (name: string) => harness.request(`/api/console/thumbnail?connection=${there}&filename=${name}&edge=128`, { as: "viewer" });
  expect((await get("unsized.png")).status).toBe(200);
  for (const name of ["endless.png", "dripping.png"]) {
    isLeft = false;
    expect([name, (await get(name)).ok]).toEqual([name, false]);
    await until(`${name} is left`, () => isLeft);
  }
  expect(sent).toBeLessThan(200);
  await endless.close();
});

test("a picture that its service finds too large to shrink is shrunk from its bytes", async () => {
  const proud = await startLittleServer(({ url }, response) => {
    if (new URL(url, "http://x").searchParams.has("res")) return answerJson(response, { code: "TOO_LARGE", message: "no" }, 422);
    response.writeHead(200, { "content-type": "image/png" }).end(png);
  });
  const there = await harness.connect(proud.url, "sk-secret-key");
  const answer = await harness.request(`/api/console/thumbnail?connection=${there}&filename=x&edge=128`, { as: "viewer" });
  expect(answer.status).toBe(200);
  expect(await sharp(Buffer.from(await answer.arrayBuffer())).metadata()).toMatchObject({ format: "webp", width: 128 });
  await proud.close();
});

test("a preview on the service's own origin is opened with the key, one on another host without", async () => {
  files.set("/previews/a.png", { type: "image/png", bytes: png });
  previews.set("own", `${service.url}/previews/a.png`);
  previews.set("relative", "/previews/a.png");
  previews.set("other", `${storage.url}/signed.png`);
  for (const asset of ["own", "relative", "other"]) expect([asset, (await ask(`asset=${asset}&edge=128`)).status]).toEqual([asset, 200]);
  const opened = service.seen.filter(({ url }) => url === "/previews/a.png");
  expect(opened.map(({ headers }) => headers["x-api-key"])).toEqual(["sk-secret-key", "sk-secret-key"]);
  expect(storage.seen).toHaveLength(1);
  expect(JSON.stringify(storage.seen)).not.toContain("sk-secret-key");
});

test("the key does not follow a redirect, and a redirect does not lead into the private network", async () => {
  storage.seen.splice(0);
  files.set("moved", { location: `${storage.url}/signed.png` });
  expect((await ask("filename=moved&edge=128")).status).toBe(200);
  expect(JSON.stringify(storage.seen)).not.toContain("sk-secret-key");
  // A preview on the own origin is asked for with the key; what it redirects to must not get it, at home or elsewhere.
  files.set("/previews/moved.png", { location: "/previews/again.png" });
  files.set("/previews/again.png", { location: `${storage.url}/signed2.png` });
  previews.set("moved", "/previews/moved.png");
  expect((await ask("asset=moved&edge=128")).status).toBe(200);
  const hops = [...service.seen.filter(({ url }) => url.startsWith("/previews/") && !url.endsWith("/a.png")), ...storage.seen];
  expect(hops.map(({ url, headers }) => [url, headers["x-api-key"]])).toEqual([
    ["/previews/moved.png", "sk-secret-key"],
    ["/previews/again.png", undefined],
    ["/signed.png", undefined],
    ["/signed2.png", undefined],
  ]);
  const inner = await startLittleServer((_, response) => void response.end(png));
  for (const location of [
    inner.url,
    inner.url.replace("127.0.0.1", "localhost"),
    "http://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/x",
    "file:///etc/passwd",
  ]) {
    files.set(`to ${location}`, { location });
    const answer = await ask(`filename=${encodeURIComponent(`to ${location}`)}&edge=128`);
    expect([location, answer.status >= 400]).toEqual([location, true]);
  }
  expect(inner.seen).toEqual([]);
  await inner.close();
});

test.each([
  "http://127.0.0.1:1/x.png",
  "http://localhost:1/x.png",
  "https://127.0.0.1/x.png",
  "https://[::1]/x.png",
  "https://localhost/x.png",
  "http://8.8.8.8/x.png",
  "javascript:alert(1)",
  "data:image/png;base64,xx",
])("a preview at %s is not opened", async (address) => {
  previews.set("bad", address);
  const answer = await ask("asset=bad&edge=128");
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await answer.text()).not.toContain("x.png");
});

test.each(["filename=a&edge=100", "edge=128", "asset=&edge=128", "filename=a&edge=128abc"])(
  "a query that cannot be meant is refused: %s",
  async (query) => {
    expect((await ask(query)).status).toBe(400);
  },
);
