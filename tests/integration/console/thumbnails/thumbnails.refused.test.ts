// The thumbnail route: files that aren't images, and rejected URLs.
import { crc32 } from "node:zlib";
import sharp from "sharp";
import { expect, test } from "vitest";
import { createConnectionClient } from "@/tests/support/connection-client";
import { openTestServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";
import { readImage, startThumbnailHarness } from "./thumbnail-harness";

const fixture = await startThumbnailHarness();

test("detects types by content and returns 204 for SVG, HTML and damaged files", async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><script>alert(1)</script></svg>');
  for (const [name, bytes] of Object.entries({
    svg,
    html: Buffer.from("<html>"),
    nonsense: Buffer.from("PNG"),
    half: fixture.png.subarray(0, fixture.png.length / 2),
    empty: Buffer.alloc(0),
  })) {
    fixture.files.set(name, { type: "image/png", bytes });
    const response = await fixture.requestThumbnail(`filename=${name}&edge=128`);
    expect([name, response.status, await response.text()]).toEqual([name, 204, ""]);
  }
});

test("returns 204 for an invalid image in the embedded service", async () => {
  const { send } = createConnectionClient(fixture.harness, "embedded", "operator");
  const half = new Uint8Array(fixture.png.subarray(0, fixture.png.length / 2));
  for (const content of ["not an image", half]) {
    const form = new FormData();
    form.set("tags", '["input"]');
    form.set("file", new File([content], "damaged.png", { type: "image/png" }));
    const response = await send("/api/assets", { method: "POST", body: form });
    const { id } = await response.json();
    const thumbnail = await send(`/api/console/thumbnail?asset=${id}&edge=256&version=blake3:1`, { as: "viewer" });
    expect([response.status, thumbnail.status]).toEqual([201, 204]);
  }
});

test("returns 204 for a missing image and an error for an unreachable host", async () => {
  fixture.previews.set("lost", "/shown/lost.png");
  const response = await fixture.requestThumbnail("asset=lost&version=blake3:2&edge=128");
  expect([response.status, response.headers.get("cache-control")]).toEqual([204, "private, no-cache"]);
  fixture.previews.set("dark", "https://nowhere.invalid/dark.png");
  expect((await fixture.requestThumbnail("asset=dark&edge=128")).status).toBeGreaterThanOrEqual(400);
});

test("caches a missing preview of a versioned asset only", async () => {
  fixture.files.set("/shown/bad.png", { type: "image/png", bytes: Buffer.from("not an image") });
  fixture.previews.set("bad", "/shown/bad.png");
  for (const [query, cacheControl] of [
    ["asset=bad&version=blake3:1", "private, max-age=86400, immutable"],
    ["asset=bad", "private, no-cache"],
  ]) {
    const { status, headers } = await fixture.requestThumbnail(`${query}&edge=128`);
    expect([query, status, headers.get("cache-control")]).toEqual([query, 204, cacheControl]);
  }
});

test("rejects a 30,000 px square by its header but shrinks a long image", async () => {
  const createPngWithSize = (width: number, height: number) => {
    const ihdr = Buffer.alloc(25);
    ihdr.writeUInt32BE(13, 0);
    ihdr.write("IHDR", 4, "latin1");
    ihdr.writeUInt32BE(width, 8);
    ihdr.writeUInt32BE(height, 12);
    ihdr.set([8, 2, 0, 0, 0], 16);
    ihdr.writeUInt32BE(crc32(ihdr.subarray(4, 21)), 21);
    return Buffer.concat([fixture.png.subarray(0, 8), ihdr, fixture.png.subarray(33)]);
  };
  fixture.files.set("30000", { type: "image/png", bytes: createPngWithSize(30_000, 30_000) });
  expect((await fixture.requestThumbnail("filename=30000&edge=128")).status).toBe(204);
  const longImage = sharp({ create: { width: 30_000, height: 30, channels: 3, background: "white" } });
  fixture.files.set("long", { type: "image/png", bytes: await longImage.png().toBuffer() });
  const thumbnail = await readImage(await fixture.requestThumbnail("filename=long&edge=128"));
  expect(await thumbnail.metadata()).toMatchObject({ width: 128 });
});

test("stops reading at the size or time limit and accepts unknown lengths", async () => {
  let sentCount = 0;
  let isAborted = false;
  const { requestThumbnail } = await fixture.connect(({ url }, response) => {
    const name = new URL(url, "http://x").searchParams.get("filename");
    // Sent in chunks without a Content-Length.
    if (name === "longer.png")
      return void response.writeHead(200, { "content-length": fixture.png.length * 2 }).end(fixture.png, () => response.destroy());
    response.writeHead(200, { "content-type": "image/png" });
    if (name === "unsized.png") return void response.end(fixture.png);
    response.once("close", () => (isAborted = true));
    response.write(fixture.png.subarray(0, 100));
    if (name === "dripping.png") return;
    const block = Buffer.alloc(1024 ** 2);
    const writeMore = () => {
      while (!response.destroyed && response.write(block)) sentCount += 1;
      if (!response.destroyed) response.once("drain", writeMore);
    };
    writeMore();
  });
  const get = (name: string) => requestThumbnail(`filename=${name}&edge=128`);
  expect((await get("unsized.png")).status).toBe(200);
  // Fewer bytes arrived than were announced.
  expect((await get("longer.png")).status).toBe(504);
  for (const name of ["endless.png", "dripping.png"]) {
    isAborted = false;
    expect([name, (await get(name)).ok]).toEqual([name, false]);
    await until(`${name} is aborted`, () => isAborted);
  }
  expect(sentCount).toBeLessThan(200);
});

test("sends the key only to previews on the service's origin", async () => {
  fixture.files.set("/previews/a.png", { type: "image/png", bytes: fixture.png });
  fixture.previews.set("own", `${fixture.service.url}/previews/a.png`);
  fixture.previews.set("relative", "/previews/a.png");
  fixture.previews.set("other", `${fixture.storage.url}/signed.png`);
  for (const asset of ["own", "relative", "other"])
    expect([asset, (await fixture.requestThumbnail(`asset=${asset}&edge=128`)).status]).toEqual([asset, 200]);
  const requests = fixture.service.requests.filter(({ url }) => url === "/previews/a.png");
  expect(requests.map(({ headers }) => headers["x-api-key"])).toEqual(["sk-secret-key", "sk-secret-key"]);
  expect(fixture.storage.requests).toHaveLength(1);
  expect(JSON.stringify(fixture.storage.requests)).not.toContain("sk-secret-key");
});

test("sends no key along redirects and blocks redirects to private networks", async () => {
  fixture.storage.requests.splice(0);
  fixture.files.set("moved", { location: `${fixture.storage.url}/signed.png` });
  expect((await fixture.requestThumbnail("filename=moved&edge=128")).status).toBe(200);
  expect(JSON.stringify(fixture.storage.requests)).not.toContain("sk-secret-key");
  // Previews on the service's origin are requested with the key, but the targets of their redirects aren't.
  fixture.files.set("/previews/moved.png", { location: "/previews/again.png" });
  fixture.files.set("/previews/again.png", { location: `${fixture.storage.url}/signed2.png` });
  fixture.previews.set("moved", "/previews/moved.png");
  expect((await fixture.requestThumbnail("asset=moved&edge=128")).status).toBe(200);
  const hops = [
    ...fixture.service.requests.filter(({ url }) => url.startsWith("/previews/") && !url.endsWith("/a.png")),
    ...fixture.storage.requests,
  ];
  expect(hops.map(({ url, headers }) => [url, headers["x-api-key"]])).toEqual([
    ["/previews/moved.png", "sk-secret-key"],
    ["/previews/again.png", undefined],
    ["/signed.png", undefined],
    ["/signed2.png", undefined],
  ]);
  // A redirect back to the service gets no key either. An endless chain is aborted.
  fixture.previews.set("back", `${fixture.storage.url}/to?${fixture.service.url}/previews/home.png`);
  fixture.files.set("/previews/home.png", { type: "image/png", bytes: fixture.png });
  expect((await fixture.requestThumbnail("asset=back&edge=128")).status).toBe(200);
  fixture.files.set("/previews/round.png", { location: "/previews/round.png" });
  fixture.previews.set("round", "/previews/round.png");
  expect((await fixture.requestThumbnail("asset=round&edge=128")).ok).toBe(false);
  const getSentKeys = (path: string) =>
    fixture.service.requests.filter(({ url }) => url === path).map(({ headers }) => headers["x-api-key"]);
  expect([getSentKeys("/previews/home.png"), getSentKeys("/previews/round.png")]).toEqual([[undefined], ["sk-secret-key", ...Array(5)]]);
  const privateService = await openTestServer((_, response) => void response.end(fixture.png));
  for (const location of [
    privateService.url,
    privateService.url.replace("127.0.0.1", "localhost"),
    "http://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/x",
    "file:///etc/passwd",
  ]) {
    fixture.files.set(`to ${location}`, { location });
    const response = await fixture.requestThumbnail(`filename=${encodeURIComponent(`to ${location}`)}&edge=128`);
    expect([location, response.status >= 400]).toEqual([location, true]);
  }
  expect(privateService.requests).toEqual([]);
});

test.each(["http://localhost:1/x.png", "https://127.0.0.1/x.png", "http://8.8.8.8/x.png", "https://[64:ff9b::7f00:1]/x.png"])(
  "never requests a preview at %s",
  async (url) => {
    fixture.previews.set("bad", url);
    const response = await fixture.requestThumbnail("asset=bad&edge=128");
    expect(response.status).toBeGreaterThanOrEqual(400);
    const text = await response.text();
    // The message proves that no connection was attempted.
    expect(text).toContain("is not allowed");
    expect(text).not.toContain("x.png");
  },
);

test.each(["file:///etc/passwd?x.png", "blob:https://desk.test/x.png", "data:image/png;base64,xx"])(
  "returns an error for a preview at %s",
  async (url) => {
    fixture.previews.set("bad", url);
    const response = await fixture.requestThumbnail("asset=bad&edge=128");
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(await response.text()).not.toContain("x.png");
  },
);

test.each(["filename=a&edge=100", "edge=128", "asset=&edge=128", "filename=a&edge=128abc"])(
  "rejects an invalid query: %s",
  async (query) => {
    expect((await fixture.requestThumbnail(query)).status).toBe(400);
  },
);
