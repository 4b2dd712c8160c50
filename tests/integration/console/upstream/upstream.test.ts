// The client of the interface against real HTTP servers that behave and that do not.
import { afterEach, expect, test } from "vitest";
import { operations } from "@/lib/contract/operations";
import { createHttpSend, type HttpSend } from "@/lib/server/upstream/send";
import { createUpstream, type UpstreamLimits } from "@/lib/server/upstream/upstream";
import { answerJson, type LittleServer, type Seen, startLittleServer } from "@/tests/support/little-server";

const open: (LittleServer | HttpSend)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

type Answer = Parameters<typeof startLittleServer>[0];
const quick: Partial<UpstreamLimits> = { readMs: 400, writeMs: 400, firstRetryMs: 1, longestWaitMs: 50 };

async function against(answer: Answer, limits: Partial<UpstreamLimits> = {}) {
  const server = await startLittleServer(answer);
  const send = createHttpSend({ connectTimeoutMs: 500 });
  open.push(server, send);
  return { server, send, upstream: createUpstream({ baseUrl: server.url, apiKey: "sk-key", send, limits: { ...quick, ...limits } }) };
}

const codeOf = (result: { ok: true } | { ok: false; failure: { code: string } }) => (result.ok ? "ok" : result.failure.code);

test("an answer is parsed, the key travels in its one header, and no Origin does", async () => {
  const { server, upstream } = await against((_, response) => answerJson(response, { status: "active", more: 1 }));
  expect(await upstream.call(operations.getUser)).toEqual({ ok: true, value: { status: "active", more: 1 } });
  const [seen] = server.seen;
  expect(seen?.headers["x-api-key"]).toBe("sk-key");
  expect([seen?.headers.origin, seen?.headers.cookie, seen?.headers.referer]).toEqual([undefined, undefined, undefined]);
});

test("a base URL with a path of its own keeps it, with and without a slash at its end", async () => {
  const { server, send } = await against((_, response) => answerJson(response, { status: "active" }));
  for (const baseUrl of [`${server.url}/deep/er`, `${server.url}/deep/er/`]) {
    await createUpstream({ baseUrl, apiKey: "k", send }).call(operations.getUser);
  }
  expect(server.seen.map(({ url }) => url)).toEqual(["/deep/er/api/user", "/deep/er/api/user"]);
});

test("lists in a query are one comma-joined value, and what is not set is not sent", async () => {
  const { server, upstream } = await against((_, response) => answerJson(response, { jobs: [], pagination: {} }));
  await upstream.call(operations.listJobs, { query: { status: ["pending", "in_progress"], workflow_id: undefined, limit: 5 } });
  expect(server.seen[0]?.url).toBe("/api/jobs?status=pending%2Cin_progress&limit=5");
});

test("an id cannot climb out of its place in the address", async () => {
  const { server, upstream } = await against((_, response) => answerJson(response, {}));
  for (const job_id of ["..", ".", "", "../../admin?x#y"])
    expect(codeOf(await upstream.call(operations.getJob, { params: { job_id } }))).toBe("NOT_FOUND");
  expect(server.seen).toEqual([]);
});

test("a web page, broken JSON, another shape and a redirect are no answers of the interface", async () => {
  const page: Answer = (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>");
  const broken: Answer = (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"status":');
  const shape: Answer = (_, response) => answerJson(response, { hello: "world" });
  const redirect: Answer = (_, response) => void response.writeHead(302, { location: "/login" }).end();
  for (const answer of [page, broken, shape, redirect]) {
    const { upstream } = await against(answer);
    const result = await upstream.call(operations.getUser);
    expect(codeOf(result)).toBe("UPSTREAM_UNREADABLE");
    expect(JSON.stringify(result)).not.toContain("<h1>");
  }
});

test("an answer beyond the bound is not held", async () => {
  const { upstream } = await against((_, response) => answerJson(response, { status: "a".repeat(5000) }), { jsonBytes: 1000 });
  expect(codeOf(await upstream.call(operations.getUser))).toBe("UPSTREAM_TOO_LARGE");
});

test("a service that is slow to begin, or to end, is a timeout", async () => {
  const silent = await against(() => undefined);
  expect(codeOf(await silent.upstream.call(operations.getUser))).toBe("UPSTREAM_TIMEOUT");
  const stuck = await against((_, response) => void response.writeHead(200, { "content-type": "application/json" }).write('{"status":'));
  expect(codeOf(await stuck.upstream.call(operations.getUser))).toBe("UPSTREAM_TIMEOUT");
});

test("where nothing listens, and where the connection is closed, the service is unreachable and the sentence says why", async () => {
  const { server, upstream } = await against((_, response) => response.destroy());
  expect(codeOf(await upstream.call(operations.getUser))).toBe("UPSTREAM_UNREACHABLE");
  await server.close();
  const refused = await upstream.call(operations.getUser);
  expect(refused).toMatchObject({ failure: { code: "UPSTREAM_UNREACHABLE", message: expect.stringContaining("nothing listens there") } });
});

test("the service's 401 is about the key, not about the person's session", async () => {
  const { upstream } = await against((_, response) => answerJson(response, { code: "UNAUTHORIZED", message: "no" }, 401));
  expect(codeOf(await upstream.call(operations.getUser))).toBe("UPSTREAM_REFUSED_KEY");
});

test("a caller who goes away ends the exchange", async () => {
  const { server, upstream } = await against(() => undefined, { readMs: 10_000 });
  const controller = new AbortController();
  const running = upstream.call(operations.getUser, { signal: controller.signal });
  await expect.poll(() => server.seen.length).toBe(1);
  controller.abort();
  expect(codeOf(await running)).toBe("CLIENT_GONE");
});

const failing = (times: number, status: number, headers: Record<string, string> = {}, body: unknown = {}): Answer => {
  let left = times;
  return (_: Seen, response) => (left-- > 0 ? answerJson(response, body, status, headers) : answerJson(response, { status: "active" }));
};

test.each([429, 502, 503, 504])("a read that meets %i is tried again, twice at most", async (status) => {
  const passing = await against(failing(2, status));
  expect(codeOf(await passing.upstream.call(operations.getUser))).toBe("ok");
  const lasting = await against(failing(9, status));
  expect(codeOf(await lasting.upstream.call(operations.getUser))).not.toBe("ok");
  expect(lasting.server.seen.length).toBe(3);
});

test("a 429 about money, a 500, and a Retry-After beyond patience are shown at once", async () => {
  for (const answer of [
    failing(1, 429, {}, { error: { type: "QUEUE_LIMIT", message: "The queue is full" } }),
    failing(1, 429, {}, { code: "PAYMENT_REQUIRED", message: "User has not paid" }),
    failing(1, 500),
    failing(1, 429, { "retry-after": "60" }),
  ]) {
    const { server, upstream } = await against(answer);
    expect(codeOf(await upstream.call(operations.getUser))).not.toBe("ok");
    expect(server.seen.length).toBe(1);
  }
});

test.each([429, 500, 502, 503, 504])("a submission that meets %i is never sent twice", async (status) => {
  const { server, upstream } = await against(failing(9, status));
  expect(codeOf(await upstream.call(operations.submitPrompt, { json: { prompt: {} } }))).not.toBe("ok");
  await upstream.call(operations.manageQueue, { json: { clear: true } });
  expect(server.seen.map(({ url }) => url)).toEqual(["/api/prompt", "/api/queue"]);
});

test("content is opened with the key, and what it redirects to is not given the key: not elsewhere, not at home", async () => {
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
    expect(server.seen[0]?.headers["x-api-key"]).toBe("sk-key");
    const after = [...server.seen.slice(1), ...storage.server.seen.splice(0)];
    expect(after).toHaveLength(1);
    expect(JSON.stringify(after[0]?.headers)).not.toContain("sk-key");
  }
});

test("a redirect in a circle, to a file and to nowhere ends in a refusal", async () => {
  for (const location of ["/api/view?again", "file:///etc/passwd", "http://[", undefined]) {
    const { server, upstream } = await against(
      (_, response) => void response.writeHead(302, location === undefined ? {} : { location }).end(),
    );
    expect(codeOf(await upstream.forward(operations.view, { query: { filename: "a" } }))).not.toBe("ok");
    expect(server.seen.length).toBeLessThanOrEqual(6);
  }
});

test("an answer of more lists than anybody could look through is refused before it is read", async () => {
  const { upstream } = await against(
    (_, response) => {
      const many = "[],".repeat(2_000_000);
      response.writeHead(200, { "content-type": "application/json" }).end(`{"jobs":[],"pagination":{},"more":[${many}[]]}`);
    },
    { readMs: 20_000 },
  );
  const result = await upstream.call(operations.listJobs);
  expect(codeOf(result)).toBe("UPSTREAM_TOO_LARGE");
});
