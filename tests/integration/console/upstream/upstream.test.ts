// The API client with working and faulty HTTP servers.
import { describe, expect, test } from "vitest";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { createLog } from "@/lib/server/log";
import { listJobs } from "@/lib/server/queries/jobs";
import { type CallInput } from "@/lib/server/upstream/build-request";
import { createCatalogueReader } from "@/lib/server/upstream/catalogue-reader";
import { createResponseTracker } from "@/lib/server/upstream/deadline";
import { createLocalDialect } from "@/lib/server/upstream/local-dialect/local-dialect";
import { createResponseReader } from "@/lib/server/upstream/response-reader";
import { createHttpSend, type Send } from "@/lib/server/upstream/send";
import { createUpstream, type Upstream, type UpstreamLimits } from "@/lib/server/upstream/upstream";
import { createDiskCache } from "@/lib/shared/disk-cache";
import { type Result } from "@/lib/shared/result";
import { closeAfterwards } from "@/tests/support/close-afterwards";
import { connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { type ReceivedRequest, sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

function openSend(options?: Parameters<typeof createHttpSend>[0]) {
  const send = createHttpSend(options);
  closeAfterwards(async () => void (await send.close()));
  return send;
}

describe("upstream", () => {
  type Responder = Parameters<typeof openTestServer>[0];
  const shortLimits: Partial<UpstreamLimits> = { readMs: 400, writeMs: 400, firstRetryMs: 1, maxWaitMs: 50 };

  async function startService(respond: Responder, limits: Partial<UpstreamLimits> = {}) {
    const send = openSend({ connectTimeoutMs: 500 });
    const server = await openTestServer(respond);
    const upstream = createUpstream({ baseUrl: server.url, apiKey: "sk-key", send, limits: { ...shortLimits, ...limits } });
    return { server, send, upstream };
  }

  const getCode = (result: { ok: true } | { ok: false; failure: { code: string } }) => (result.ok ? "ok" : result.failure.code);

  test("parses responses and sends the key in one header, without Origin", async () => {
    const { server, upstream } = await startService((_, response) => sendJsonResponse(response, { status: "active", more: 1 }));
    expect(await upstream.call(operations.getUser)).toEqual({ ok: true, value: { status: "active", more: 1 } });
    const { "x-api-key": key, origin, cookie, referer } = server.requests[0]?.headers ?? {};
    expect([key, origin, cookie, referer]).toEqual(["sk-key", undefined, undefined, undefined]);
  });

  test("keeps the path of a base URL, with or without a final slash", async () => {
    const { server, send } = await startService((_, response) => sendJsonResponse(response, { status: "active" }));
    for (const baseUrl of [`${server.url}/some/path`, `${server.url}/some/path/`]) {
      await createUpstream({ baseUrl, apiKey: "k", send }).call(operations.getUser);
    }
    expect(server.requests.map(({ url }) => url)).toEqual(["/some/path/api/user", "/some/path/api/user"]);
  });

  test("joins query lists by comma and omits unset values", async () => {
    const { server, upstream } = await startService((_, response) => sendJsonResponse(response, { jobs: [], pagination: {} }));
    await upstream.call(operations.listJobs, { query: { status: ["pending", "in_progress"], workflow_id: undefined, limit: 5 } });
    expect(server.requests[0]?.url).toBe("/api/jobs?status=pending%2Cin_progress&limit=5");
  });

  test("escapes ids in paths", async () => {
    const { server, upstream } = await startService((_, response) => sendJsonResponse(response, { id: "x", status: "completed" }));
    for (const job_id of ["..", ".", "", "../../admin?x#y", "a/b", "a%2Fb", "a\\b", "a?b", "a#b", "%2e%2e", "a\u0000b", "a\ud800"])
      for (const operation of [operations.getJob, operations.cancelJob, operations.listJobAssets])
        expect([job_id, getCode(await upstream.call(operation, { params: { job_id } }))]).toEqual([job_id, "NOT_FOUND"]);
    expect(server.requests).toEqual([]);
    expect(getCode(await upstream.call(operations.getJob, { params: { job_id: "Größe (2)" } }))).toBe("ok");
    expect(server.requests[0]?.url).toBe(`/api/jobs/${encodeURIComponent("Größe (2)")}`);
  });

  const sendText =
    (text: string, type = "application/json"): Responder =>
    (_, response) =>
      void response.writeHead(200, { "content-type": type }).end(text);

  test.each<[string, Responder]>([
    ["HTML", sendText("<h1>Log in</h1>", "text/html")],
    ["invalid JSON", sendText('{"status":')],
    ["an unexpected format", sendText('{"hello":"world"}')],
    ["a redirect", (_, response) => void response.writeHead(302, { location: "/login" }).end()],
  ])("rejects %s", async (_, respond) => {
    const { upstream } = await startService(respond);
    const result = await upstream.call(operations.getUser);
    expect(getCode(result)).toBe("UPSTREAM_UNREADABLE");
    expect(JSON.stringify(result)).not.toContain("<h1>");
  });

  test("times out a service that never starts or never ends its response", async () => {
    const unresponsiveService = await startService(() => undefined);
    expect(getCode(await unresponsiveService.upstream.call(operations.getUser))).toBe("UPSTREAM_TIMEOUT");
    const stalledService = await startService(
      (_, response) => void response.writeHead(200, { "content-type": "application/json" }).write('{"status":'),
    );
    expect(getCode(await stalledService.upstream.call(operations.getUser))).toBe("UPSTREAM_TIMEOUT");
  });

  const stalledCalls: [string, (upstream: Upstream, input: CallInput) => Promise<Result<unknown, Failure>>][] = [
    ["a response", (upstream, input) => upstream.call(operations.listQueue, input)],
    ["a refusal", (upstream, input) => upstream.call(operations.getJob, { ...input, params: { job_id: "refused" } })],
    ["a catalogue", (upstream, input) => upstream.catalogue(input)],
    ["a refused download", (upstream, input) => upstream.forward(operations.view, input)],
  ];
  test.each(stalledCalls)("stops reading %s even if the transport doesn't forward the signal", async (_, call) => {
    // Node doesn't forward the signal of a garbage-collected request.
    let cancelCount = 0;
    const sendStalled: Send = ({ url }) => {
      const body = new ReadableStream({ cancel: () => void (cancelCount += 1) });
      return Promise.resolve(new Response(body, { status: /view|refused/.test(url) ? 400 : 200 }));
    };
    const responseReader = createResponseReader("unused.mjs", createLog("silent"));
    const cache = createDiskCache<string>({ folder: createTemporaryFolder(), maxBytes: 1, extension: "json" });
    const readCatalogue = createCatalogueReader({ responseReader, cache, connectionId: "c" });
    for (const send of [sendStalled, createLocalDialect(sendStalled, Date.now, "me")]) {
      const limits = { readMs: 50, attempts: 1 };
      const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send, readCatalogue, limits });
      expect(getCode(await call(upstream, {}))).toBe("UPSTREAM_TIMEOUT");
      expect(getCode(await call(upstream, { signal: AbortSignal.abort(), limits: { exchangeMs: 60_000 } }))).toBe("CLIENT_GONE");
    }
    expect(cancelCount).toBe(4);
  });

  test("reports a refused and a closed connection as unreachable, with the reason", async () => {
    const { server, upstream } = await startService((_, response) => response.destroy());
    expect(getCode(await upstream.call(operations.getUser))).toBe("UPSTREAM_UNREACHABLE");
    await server.close();
    const refused = await upstream.call(operations.getUser);
    expect(refused).toMatchObject({ failure: { code: "UPSTREAM_UNREACHABLE", message: expect.stringContaining("nothing listens there") } });
  });

  test("aborts the request when the caller disconnects", async () => {
    const { server, upstream } = await startService(() => undefined, { readMs: 10_000 });
    const controller = new AbortController();
    const runningCall = upstream.call(operations.getUser, { signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort();
    expect(getCode(await runningCall)).toBe("CLIENT_GONE");
  });

  const failTimes = (times: number, status: number, headers: Record<string, string> = {}, body: unknown = {}): Responder => {
    let remaining = times;
    return (_: ReceivedRequest, response) =>
      remaining-- > 0 ? sendJsonResponse(response, body, status, headers) : sendJsonResponse(response, { status: "active" });
  };

  test.each([429, 502, 503, 504])("retries a read at most twice after a %i", async (status) => {
    const recoveringService = await startService(failTimes(2, status));
    expect(getCode(await recoveringService.upstream.call(operations.getUser))).toBe("ok");
    const failingService = await startService(failTimes(9, status));
    expect(getCode(await failingService.upstream.call(operations.getUser))).not.toBe("ok");
    expect(failingService.server.requests.length).toBe(3);
  });

  test("doesn't retry a 429 about limits or payment, a 500 or a long Retry-After", async () => {
    for (const respond of [
      failTimes(1, 429, {}, { error: { type: "QUEUE_LIMIT", message: "The queue is full" } }),
      failTimes(1, 429, {}, { code: "PAYMENT_REQUIRED", message: "User has not paid" }),
      failTimes(1, 500),
      failTimes(1, 429, { "retry-after": "60" }),
    ]) {
      const { server, upstream } = await startService(respond);
      expect(getCode(await upstream.call(operations.getUser))).not.toBe("ok");
      expect(server.requests.length).toBe(1);
    }
  });

  test.each([429, 502])("never retries a change after a %i", async (status) => {
    const { server, upstream } = await startService(failTimes(9, status));
    expect(getCode(await upstream.call(operations.submitPrompt, { json: { prompt: {} } }))).not.toBe("ok");
    await upstream.call(operations.manageQueue, { json: { clear: true } });
    expect(server.requests.map(({ url }) => url)).toEqual(["/api/prompt", "/api/queue"]);
  });

  test("sends the key for content but not to its redirects", async () => {
    const storage = await startService((_, response) => void response.writeHead(200, { "content-type": "image/png" }).end("PIXELS"));
    for (const location of [`${storage.server.url}/signed?x=1`, "/stored/file.png"]) {
      const { server, send } = await startService(({ url }, response) =>
        url.startsWith("/api/view")
          ? response.writeHead(302, { location }).end()
          : response.writeHead(200, { "content-type": "image/png" }).end("PIXELS"),
      );
      const upstream = createUpstream({ baseUrl: server.url, apiKey: "sk-key", send, sendForeign: send });
      const result = await upstream.forward(operations.view, { query: { filename: "a.png" } });
      expect(result.ok && (await result.value.text())).toBe("PIXELS");
      expect(server.requests[0]?.headers["x-api-key"]).toBe("sk-key");
      const laterRequests = [...server.requests.slice(1), ...storage.server.requests.splice(0)];
      expect(laterRequests).toHaveLength(1);
      expect(JSON.stringify(laterRequests[0]?.headers)).not.toContain("sk-key");
    }
  });

  test("rejects redirect loops and redirects to invalid URLs", async () => {
    for (const location of ["/api/view?again", "file:///etc/passwd", "http://[", undefined]) {
      const { server, upstream } = await startService(
        (_, response) => void response.writeHead(302, location === undefined ? {} : { location }).end(),
      );
      expect(getCode(await upstream.forward(operations.view, { query: { filename: "a" } }))).not.toBe("ok");
      expect(server.requests.length).toBeLessThanOrEqual(6);
    }
  });
});

describe("unresponsive service", () => {
  async function startUnresponsiveService(isResponsive: () => boolean = () => false) {
    const send = openSend();
    const server = await openTestServer((_, response) => {
      if (isResponsive()) sendJsonResponse(response, { status: "active" });
    });
    const limits = { readMs: 60_000, unresponsiveMs: 600 };
    const responseTracker = { tracker: createResponseTracker(), service: "c" };
    return { upstream: createUpstream({ baseUrl: server.url, apiKey: "k", send, limits, responseTracker }), server };
  }

  test("waits for one read and fails others fast when the service is unresponsive", async () => {
    const { upstream } = await startUnresponsiveService();
    const controller = new AbortController();
    const ended: string[] = [];
    const reads = Array.from({ length: 6 }, () =>
      upstream
        .call(operations.getUser, { signal: controller.signal, waiter: "poll" })
        .then((result) => void ended.push(result.ok ? "ok" : result.failure.code)),
    );
    // No browser waits for this call, so it has a longer limit.
    const background = upstream.call(operations.getUser, { signal: controller.signal }).then(() => void ended.push("background"));
    await until("all but the background read have ended", () => ended.length === 5);
    expect(ended).toEqual(Array(5).fill("UPSTREAM_TIMEOUT"));
    expect(ended).not.toContain("background");
    controller.abort();
    await Promise.all([...reads, background]);
  });

  test("retries a read on a dead connection when another read succeeds", async () => {
    let isResponsive = false;
    const { upstream, server } = await startUnresponsiveService(() => isResponsive);
    const call = () => upstream.call(operations.getUser, { waiter: "poll" });
    const slowRead = call();
    await until("the slow read is sent", () => server.requests.length === 1);
    const second = await call();
    expect(second).toMatchObject({ ok: false, failure: { code: "UPSTREAM_TIMEOUT" } });
    isResponsive = true;
    // Its first connection is still open and never responds.
    await until("another read succeeds", async () => (await call()).ok);
    expect(await slowRead).toMatchObject({ ok: true, value: { status: "active" } });
  });

  test("limits the time of a page's read below that of other reads", async () => {
    const harness = await createHarness({ upstreamLimits: { pageMs: 100, readMs: 20_000 } });
    const { connection } = await connectService(harness, () => undefined);
    const jobsResult = await listJobs(harness.getContext("viewer"), jobsQuerySchema.parse({}), connection);
    expect(jobsResult).toMatchObject({ ok: false, failure: { code: "UPSTREAM_TIMEOUT", message: expect.stringContaining("within 1 s") } });
  });
});
