// Thumbnails while a service is unresponsive, returns nonsense or disconnects: aborted early, reported as an outage, never cached.
import sharp from "sharp";
import { afterEach, expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

let nowMs = Date.now();
const defaults = { readMs: 30_000, firstRetryMs: 400 };
/** Read again for each call. */
const limits = { ...defaults };
const harness = await createHarness({ upstreamLimits: limits, now: () => nowMs });
const png = await sharp({ create: { width: 80, height: 40, channels: 3, background: "red" } })
  .png()
  .toBuffer();
afterEach(() => void Object.assign(limits, defaults));

/** A short read time-out, only while the service is silent, since a slow machine would look silent too. */
async function silently<T>(produce: () => Promise<T>): Promise<T> {
  limits.readMs = 200;
  return produce().finally(() => (limits.readMs = defaults.readMs));
}

async function startPictures() {
  const world = { isUnresponsive: true };
  const service = await openTestServer(({ url }, response) => {
    if (url.startsWith("/api/jobs"))
      return sendJsonResponse(response, { jobs: [], pagination: { offset: 0, limit: 1, total: 0, has_more: false } });
    if (!world.isUnresponsive) response.writeHead(200, { "content-type": "image/png" }).end(png);
  });
  const connection = await harness.connect(service.url, "k");
  const at = (path: string, signal?: AbortSignal) => harness.request(`${path}&connection=${connection}`, { as: "viewer", signal });
  return {
    world,
    service,
    at,
    ask: (name: string) => at(`/api/console/thumbnail?filename=${name}&type=output`),
    countRequests: () => service.requests.filter(({ url }) => url.startsWith("/api/view")).length,
  };
}

test("responds immediately with Retry-After after four timed-out pictures", async () => {
  const { world, ask, countRequests: countRequests } = await startPictures();
  for (const name of ["a.png", "b.png", "c.png", "d.png"]) {
    const response = await silently(() => ask(name));
    expect([response.status, response.headers.get("cache-control")]).toEqual([504, "no-store"]);
  }
  const before = countRequests();
  const reply = await ask("e.png");
  expect([reply.status, reply.headers.get("retry-after"), reply.headers.get("cache-control"), countRequests()]).toEqual([
    503,
    "5",
    "no-store",
    before,
  ]);
  world.isUnresponsive = false;
  nowMs += 5_000;
  // Of the requests that arrive then, one is sent; the others wait for its outcome.
  const together = await Promise.all(["e.png", "f.png"].map(ask));
  expect(together.map(({ status }) => status)).toEqual([200, 503]);
  expect((await ask("f.png")).status).toBe(200);
});

test("resets the time-out count after any other response", async () => {
  const { world, at, ask } = await startPictures();
  for (const name of ["a.png", "b.png", "c.png"]) expect((await silently(() => ask(name))).status).toBe(504);
  world.isUnresponsive = false;
  expect((await ask("d.png")).status).toBe(200);
  world.isUnresponsive = true;
  for (const name of ["e.png", "f.png", "g.png", "h.png"]) expect((await silently(() => ask(name))).status).toBe(504);
  expect((await ask("i.png")).status).toBe(503);
  world.isUnresponsive = false;
  expect((await at("/api/jobs?limit=1")).status).toBe(200);
  expect((await ask("i.png")).status).toBe(200);
});

test("forwards a service's Retry-After and asks again on the next request", async () => {
  let refusal = { code: "RATE_LIMITED", status: 429 };
  const service = await openTestServer(({ url }, response) => {
    if (url.startsWith("/api/view")) return void response.writeHead(200, { "content-type": "image/png" }).end(png);
    sendJsonResponse(response, { code: refusal.code, message: "slower" }, refusal.status, { "retry-after": "1" });
  });
  const connection = await harness.connect(service.url, "k");
  const requestThumbnail = async (subject: string) => {
    const { status, headers } = await harness.request(`/api/console/thumbnail?connection=${connection}&${subject}`, { as: "viewer" });
    return [status, headers.get("retry-after"), service.requests.length];
  };
  for (let each = 1; each <= 5; each += 1) expect(await requestThumbnail(`asset=limited${each}`)).toEqual([429, "1", each]);
  refusal = { code: "SERVICE_UNAVAILABLE", status: 503 };
  for (let each = 6; each <= 10; each += 1) expect(await requestThumbnail(`asset=out${each}`)).toEqual([503, "1", each]);
  expect(await requestThumbnail("filename=here.png")).toEqual([200, null, 11]);
});

test("doesn't count a second lookup of an asset as a time-out", async () => {
  const service = await openTestServer(({ url }, response) => {
    if (url.startsWith("/api/assets?")) return sendJsonResponse(response, { assets: [], total: 0, has_more: false });
    sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
  });
  const connection = await harness.connect(service.url, "k");
  // Longer than the wait for a picture.
  limits.firstRetryMs = 3_200;
  const requestThumbnail = (asset: string) =>
    harness.request(`/api/console/thumbnail?connection=${connection}&asset=${asset}`, { as: "viewer" });
  expect((await requestThumbnail("gone")).status).toBe(404);
});

test("doesn't count abandoned pictures against a service", async () => {
  const { at, ask, countRequests: countRequests } = await startPictures();
  for (let each = 1; each <= 5; each += 1) {
    const controller = new AbortController();
    const abandoned = at(`/api/console/thumbnail?filename=${each}.png&type=output`, controller.signal);
    await until("it is asked for", () => countRequests() === each);
    controller.abort();
    expect((await abandoned).status).toBe(499);
  }
  expect((await silently(() => ask("z.png"))).status).toBe(504);
});

test("treats non-pictures as final only after a whole file", async () => {
  const fixed = (letter: string) => `${letter.repeat(64)}.png`;
  const service = await openTestServer(({ url }, response) => {
    const name = new URL(url, "http://x").searchParams.get("filename") ?? "";
    if (name === fixed("a")) return void response.writeHead(500, { "content-type": "image/png" }).end("oh");
    if (name === fixed("b")) return void response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<h1>Soon</h1>");
    if (name === fixed("c")) return void response.writeHead(200, { "content-length": png.length + 1 }).write(png, () => response.destroy());
    if (name === fixed("d")) {
      // Neither a length nor chunks: the body ends where the connection ends.
      response.useChunkedEncodingByDefault = false;
      return void response.writeHead(200, { connection: "close" }).end(png.subarray(0, 60));
    }
    response.writeHead(200, { "content-type": "image/png", "content-length": 4 }).end("nope");
  });
  const connection = await harness.connect(service.url, "k");
  const waitFor = async (letter: string) => {
    const response = await harness.request(`/api/console/thumbnail?connection=${connection}&filename=${fixed(letter)}`, { as: "viewer" });
    return [letter, response.status, response.headers.get("cache-control")];
  };
  expect(await waitFor("a")).toEqual(["a", 502, "no-store"]);
  expect(await waitFor("b")).toEqual(["b", 502, "no-store"]);
  expect(await waitFor("c")).toEqual(["c", 502, "no-store"]);
  expect(await waitFor("d")).toEqual(["d", 404, "no-store"]);
  expect(await waitFor("e")).toEqual(["e", 204, "private, max-age=86400, immutable"]);
});

test("falls back to the file when its preview is useless", async () => {
  const previews = {
    error: "/shown/error",
    page: "/shown/page",
    gone: "/shown/gone",
    film: "/shown/error",
    broken: "/shown/broken",
    limited: "/shown/limited",
  };
  const service = await openTestServer(({ url }, response) => {
    const at = new URL(url, "http://x");
    const id = /^\/api\/assets\/(\w+)$/.exec(at.pathname)?.[1];
    if (id) {
      const mime = id === "film" ? "video/mp4" : "image/png";
      return sendJsonResponse(response, {
        id,
        name: `${id}.png`,
        mime_type: mime,
        preview_url: Object.entries(previews).find(([name]) => name === id)?.[1],
      });
    }
    if (at.pathname === "/shown/error") return void response.writeHead(500).end();
    if (at.pathname === "/shown/page") return void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Soon</h1>");
    if (at.pathname === "/shown/broken") return void response.writeHead(200, { "content-length": 4 }).end("nope");
    if (at.pathname === "/shown/limited") return sendJsonResponse(response, { code: "RATE_LIMITED", message: "slower" }, 429);
    if (url.includes("broken.png")) return void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Soon</h1>");
    if (at.pathname === "/shown/gone") return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "image/png" }).end(png);
  });
  const connection = await harness.connect(service.url, "k");
  const waitFor = async (asset: string) => {
    const { status } = await harness.request(`/api/console/thumbnail?connection=${connection}&asset=${asset}`, { as: "viewer" });
    return [asset, status];
  };
  for (const asset of ["error", "page", "gone"]) expect(await waitFor(asset)).toEqual([asset, 200]);
  expect(await waitFor("film")).toEqual(["film", 502]);
  // Its file didn't arrive, which doesn't determine its type.
  expect(await waitFor("broken")).toEqual(["broken", 502]);
  expect(await waitFor("limited")).toEqual(["limited", 429]);
  expect(service.requests.filter(({ url }) => /film\.png|limited\.png/.test(url))).toEqual([]);
});
