// HTTP details on a real connection, such as which bodies are read and which hosts are accepted.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { openRaw, parseRawResponse, sendRaw } from "@/tests/support/raw-http";
import { startService } from "@/tests/support/service";
import { openServiceProcess } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";
import { createColorGraph, submitGraph } from "./support";

const { key, service } = await openServiceProcess({ LIGHTDESK_MAX_UPLOAD_BYTES: "1000000" });

async function sendAndParse(url: string, bytes: string): Promise<{ status: number; body: unknown }> {
  const { status, body } = parseRawResponse(await sendRaw(url, bytes));
  return { status, body: JSON.parse(body) };
}

const multipartHeader = "Content-Type: multipart/form-data; boundary=b\r\n";

describe("Expect: 100-continue", () => {
  const createHead = (path: string, headers: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n${headers}\r\n`;

  it.each([
    ["without a key", "/api/assets", () => `${multipartHeader}Content-Length: 500\r\n`, 401],
    ["to a missing path", "/api/nothing", () => `X-API-Key: ${key}\r\nContent-Length: 500\r\n`, 404],
    ["with an unsupported method", "/api/user", () => `X-API-Key: ${key}\r\nContent-Length: 500\r\n`, 405],
    ["of an upload that is too large", "/api/assets", () => `X-API-Key: ${key}\r\n${multipartHeader}Content-Length: 900000000\r\n`, 413],
    ["of a user data file that is too large", "/api/userdata/a.bin", () => `X-API-Key: ${key}\r\nContent-Length: 900000000\r\n`, 413],
    ["of an unsupported media type", "/api/assets", () => `X-API-Key: ${key}\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n`, 415],
  ])("rejects a request %s without reading the body", async (_name, path, headers, status) => {
    const response = parseRawResponse(await sendRaw(service.url, createHead(path, headers())));
    expect(response.status).toBe(status);
    expect(response.head).toMatch(/connection: close/i);
  });

  it.each([
    [
      "an upload",
      "/api/assets",
      multipartHeader,
      `--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nwaited\r\n--b--\r\n`,
      201,
    ],
    ["user data", "/api/userdata/waited.txt?overwrite=true", "", "waited", 200],
    ["JSON", "/api/queue", "Content-Type: application/json\r\n", `{"delete":[]}`, 200],
  ])("returns 100-continue for %s and accepts the body", async (_name, path, headers, body, status) => {
    const { socket, received } = openRaw(service.url);
    socket.write(createHead(path, `X-API-Key: ${key}\r\n${headers}Content-Length: ${body.length}\r\nConnection: close\r\n`));
    await until("100 Continue has arrived", () => received() === "HTTP/1.1 100 Continue\r\n\r\n");
    socket.write(body);
    await once(socket, "close");
    expect(parseRawResponse(received().replace("HTTP/1.1 100 Continue\r\n\r\n", "")).status).toBe(status);
  });

  it("accepts a body sent without waiting for 100 Continue", async () => {
    const body = `{"delete":[]}`;
    const headers = `X-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`;
    expect(await sendRaw(service.url, createHead("/api/queue", headers) + body)).toMatch(/HTTP\/1\.1 200 OK/);
  });
});

it.each(["", "/api"])("resolves no dot segments in a user data file under %s/userdata", async (prefix) => {
  const headers = `X-API-Key: ${key}\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  for (const [method, path] of [
    ["DELETE", "workflows/../keep.json"],
    ["GET", "../jobs"],
  ])
    expect(parseRawResponse(await sendRaw(service.url, `${method} ${prefix}/userdata/${path} HTTP/1.1\r\n${headers}`)).status).toBe(403);
});

it("delivers an error response to a client that is still sending", async () => {
  const upload = request(`${service.url}/api/assets`, {
    method: "POST",
    agent: false,
    headers: { connection: "close", "content-type": "text/plain" },
  });
  const pendingStatus = new Promise<IncomingMessage>((resolve) => upload.once("response", resolve)).then(async (response) => [
    response.statusCode,
    (await response.toArray()).join(""),
  ]);
  const uploadClosed = once(upload, "close");
  upload.end(Buffer.alloc(30_000_000));
  // A connection error would reject one of the promises.
  expect((await Promise.all([pendingStatus, uploadClosed]))[0]).toEqual([401, expect.stringContaining("UNAUTHORIZED")]);
});

describe("the host of a request", () => {
  it.each([
    ["missing", "GET /api/health HTTP/1.1\r\n\r\n", "is missing"],
    ["repeated", "GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "more than once"],
    ["repeated in HTTP/1.0", "GET /api/health HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n", "more than once"],
    ["empty", "GET /api/health HTTP/1.1\r\nHost:\r\n\r\n", "names no host"],
    ["a path", "GET /api/health HTTP/1.1\r\nHost: a/b\r\n\r\n", "names no host"],
    ["a user", "GET /api/health HTTP/1.1\r\nHost: a@b\r\n\r\n", "names no host"],
    ["with an invalid port", "GET /api/health HTTP/1.1\r\nHost: a:99999\r\n\r\n", "names no host"],
  ])("closes the connection with 400 when the host is %s", async (_name, bytes, message) => {
    expect(await sendAndParse(service.url, bytes)).toEqual({
      status: 400,
      body: { code: "BAD_REQUEST", message: expect.stringContaining(message), request_id: expect.any(String) },
    });
  });

  it("may be omitted in HTTP/1.0", async () => {
    expect(await sendRaw(service.url, "GET /api/health HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 OK[^]*"ok"/);
    const text = await sendRaw(service.url, `GET /api/assets?name_contains=photo HTTP/1.0\r\nX-API-Key: ${key}\r\n\r\n`);
    expect(parseRawResponse(text).body).toContain(`"preview_url":"${service.url}/api/view`);
  });

  it.each(["LocalHost:80", "127.8.8.8", "[::1]:65535", "a.localhost"])("may be %s", async (host) => {
    expect(await sendRaw(service.url, `GET /api/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200/);
  });
});

describe("rejected requests", async () => {
  const settings = { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1", LIGHTDESK_MAX_UPLOAD_BYTES: "1000000", LIGHTDESK_MAX_JSON_BYTES: "100000" };
  const { client, key, service } = await openServiceProcess(settings);
  const createPost = (path: string, headers: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n${headers}Content-Length: 5000\r\n\r\n${body}`;
  const formStart = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nsome';

  it("rejects a compressed body and accepts identity", async () => {
    const send = (encoding: string) => client.call("POST", "/api/userdata/packed.txt", "x", { "content-encoding": encoding });
    expect(await send("gzip")).toMatchObject({ status: 415, text: expect.stringContaining("Content-Encoding") });
    expect((await send("identity")).status).toBe(200);
  });

  it.each<[string, string, number, string]>([
    ["bytes that are not HTTP", "hello\r\n\r\n", 400, "BAD_REQUEST"],
    ["an unknown method", "FOO /api/user HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "BAD_REQUEST"],
    ["a backslash in the URL", "GET /api\\user HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "BAD_REQUEST"],
    ["long headers", `GET /api/user HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431, "HEADERS_TOO_LARGE"],
    ["an unknown expectation", "GET /api/user HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\n\r\n", 417, "EXPECTATION_FAILED"],
    ["a tunnel", "CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "METHOD_NOT_ALLOWED"],
    ["headers that never end", "GET /api/user HTTP/1.1\r\nHost: localhost\r\n", 408, "REQUEST_TIMEOUT"],
  ])("rejects %s with a message and closes the connection", async (_name, bytes, status, code) => {
    const response = await sendAndParse(service.url, bytes);
    expect(response).toMatchObject({ status, body: { code, message: expect.stringMatching(/.{10,}/) } });
  });

  it("returns 408 for a body that never ends and closes the connection", async () => {
    for (const request of [
      createPost("/api/prompt", "Content-Type: application/json\r\n", '{"prompt":'),
      createPost("/api/assets", multipartHeader, formStart),
    ])
      expect(await sendRaw(service.url, request)).toMatch(/^HTTP\/1\.1 408 .*connection: close.*"request_timeout"/is);
    expect(await sendRaw(service.url, createPost("/api/userdata/a.txt", "", "some"))).toMatch(/^HTTP\/1\.1 408 .*connection: close/is);
  });

  it("names percent-encoding when a URL isn't encoded", async () => {
    const request = "GET /api/assets?name_contains=\u00e4 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const rejection = { status: 400, body: { code: "BAD_REQUEST", message: expect.stringContaining("percent-encoded") } };
    expect(await sendAndParse(service.url, request)).toMatchObject(rejection);
  });

  it("returns 413 while a client is still sending a body of any kind", async () => {
    expect((await client.upload("x".repeat(20_000_000), "big.txt")).status).toBe(413);
    expect((await client.call("POST", "/api/userdata/big.txt", "x".repeat(20_000_000))).status).toBe(413);
    expect((await client.post("/api/prompt", { prompt: {}, note: "x".repeat(10_000_000) })).status).toBe(413);
    expect((await client.get("/api/user")).status).toBe(200);
  });
});

describe("invalid requests", async () => {
  const service = await startService();
  const client = service.client();
  afterAll(async () => {
    await service.dispose();
    expect(service.loggedErrors).toEqual([]);
  });

  it.each([
    ["/api/jobs?limit=0", "limit", />=1/],
    ["/api/jobs?limit=1001", "limit", /<=1000/],
    ["/api/jobs?limit=", "limit", /whole number/],
    ["/api/jobs?offset=-1", "offset", />=0/],
    ["/api/jobs?status=completed,done", "status", /"completed"/],
    ["/api/jobs?sort_by=created_at", "sort_by", /"create_time"/],
    ["/api/jobs?sort_order=up", "sort_order", /"asc"/],
    ["/api/jobs?output_type=3d", "output_type", /"image"/],
    ["/api/assets?limit=501", "limit", /<=500/],
    ["/api/assets?include_public=maybe", "include_public", /true or false/],
    ["/api/assets?sort=none", "sort", /"name"/],
    ["/api/assets?metadata_filter=[]", "metadata_filter", /JSON text of an object/],
    ["/api/tags?order=x", "order", /"count_desc"/],
    ["/api/view", "filename", /expected string/],
    ["/api/jobs?limit=1&limit=2", "limit", /must not be repeated/],
  ])("names the invalid parameter of GET %s", async (path, field, message) => {
    const { status, body } = await client.get(path);
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: "INVALID_QUERY", details: [{ field, message: expect.stringMatching(message) }] },
    });
  });

  it("rejects too many or duplicate filter tags", async () => {
    for (const query of [`include_tags=${Array.from({ length: 101 }, (_, n) => n).join(",")}`, "exclude_tags=a&exclude_tags=b"])
      for (const path of ["/api/assets", "/api/assets/tags/refine"])
        expect(await client.get(`${path}?${query}`), query).toMatchObject({ status: 400, body: { code: "INVALID_TAG_FILTER" } });
  });

  it.each([
    ["/api/jobs/cancel", { job_ids: ["x".repeat(201)] }, "job_ids.0"],
    ["/api/interrupt", { prompt_id: "x".repeat(201) }, "prompt_id"],
    ["/api/queue", { delete: ["x".repeat(201)] }, "delete.0"],
  ])("rejects an id that is too long in POST %s", async (path, body, field) => {
    expect(await client.post(path, body)).toMatchObject({ status: 400, body: { code: "INVALID_BODY", details: [{ field }] } });
  });

  it("rejects unknown list filters but not harmless parameters", async () => {
    const { status, body } = await client.get("/api/assets?include_tag=x");
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { details: [{ field: "include_tag", message: expect.stringMatching(/did you mean include_tags/) }] },
    });
    expect((await client.get("/api/jobs?_=1&_=2&clientId=a")).status).toBe(200);
  });

  it("rejects unknown fields only in queue and history changes", async () => {
    expect((await client.post("/api/interrupt", { other: 1 })).status).toBe(200);
    for (const path of ["/api/queue", "/api/history"]) {
      expect(await client.post(path, { other: 1 })).toMatchObject({
        status: 400,
        body: { code: "INVALID_BODY", details: [{ field: "other" }] },
      });
      expect((await client.post(path, { delete: "all" })).status).toBe(400);
      expect((await client.call("POST", path, "[")).status).toBe(400);
    }
  });

  it("returns 405 with the allowed methods and 404 for unknown paths", async () => {
    const getAllowed = async (method: string, path: string) => {
      const response = await client.call(method, path);
      return [response.status, response.headers.get("allow")?.split(", ").sort().join()];
    };
    expect(await getAllowed("POST", "/api/userdata")).toEqual([405, "GET,HEAD"]);
    expect(await getAllowed("PATCH", "/api/userdata/a%2Fb.json")).toEqual([405, "DELETE,GET,HEAD,POST"]);
    expect(await getAllowed("POST", "/api/health")).toEqual([405, "GET,HEAD"]);
    expect(await getAllowed("GET", "/api/assets/hash/blake3:0")).toEqual([405, "HEAD"]);
    expect(await getAllowed("POST", "/api/tasks")).toEqual([404, undefined]);
    expect(await getAllowed("GET", "/api/jobs/")).toEqual([404, undefined]);
  });

  it("closes the connection only when the body wasn't read", async () => {
    const length = { "content-length": "7", "content-type": "application/json" };
    const unauthenticated = await service.anonymous().call("POST", "/api/prompt", '{"a":1}', length);
    expect([unauthenticated.status, unauthenticated.headers.get("connection")]).toEqual([401, "close"]);
    const response = await client.call("POST", "/api/prompt", '{"a":1}', length);
    expect([response.status, response.headers.get("connection")]).toEqual([400, null]);
  });

  it("returns 404, never 403, for another user's job in every view", async () => {
    const id = await submitGraph(client, createColorGraph());
    const otherClient = service.client("eve");
    for (const path of [`/api/jobs/${id}`, `/api/job/${id}/status`, `/api/jobs/${id}/assets`, `/api/history_v2/${id}`]) {
      expect(await otherClient.get(path)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    }
    expect(await otherClient.post(`/api/jobs/${id}/cancel`)).toMatchObject({ status: 404 });
    expect((await otherClient.get("/api/jobs/not-a-uuid")).status).toBe(404);
  });
});
