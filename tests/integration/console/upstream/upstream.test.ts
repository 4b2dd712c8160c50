// The API client with real HTTP servers, correct and faulty ones.
import { afterEach, describe, expect, test } from "vitest";
import { operations } from "@/lib/contract/operations";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { storeApiKey } from "@/lib/server/keys/key-ring";
import { listJobs } from "@/lib/server/queries/jobs";
import { createResponseTracker } from "@/lib/server/upstream/deadline";
import { createHttpSend, type HttpSend } from "@/lib/server/upstream/send";
import { createUpstream, type UpstreamLimits } from "@/lib/server/upstream/upstream";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse, type TestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

describe("upstream", () => {
  const open: (TestServer | HttpSend)[] = [];
  afterEach(async () => {
    for (const item of open.splice(0)) await item.close();
  });

  type Answer = Parameters<typeof openTestServer>[0];
  const quick: Partial<UpstreamLimits> = { readMs: 400, writeMs: 400, firstRetryMs: 1, longestWaitMs: 50 };

  async function against(respond: Answer, limits: Partial<UpstreamLimits> = {}) {
    const server = await openTestServer(respond);
    const send = createHttpSend({ connectTimeoutMs: 500 });
    open.push(server, send);
    return { server, send, upstream: createUpstream({ baseUrl: server.url, apiKey: "sk-key", send, limits: { ...quick, ...limits } }) };
  }

  const codeOf = (result: { ok: true } | { ok: false; failure: { code: string } }) => (result.ok ? "ok" : result.failure.code);

  test("parses responses and sends the key in one header, without Origin", async () => {
    const { server, upstream } = await against((_, response) => sendJsonResponse(response, { status: "active", more: 1 }));
    expect(await upstream.call(operations.getUser)).toEqual({ ok: true, value: { status: "active", more: 1 } });
    const [request] = server.requests;
    expect(request?.headers["x-api-key"]).toBe("sk-key");
    expect([request?.headers.origin, request?.headers.cookie, request?.headers.referer]).toEqual([undefined, undefined, undefined]);
  });

  test("keeps the path of a base URL, with or without a final slash", async () => {
    const { server, send } = await against((_, response) => sendJsonResponse(response, { status: "active" }));
    for (const baseUrl of [`${server.url}/deep/er`, `${server.url}/deep/er/`]) {
      await createUpstream({ baseUrl, apiKey: "k", send }).call(operations.getUser);
    }
    expect(server.requests.map(({ url }) => url)).toEqual(["/deep/er/api/user", "/deep/er/api/user"]);
  });

  test("joins query lists by comma and omits unset values", async () => {
    const { server, upstream } = await against((_, response) => sendJsonResponse(response, { jobs: [], pagination: {} }));
    await upstream.call(operations.listJobs, { query: { status: ["pending", "in_progress"], workflow_id: undefined, limit: 5 } });
    expect(server.requests[0]?.url).toBe("/api/jobs?status=pending%2Cin_progress&limit=5");
  });

  test("escapes ids in paths", async () => {
    const { server, upstream } = await against((_, response) => sendJsonResponse(response, {}));
    for (const job_id of ["..", ".", "", "../../admin?x#y"])
      expect(codeOf(await upstream.call(operations.getJob, { params: { job_id } }))).toBe("NOT_FOUND");
    expect(server.requests).toEqual([]);
  });

  test("rejects HTML, broken JSON, other shapes and redirects", async () => {
    const page: Answer = (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>");
    const broken: Answer = (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"status":');
    const shape: Answer = (_, response) => sendJsonResponse(response, { hello: "world" });
    const redirect: Answer = (_, response) => void response.writeHead(302, { location: "/login" }).end();
    for (const answer of [page, broken, shape, redirect]) {
      const { upstream } = await against(answer);
      const result = await upstream.call(operations.getUser);
      expect(codeOf(result)).toBe("UPSTREAM_UNREADABLE");
      expect(JSON.stringify(result)).not.toContain("<h1>");
    }
  });

  test("doesn't buffer a response beyond the limit", async () => {
    const { upstream } = await against((_, response) => sendJsonResponse(response, { status: "a".repeat(5000) }), { jsonBytes: 1000 });
    expect(codeOf(await upstream.call(operations.getUser))).toBe("UPSTREAM_TOO_LARGE");
  });

  test("times out a service slow to start or to finish", async () => {
    const silent = await against(() => undefined);
    expect(codeOf(await silent.upstream.call(operations.getUser))).toBe("UPSTREAM_TIMEOUT");
    const stuck = await against((_, response) => void response.writeHead(200, { "content-type": "application/json" }).write('{"status":'));
    expect(codeOf(await stuck.upstream.call(operations.getUser))).toBe("UPSTREAM_TIMEOUT");
  });

  test("reports a refused and a closed connection as unreachable, with the reason", async () => {
    const { server, upstream } = await against((_, response) => response.destroy());
    expect(codeOf(await upstream.call(operations.getUser))).toBe("UPSTREAM_UNREACHABLE");
    await server.close();
    const refused = await upstream.call(operations.getUser);
    expect(refused).toMatchObject({ failure: { code: "UPSTREAM_UNREACHABLE", message: expect.stringContaining("nothing listens there") } });
  });

  test("reports the service's 401 as a key problem, not a session problem", async () => {
    const { upstream } = await against((_, response) => sendJsonResponse(response, { code: "UNAUTHORIZED", message: "no" }, 401));
    expect(codeOf(await upstream.call(operations.getUser))).toBe("UPSTREAM_REFUSED_KEY");
  });

  test("aborts the request when the caller disconnects", async () => {
    const { server, upstream } = await against(() => undefined, { readMs: 10_000 });
    const controller = new AbortController();
    const running = upstream.call(operations.getUser, { signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort();
    expect(codeOf(await running)).toBe("CLIENT_GONE");
  });

  const failing = (times: number, status: number, headers: Record<string, string> = {}, body: unknown = {}): Answer => {
    let remaining = times;
    return (_: ReceivedRequest, response) =>
      remaining-- > 0 ? sendJsonResponse(response, body, status, headers) : sendJsonResponse(response, { status: "active" });
  };

  test.each([429, 502, 503, 504])("retries a read that meets %i at most twice", async (status) => {
    const passing = await against(failing(2, status));
    expect(codeOf(await passing.upstream.call(operations.getUser))).toBe("ok");
    const lasting = await against(failing(9, status));
    expect(codeOf(await lasting.upstream.call(operations.getUser))).not.toBe("ok");
    expect(lasting.server.requests.length).toBe(3);
  });

  test("reports a 429 about credit, a 500 and a long Retry-After immediately", async () => {
    for (const answer of [
      failing(1, 429, {}, { error: { type: "QUEUE_LIMIT", message: "The queue is full" } }),
      failing(1, 429, {}, { code: "PAYMENT_REQUIRED", message: "User has not paid" }),
      failing(1, 500),
      failing(1, 429, { "retry-after": "60" }),
    ]) {
      const { server, upstream } = await against(answer);
      expect(codeOf(await upstream.call(operations.getUser))).not.toBe("ok");
      expect(server.requests.length).toBe(1);
    }
  });

  test.each([429, 500, 502, 503, 504])("never repeats a submission that meets %i", async (status) => {
    const { server, upstream } = await against(failing(9, status));
    expect(codeOf(await upstream.call(operations.submitPrompt, { json: { prompt: {} } }))).not.toBe("ok");
    await upstream.call(operations.manageQueue, { json: { clear: true } });
    expect(server.requests.map(({ url }) => url)).toEqual(["/api/prompt", "/api/queue"]);
  });

  test("sends the key for content but not to its redirects", async () => {
    const storage = await against((_, response) => void response.writeHead(200, { "content-type": "image/png" }).end("PIXELS"));
    for (const location of [`${storage.server.url}/signed?x=1`, "/stored/file.png"]) {
      const { server, send } = await against(({ url }, response) =>
        url.startsWith("/api/view")
          ? response.writeHead(302, { location }).end()
          : response.writeHead(200, { "content-type": "image/png" }).end("PIXELS"),
      );
      const upstream = createUpstream({ baseUrl: server.url, apiKey: "sk-key", send, sendForeign: send });
      const result = await upstream.forward(operations.view, { query: { filename: "a.png" } });
      expect(result.ok && (await result.value.text())).toBe("PIXELS");
      expect(server.requests[0]?.headers["x-api-key"]).toBe("sk-key");
      const after = [...server.requests.slice(1), ...storage.server.requests.splice(0)];
      expect(after).toHaveLength(1);
      expect(JSON.stringify(after[0]?.headers)).not.toContain("sk-key");
    }
  });

  test("refuses redirects in a loop, to a file and to nowhere", async () => {
    for (const location of ["/api/view?again", "file:///etc/passwd", "http://[", undefined]) {
      const { server, upstream } = await against(
        (_, response) => void response.writeHead(302, location === undefined ? {} : { location }).end(),
      );
      expect(codeOf(await upstream.forward(operations.view, { query: { filename: "a" } }))).not.toBe("ok");
      expect(server.requests.length).toBeLessThanOrEqual(6);
    }
  });

  test("rejects a response with too many lists before reading it", async () => {
    const { upstream } = await against(
      (_, response) => {
        const longText = "[],".repeat(2_000_000);
        response.writeHead(200, { "content-type": "application/json" }).end(`{"jobs":[],"pagination":{},"more":[${longText}[]]}`);
      },
      { readMs: 20_000 },
    );
    const result = await upstream.call(operations.listJobs);
    expect(codeOf(result)).toBe("UPSTREAM_TOO_LARGE");
  });
});

describe("unresponsive service", () => {
  const open: (TestServer | HttpSend)[] = [];
  afterEach(async () => {
    for (const item of open.splice(0)) await item.close();
  });

  async function behind(isBack: () => boolean = () => false) {
    const server = await openTestServer((_, response) => {
      if (isBack()) sendJsonResponse(response, { status: "active" });
    });
    const send = createHttpSend();
    open.push(server, send);
    const limits = { readMs: 60_000, unresponsiveMs: 600 };
    const upstream = createUpstream({
      baseUrl: server.url,
      apiKey: "k",
      send,
      limits,
      responseTracker: { of: createResponseTracker(), service: "c" },
    });
    return { upstream, server };
  }

  test("waits for one read and fails the others fast when nothing answers", async () => {
    const { upstream } = await behind();
    const controller = new AbortController();
    const ended: string[] = [];
    const reads = Array.from({ length: 6 }, (_, index) =>
      upstream.call(operations.getUser, { signal: controller.signal, waits: "poll" }).then((result) => {
        ended.push(result.ok ? "answered" : result.failure.code);
        return index;
      }),
    );
    // No browser waits for this call, so it has a longer limit.
    const background = upstream.call(operations.getUser, { signal: controller.signal }).then(() => void ended.push("background"));
    await until("all but the patient one are over", () => ended.length === 5);
    expect(ended).toEqual(Array(5).fill("UPSTREAM_TIMEOUT"));
    expect(ended).not.toContain("background");
    controller.abort();
    await Promise.all([...reads, background]);
  });

  test("retries a read on a dead line when another read is answered", async () => {
    let isBack = false;
    const { upstream, server } = await behind(() => isBack);
    const call = () => upstream.call(operations.getUser, { waits: "poll" });
    const patient = call();
    await until("the patient one is asked", () => server.requests.length === 1);
    const second = await call();
    expect(second).toMatchObject({ ok: false, failure: { code: "UPSTREAM_TIMEOUT" } });
    isBack = true;
    // Its first connection is still open and never responds.
    await until("somebody is answered", async () => (await call()).ok);
    expect(await patient).toMatchObject({ ok: true, value: { status: "active" } });
  });

  test("doesn't delay a page as long as its own read may take", async () => {
    const harness = await createHarness({ upstreamLimits: { pageMs: 100, readMs: 20_000 } });
    const server = await openTestServer(() => undefined);
    open.push(server);
    const { store, ring, now } = harness.console;
    const { id } = await store.connections.create({ name: "Silent", baseUrl: server.url, createdAt: now() });
    await storeApiKey(store.keys, ring, { connectionId: id, apiKey: "k", now: now() });
    const jobsResult = await listJobs(harness.contextOf("viewer"), jobsQuerySchema.parse({}), id);
    expect(jobsResult).toMatchObject({ ok: false, failure: { code: "UPSTREAM_TIMEOUT", message: expect.stringContaining("within 1 s") } });
  });
});
