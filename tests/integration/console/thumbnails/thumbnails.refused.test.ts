// The thumbnail route: files without a picture, and refused URLs.
import { crc32 } from "node:zlib";
import sharp from "sharp";
import { expect, test } from "vitest";
import { openTestServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";
import { startThumbnailWorld } from "./thumbnail-world";

const world = await startThumbnailWorld();

test("judges by content and answers no preview for SVG, HTML and damaged files", async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><script>alert(1)</script></svg>');
  for (const [name, bytes] of Object.entries({
    svg,
    html: Buffer.from("<html>"),
    nonsense: Buffer.from("PNG"),
    half: world.png.subarray(0, world.png.length / 2),
    empty: Buffer.alloc(0),
  })) {
    world.files.set(name, { type: "image/png", bytes });
    const response = await world.ask(`filename=${name}&edge=128`);
    expect([name, response.status, await response.text()]).toEqual([name, 204, ""]);
  }
});

test("returns no preview for a fake picture in the embedded service", async () => {
  const form = new FormData();
  form.set("tags", '["input"]');
  form.set("file", new File(["no picture at all"], "nonsense.png", { type: "image/png" }));
  const response = await world.harness.request("/api/assets?connection=embedded", { as: "operator", method: "POST", body: form });
  const { id } = await response.json();
  const reply = await world.harness.request(`/api/console/thumbnail?asset=${id}&edge=256&version=blake3:1&connection=embedded`, {
    as: "viewer",
  });
  expect([response.status, reply.status]).toEqual([201, 204]);
  const half = new FormData();
  half.set("tags", '["input"]');
  half.set("file", new File([new Uint8Array(world.png.subarray(0, world.png.length / 2))], "half.png", { type: "image/png" }));
  const cut = await (await world.harness.request("/api/assets?connection=embedded", { as: "operator", method: "POST", body: half })).json();
  expect(
    (await world.harness.request(`/api/console/thumbnail?asset=${cut.id}&edge=256&connection=embedded`, { as: "viewer" })).status,
  ).toBe(204);
});

test("returns no preview for a missing picture, but an error if unknown", async () => {
  world.previews.set("lost", "/shown/lost.png");
  const response = await world.ask("asset=lost&version=blake3:2&edge=128");
  expect([response.status, response.headers.get("cache-control")]).toEqual([204, "private, no-cache"]);
  world.previews.set("dark", "https://nowhere.invalid/dark.png");
  expect((await world.ask("asset=dark&edge=128")).status).toBeGreaterThanOrEqual(400);
});

test("caches a missing preview only for immutable content", async () => {
  const getCacheHeader = async (query: string) => {
    const { status, headers } = await world.ask(`${query}&edge=128`);
    return [status, headers.get("cache-control")];
  };
  const name = `${"b".repeat(64)}.png`;
  for (const each of [name, "/shown/bad.png"]) world.files.set(each, { type: "image/png", bytes: Buffer.from("no picture") });
  world.files.set("sorry", { type: "text/html", bytes: Buffer.from("<h1>Back soon</h1>") });
  world.previews.set("bad", "/shown/bad.png");
  const aDay = "private, max-age=86400, immutable";
  expect(await getCacheHeader(`filename=${name}`)).toEqual([204, aDay]);
  expect(await getCacheHeader("asset=bad&version=blake3:1")).toEqual([204, aDay]);
  expect(await getCacheHeader("asset=bad")).toEqual([204, "private, no-cache"]);
  // A web page instead of a file is an outage and doesn't describe the file.
  expect(await getCacheHeader("filename=sorry")).toEqual([502, "no-store"]);
});

test("refuses a 30,000 px edge by its header but shrinks a long picture", async () => {
  const header = (width: number, height: number) => {
    const ihdr = Buffer.alloc(25);
    ihdr.writeUInt32BE(13, 0);
    ihdr.write("IHDR", 4, "latin1");
    ihdr.writeUInt32BE(width, 8);
    ihdr.writeUInt32BE(height, 12);
    ihdr.set([8, 2, 0, 0, 0], 16);
    ihdr.writeUInt32BE(crc32(ihdr.subarray(4, 21)), 21);
    return Buffer.concat([world.png.subarray(0, 8), ihdr, world.png.subarray(33)]);
  };
  world.files.set("30000", { type: "image/png", bytes: header(30_000, 30_000) });
  expect((await world.ask("filename=30000&edge=128")).status).toBe(204);
  const long = sharp({ create: { width: 30_000, height: 30, channels: 3, background: "white" } });
  world.files.set("long", { type: "image/png", bytes: await long.png().toBuffer() });
  expect(await sharp(Buffer.from(await (await world.ask("filename=long&edge=128")).arrayBuffer())).metadata()).toMatchObject({
    width: 128,
  });
});

test("stops reading at the size or time limit and accepts unknown lengths", async () => {
  let sentCount = 0;
  let isLeft = false;
  const endless = await openTestServer(({ url }, response) => {
    const name = new URL(url, "http://x").searchParams.get("filename");
    // Sent in chunks without a Content-Length.
    if (name === "longer.png")
      return void response.writeHead(200, { "content-length": world.png.length * 2 }).end(world.png, () => response.destroy());
    response.writeHead(200, { "content-type": "image/png" });
    if (name === "unsized.png") return void response.end(world.png);
    response.once("close", () => (isLeft = true));
    response.write(world.png.subarray(0, 100));
    if (name === "dripping.png") return;
    const piece = Buffer.alloc(1024 ** 2);
    const writeMore = () => {
      while (!response.destroyed && response.write(piece)) sentCount += 1;
      if (!response.destroyed) response.once("drain", writeMore);
    };
    writeMore();
  });
  const connection = await world.harness.connect(endless.url, "sk-secret-key");
  const get = (name: string) =>
    world.harness.request(`/api/console/thumbnail?connection=${connection}&filename=${name}&edge=128`, { as: "viewer" });
  expect((await get("unsized.png")).status).toBe(200);
  // Fewer bytes arrived than were announced.
  expect((await get("longer.png")).status).toBe(504);
  for (const name of ["endless.png", "dripping.png"]) {
    isLeft = false;
    expect([name, (await get(name)).ok]).toEqual([name, false]);
    await until(`${name} is left`, () => isLeft);
  }
  expect(sentCount).toBeLessThan(200);
});

test("sends the key to previews on the service's origin only", async () => {
  world.files.set("/previews/a.png", { type: "image/png", bytes: world.png });
  world.previews.set("own", `${world.service.url}/previews/a.png`);
  world.previews.set("relative", "/previews/a.png");
  world.previews.set("other", `${world.storage.url}/signed.png`);
  for (const asset of ["own", "relative", "other"])
    expect([asset, (await world.ask(`asset=${asset}&edge=128`)).status]).toEqual([asset, 200]);
  const requests = world.service.requests.filter(({ url }) => url === "/previews/a.png");
  expect(requests.map(({ headers }) => headers["x-api-key"])).toEqual(["sk-secret-key", "sk-secret-key"]);
  expect(world.storage.requests).toHaveLength(1);
  expect(JSON.stringify(world.storage.requests)).not.toContain("sk-secret-key");
});

test("sends no key along redirects and blocks redirects to private networks", async () => {
  world.storage.requests.splice(0);
  world.files.set("moved", { location: `${world.storage.url}/signed.png` });
  expect((await world.ask("filename=moved&edge=128")).status).toBe(200);
  expect(JSON.stringify(world.storage.requests)).not.toContain("sk-secret-key");
  // A preview on the service's own origin is fetched with the key; the target of its redirect must not get it.
  world.files.set("/previews/moved.png", { location: "/previews/again.png" });
  world.files.set("/previews/again.png", { location: `${world.storage.url}/signed2.png` });
  world.previews.set("moved", "/previews/moved.png");
  expect((await world.ask("asset=moved&edge=128")).status).toBe(200);
  const hops = [
    ...world.service.requests.filter(({ url }) => url.startsWith("/previews/") && !url.endsWith("/a.png")),
    ...world.storage.requests,
  ];
  expect(hops.map(({ url, headers }) => [url, headers["x-api-key"]])).toEqual([
    ["/previews/moved.png", "sk-secret-key"],
    ["/previews/again.png", undefined],
    ["/signed.png", undefined],
    ["/signed2.png", undefined],
  ]);
  // A redirect back from elsewhere gets no key either; an endless chain is aborted.
  world.previews.set("back", `${world.storage.url}/to?${world.service.url}/previews/home.png`);
  world.files.set("/previews/home.png", { type: "image/png", bytes: world.png });
  expect((await world.ask("asset=back&edge=128")).status).toBe(200);
  world.files.set("/previews/round.png", { location: "/previews/round.png" });
  world.previews.set("round", "/previews/round.png");
  expect((await world.ask("asset=round&edge=128")).ok).toBe(false);
  const keys = (path: string) => world.service.requests.filter(({ url }) => url === path).map(({ headers }) => headers["x-api-key"]);
  expect([keys("/previews/home.png"), keys("/previews/round.png")]).toEqual([[undefined], ["sk-secret-key", ...Array(5)]]);
  const inner = await openTestServer((_, response) => void response.end(world.png));
  for (const location of [
    inner.url,
    inner.url.replace("127.0.0.1", "localhost"),
    "http://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/x",
    "file:///etc/passwd",
  ]) {
    world.files.set(`to ${location}`, { location });
    const response = await world.ask(`filename=${encodeURIComponent(`to ${location}`)}&edge=128`);
    expect([location, response.status >= 400]).toEqual([location, true]);
  }
  expect(inner.requests).toEqual([]);
});

test.each([
  "http://127.0.0.1:1/x.png",
  "http://localhost:1/x.png",
  "https://127.0.0.1/x.png",
  "https://[::1]/x.png",
  "https://localhost/x.png",
  "http://8.8.8.8/x.png",
  "https://2130706433/x.png",
  "https://[::ffff:127.0.0.1]/x.png",
  "https://[64:ff9b::7f00:1]/x.png",
])("doesn't open a preview at %s", async (address) => {
  world.previews.set("bad", address);
  const response = await world.ask("asset=bad&edge=128");
  expect(response.status).toBeGreaterThanOrEqual(400);
  const text = await response.text();
  // The message proves the refusal: a failed connection would not.
  expect(text).toContain("never opened");
  expect(text).not.toContain("x.png");
});

test.each([
  "ftp://8.8.8.8/x.png",
  "file:///etc/passwd?x.png",
  "blob:https://desk.test/x.png",
  "javascript:alert(1)",
  "data:image/png;base64,xx",
])("has no preview at %s", async (address) => {
  world.previews.set("bad", address);
  const response = await world.ask("asset=bad&edge=128");
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(await response.text()).not.toContain("x.png");
});

test.each(["filename=a&edge=100", "edge=128", "asset=&edge=128", "filename=a&edge=128abc"])(
  "refuses an invalid query: %s",
  async (query) => {
    expect((await world.ask(query)).status).toBe(400);
  },
);
