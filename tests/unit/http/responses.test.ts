import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, IncomingMessage, type RequestListener, type Server } from "node:http";
import { connect, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { sendErrorResponse, sendStartingResponse } from "@/lib/http/error-responses";
import { checkEncoding } from "@/lib/http/request-line";
import { createCompressedFiles, createMethodCheck } from "@/lib/http/routes";
import { HttpResponse } from "@/lib/http/server";

test("sends headers with the first body chunk, or alone when it is late", async () => {
  let endBody = (): void => undefined;
  let bytesAfterFlush: number | undefined;
  const server = createServer({ ServerResponse: HttpResponse }, (_, response) => {
    response.flushHeaders();
    bytesAfterFlush = response.socket?.bytesWritten;
    endBody = () => response.end("late");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  // The body follows only after the client has the headers.
  const clientResponse = await fetch(`http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
  expect([clientResponse.status, bytesAfterFlush]).toEqual([200, 0]);
  endBody();
  expect(await clientResponse.text()).toBe("late");
  await new Promise((resolve) => server.close(resolve));
});

describe("while starting", () => {
  let server: Server;
  let url: string;

  beforeEach(async () => {
    server = createServer(sendStartingResponse);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    url = typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
  });

  afterEach(() => void server.close());

  it("serves a starting page that reloads by itself", async () => {
    const response = await fetch(`${url}/jobs`, { headers: { accept: "text/html,*/*;q=0.8" } });
    expect([response.status, response.headers.get("cache-control"), response.headers.get("retry-after")]).toEqual([503, "no-store", "1"]);
    const page = await response.text();
    expect(page).toContain("Lightdesk is starting");
    expect(page).toContain('http-equiv="refresh"');
  });

  it("responds to API clients with the error envelope", async () => {
    const response = await fetch(`${url}/api/jobs`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ code: "STARTING", message: expect.any(String), request_id: expect.any(String) });
    expect(await (await fetch(`${url}/api/jobs`, { method: "HEAD" })).text()).toBe("");
  });
});

test.each(["HTTP/1.0", "HTTP/1.1\r\nHost: a\r\nConnection: close"])(
  "delivers an error to a client that is still sending with %s",
  async (version) => {
    const server = createServer({ ServerResponse: HttpResponse }, (_, response) => {
      response.statusCode = 401;
      response.setHeader("content-length", "4");
      response.end("none");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const socket = connect({ port: typeof address === "object" && address ? address.port : 0, allowHalfOpen: true });
    const errors: string[] = [];
    let received = "";
    socket.on("error", ({ message }) => errors.push(message));
    socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
    const closed = once(socket, "close");
    const body = Buffer.alloc(4 * 1024 ** 2);
    socket.write(`POST / ${version}\r\nContent-Length: ${body.length}\r\n\r\n`);
    await once(socket, "end");
    expect(received).toMatch(/^HTTP\/1\.1 401[^]*none$/);
    socket.end(body);
    await closed;
    expect(errors).toEqual([]);
    server.close();
  },
);

describe("malformed paths", () => {
  const server = createServer((request, response) => {
    const problem = checkEncoding(request);
    if (problem) sendErrorResponse(request, response, problem);
    else response.writeHead(204).end();
  });
  let origin = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    origin = typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test.each(["/api/jobs/%E0%A4%A", "/api/jobs/%", "/%FF/page"])("rejects %s with the error envelope and a request id", async (path) => {
    const response = await fetch(origin + path);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "BAD_REQUEST", request_id: response.headers.get("x-request-id") });
  });

  test("shows an error page with a link to browsers only", async () => {
    const response = await fetch(`${origin}/%E0%A4%A`, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
    expect([response.status, response.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
    const page = await response.text();
    expect(page).toContain("Page not found");
    expect(page).toContain('<a href="/">');
    expect((await fetch(`${origin}/%E0%A4%A`, { headers: { accept: "*/*" } })).headers.get("content-type")).toBe("application/json");
  });

  test.each(["/", "/api/userdata/a%2Fb%25", "/api/jobs?name=%E0%A4%A"])("accepts %s", async (path) => {
    expect((await fetch(origin + path)).status).toBe(204);
  });
});

const checkMethod = createMethodCheck({
  "/api/[...unknown]": ["GET", "POST"],
  "/api/jobs": ["GET"],
  "/api/jobs/[jobId]": ["GET", "DELETE"],
  "/api/jobs/cancel": ["POST"],
  "/api/userdata/[...file]": ["GET", "POST"],
  "/api/openapi.json": ["GET"],
});

function getMethodError(method: string, url: string): unknown {
  const error = checkMethod(Object.assign(new IncomingMessage(new Socket()), { method, url }));
  return error && [error.status, error.code, error.headers?.allow];
}

test("returns 405 with the allowed methods", () => {
  expect(getMethodError("PATCH", "/api/jobs?limit=1")).toEqual([405, "METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS"]);
  expect(getMethodError("GET", "/api/jobs/cancel")).toEqual([405, "METHOD_NOT_ALLOWED", "OPTIONS, POST"]);
  expect(getMethodError("POST", "/api/jobs/cancelled")).toEqual([405, "METHOD_NOT_ALLOWED", "DELETE, GET, HEAD, OPTIONS"]);
  expect(getMethodError("DELETE", "/api/userdata/a/b%2Fc.json")).toEqual([405, "METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS, POST"]);
});

test("returns 400 for an unknown method", () => {
  expect(getMethodError("PROPFIND", "/api/jobs")).toEqual([400, "BAD_REQUEST", undefined]);
});

test("accepts GET, HEAD, OPTIONS, pages and unknown paths", () => {
  for (const [method, url] of [
    ["GET", "/api/jobs"],
    ["HEAD", "/api/jobs"],
    ["OPTIONS", "/api/jobs/cancel"],
    ["POST", "/api/jobs/cancel"],
    ["POST", "/api/jobs/1/2"],
    ["POST", "/api/openapi_json"],
    ["PUT", "/jobs"],
    ["PUT", "/apiary"],
    ["PUT", "/api"],
  ] as const)
    expect(getMethodError(method, url), `${method} ${url}`).toBeUndefined();
});

describe("compressed files", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "lightdesk-packed-"));
    mkdirSync(join(folder, "chunks"));
    writeFileSync(join(folder, "chunks/a.js"), "plain");
    writeFileSync(join(folder, "chunks/a.js.br"), brotliCompressSync("packed"));
    writeFileSync(join(folder, "chunks/b.js"), "plain");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function requestFile(path: string, acceptEncoding: string | undefined, { method = "GET", range = "" } = {}) {
    const serveCompressed = createCompressedFiles(folder, "/static");
    let received = "";
    const listener: RequestListener = (request, response) => {
      serveCompressed(request, response);
      received = `${request.url}${request.headers.range ?? ""}`;
      response.end();
    };
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const clientResponse = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...(acceptEncoding !== undefined && { "accept-encoding": acceptEncoding }), ...(range && { range }) },
    });
    await new Promise((resolve) => server.close(resolve));
    return [received, clientResponse.headers.get("content-encoding"), clientResponse.headers.get("content-type")];
  }

  test("serves a compressed file to clients that accept Brotli", async () => {
    const compressedResponse = ["/static/chunks/a.js.br?v=1", "br", "application/javascript; charset=UTF-8"];
    for (const acceptEncoding of ["br", "gzip, deflate, br, zstd", "br;q=0.5"])
      expect(await requestFile("/static/chunks/a.js?v=1", acceptEncoding)).toEqual(compressedResponse);
  });

  test("serves uncompressed files to other clients", async () => {
    for (const acceptEncoding of ["gzip, deflate", "br;q=0", "gzip, br; q=0.0", "brr", "identity"])
      expect(await requestFile("/static/chunks/a.js", acceptEncoding)).toEqual(["/static/chunks/a.js", null, null]);
    for (const path of ["/static/chunks/b.js", "/static/chunks/../chunks/b.js", "/chunks/a.js", "/static/chunks"])
      expect((await requestFile(path, "br"))[1]).toBeNull();
  });

  test("never marks another method's response as compressed", async () => {
    const type = "application/javascript; charset=UTF-8";
    expect(await requestFile("/static/chunks/a.js", "br", { method: "HEAD" })).toEqual(["/static/chunks/a.js.br", "br", type]);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
      expect(await requestFile("/static/chunks/a.js", "br", { method })).toEqual(["/static/chunks/a.js", null, null]);
  });

  test("ignores the requested range of a compressed file", async () => {
    const type = "application/javascript; charset=UTF-8";
    expect(await requestFile("/static/chunks/a.js", "br", { range: "bytes=99-" })).toEqual(["/static/chunks/a.js.br", "br", type]);
    expect(await requestFile("/static/chunks/b.js", "br", { range: "bytes=99-" })).toEqual(["/static/chunks/b.jsbytes=99-", null, null]);
  });
});
