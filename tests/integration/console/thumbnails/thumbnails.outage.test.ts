// Outages while loading thumbnails are detected early, reported as such and never cached.
import sharp from "sharp";
import { afterEach, expect, test } from "vitest";
import { connectService, createJobPage } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

let nowMs = Date.now();
const defaults = { readMs: 30_000, firstRetryMs: 400 };
/** The console reads these limits again for each request. */
const limits = { ...defaults };
const harness = await createHarness({ upstreamLimits: limits, now: () => nowMs });
const png = await sharp({ create: { width: 80, height: 40, channels: 3, background: "red" } })
  .png()
  .toBuffer();
afterEach(() => void Object.assign(limits, defaults));

/** Shortens the read time-out only for requests that must time out, so that a slow machine can't fail the others. */
async function withShortTimeout<T>(sendRequest: () => Promise<T>): Promise<T> {
  limits.readMs = 200;
  return sendRequest().finally(() => (limits.readMs = defaults.readMs));
}

async function connect(respond: Parameters<typeof connectService>[1]) {
  const { server, send } = await connectService(harness, respond);
  const requestThumbnail = (query: string, signal?: AbortSignal) => send(`/api/console/thumbnail?${query}`, { signal });
  return { server, send, requestThumbnail };
}

async function startImageService() {
  const state = { isUnresponsive: true };
  const { server, send, requestThumbnail } = await connect(({ url }, response) => {
    if (url.startsWith("/api/jobs")) return sendJsonResponse(response, createJobPage([]));
    if (!state.isUnresponsive) response.writeHead(200, { "content-type": "image/png" }).end(png);
  });
  return {
    state,
    send,
    requestThumbnail: (name: string, signal?: AbortSignal) => requestThumbnail(`filename=${name}&type=output`, signal),
    countRequests: () => server.requests.filter(({ url }) => url.startsWith("/api/view")).length,
  };
}

test("responds immediately with Retry-After after four timed-out images", async () => {
  const { state, requestThumbnail, countRequests } = await startImageService();
  for (const name of ["a.png", "b.png", "c.png", "d.png"]) {
    const response = await withShortTimeout(() => requestThumbnail(name));
    expect([response.status, response.headers.get("cache-control")]).toEqual([504, "no-store"]);
  }
  const before = countRequests();
  const { status, headers } = await requestThumbnail("e.png");
  expect([status, headers.get("retry-after"), headers.get("cache-control"), countRequests()]).toEqual([503, "5", "no-store", before]);
  state.isUnresponsive = false;
  nowMs += 5_000;
  // Only one of the parallel requests is sent. The others wait for its outcome.
  const responses = await Promise.all(["e.png", "f.png"].map((name) => requestThumbnail(name)));
  expect(responses.map(({ status }) => status)).toEqual([200, 503]);
  expect((await requestThumbnail("f.png")).status).toBe(200);
});

test("resets the time-out count after any other response", async () => {
  const { state, send, requestThumbnail } = await startImageService();
  for (const name of ["a.png", "b.png", "c.png"]) expect((await withShortTimeout(() => requestThumbnail(name))).status).toBe(504);
  state.isUnresponsive = false;
  expect((await requestThumbnail("d.png")).status).toBe(200);
  state.isUnresponsive = true;
  for (const name of ["e.png", "f.png", "g.png", "h.png"]) expect((await withShortTimeout(() => requestThumbnail(name))).status).toBe(504);
  expect((await requestThumbnail("i.png")).status).toBe(503);
  state.isUnresponsive = false;
  expect((await send("/api/jobs?limit=1")).status).toBe(200);
  expect((await requestThumbnail("i.png")).status).toBe(200);
});

test("forwards a service's Retry-After and calls it again on the next request", async () => {
  let refusal = { code: "RATE_LIMITED", status: 429 };
  const { server, requestThumbnail } = await connect(({ url }, response) => {
    if (url.startsWith("/api/view")) return void response.writeHead(200, { "content-type": "image/png" }).end(png);
    sendJsonResponse(response, { code: refusal.code, message: "slower" }, refusal.status, { "retry-after": "1" });
  });
  const getResult = async (query: string) => {
    const { status, headers } = await requestThumbnail(query);
    return [status, headers.get("retry-after"), server.requests.length];
  };
  for (let count = 1; count <= 5; count += 1) expect(await getResult(`asset=limited${count}`)).toEqual([429, "1", count]);
  refusal = { code: "SERVICE_UNAVAILABLE", status: 503 };
  for (let count = 6; count <= 10; count += 1) expect(await getResult(`asset=out${count}`)).toEqual([503, "1", count]);
  expect(await getResult("filename=here.png")).toEqual([200, null, 11]);
});

test("doesn't count a second lookup of an asset as a time-out", async () => {
  const { requestThumbnail } = await connect(({ url }, response) => {
    if (url.startsWith("/api/assets?")) return sendJsonResponse(response, { assets: [], total: 0, has_more: false });
    sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
  });
  // Longer than the time limit of an image.
  limits.firstRetryMs = 3_200;
  expect((await requestThumbnail("asset=gone")).status).toBe(404);
});

test("doesn't count aborted requests against a service", async () => {
  const { requestThumbnail, countRequests } = await startImageService();
  for (let count = 1; count <= 5; count += 1) {
    const controller = new AbortController();
    const abandonedRequest = requestThumbnail(`${count}.png`, controller.signal);
    await until("the request arrives", () => countRequests() === count);
    controller.abort();
    expect((await abandonedRequest).status).toBe(499);
  }
  expect((await withShortTimeout(() => requestThumbnail("z.png"))).status).toBe(504);
});

test("caches a missing preview only after a complete response", async () => {
  const createHashName = (letter: string) => `${letter.repeat(64)}.png`;
  const { requestThumbnail } = await connect(({ url }, response) => {
    const name = new URL(url, "http://x").searchParams.get("filename") ?? "";
    if (name === createHashName("a")) return void response.writeHead(500, { "content-type": "image/png" }).end("oh");
    if (name === createHashName("b"))
      return void response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<h1>Soon</h1>");
    if (name === createHashName("c"))
      return void response.writeHead(200, { "content-length": png.length + 1 }).write(png, () => response.destroy());
    if (name === createHashName("d")) {
      // Without a length or chunks, the body ends when the connection closes.
      response.useChunkedEncodingByDefault = false;
      return void response.writeHead(200, { connection: "close" }).end(png.subarray(0, 60));
    }
    response.writeHead(200, { "content-type": "image/png", "content-length": 4 }).end("nope");
  });
  for (const expected of [
    ["a", 502, "no-store"],
    ["b", 502, "no-store"],
    ["c", 502, "no-store"],
    ["d", 404, "no-store"],
    ["e", 204, "private, max-age=86400, immutable"],
  ] as const) {
    const response = await requestThumbnail(`filename=${createHashName(expected[0])}`);
    expect([expected[0], response.status, response.headers.get("cache-control")]).toEqual(expected);
  }
});

test("falls back to the file when its preview is unusable", async () => {
  const { server, requestThumbnail } = await connect(({ url }, response) => {
    const { pathname } = new URL(url, "http://x");
    const id = /^\/api\/assets\/(\w+)$/.exec(pathname)?.[1];
    if (id) {
      const mime_type = id === "clip" ? "video/mp4" : "image/png";
      return sendJsonResponse(response, { id, name: `${id}.png`, mime_type, preview_url: `/shown/${id === "clip" ? "error" : id}` });
    }
    if (pathname === "/shown/error") return void response.writeHead(500).end();
    if (pathname === "/shown/broken") return void response.writeHead(200, { "content-length": 4 }).end("nope");
    if (pathname === "/shown/limited") return sendJsonResponse(response, { code: "RATE_LIMITED", message: "slower" }, 429);
    if (pathname === "/shown/gone") return void response.writeHead(404).end();
    if (pathname === "/shown/page" || url.includes("broken.png"))
      return void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Soon</h1>");
    response.writeHead(200, { "content-type": "image/png" }).end(png);
  });
  for (const [asset, status] of [
    ["error", 200],
    ["page", 200],
    ["gone", 200],
    ["clip", 502],
    // A failed download doesn't determine the file's type.
    ["broken", 502],
    ["limited", 429],
  ] as const)
    expect([asset, (await requestThumbnail(`asset=${asset}`)).status]).toEqual([asset, status]);
  expect(server.requests.filter(({ url }) => /clip\.png|limited\.png/.test(url))).toEqual([]);
});
