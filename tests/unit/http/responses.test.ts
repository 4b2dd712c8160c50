import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, IncomingMessage } from "node:http";
import { connect, type Server, Socket } from "node:net";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { describe, expect, it, test } from "vitest";
import { sendErrorResponse, sendStartingResponse } from "@/lib/http/error-responses";
import { checkEncoding } from "@/lib/http/request-line";
import { createCompressedFiles, createMethodCheck } from "@/lib/http/routes";
import { createHttpServer, HttpResponse } from "@/lib/http/server";
import { closeAfterwards } from "@/tests/support/close-afterwards";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

/** Listens until the test or file that called it ends, and returns the server's URL. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfterwards(() => new Promise((resolve) => server.close(() => resolve())));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
}

test("sends headers with the first body chunk, or alone when it is late", async () => {
  let endBody = (): void => undefined;
  let bytesAfterFlush: number | undefined;
  const server = createServer({ ServerResponse: HttpResponse }, (_, response) => {
    response.flushHeaders();
    bytesAfterFlush = response.socket?.bytesWritten;
    endBody = () => response.end("late");
  });
  // The body follows only after the client has the headers.
  const clientResponse = await fetch(await listen(server));
  expect([clientResponse.status, bytesAfterFlush]).toEqual([200, 0]);
  endBody();
  expect(await clientResponse.text()).toBe("late");
});

it("serves a reloading page while starting, and the error envelope to API clients", async () => {
  const server = createHttpServer({ headersTimeoutMs: 60_000, hosts: undefined, isPage: () => false }, sendStartingResponse);
  const url = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}`;
  closeAfterwards(() => server.close(0));
  const page = await fetch(`${url}/jobs`, { headers: { accept: "text/html,*/*;q=0.8" } });
  expect([page.status, page.headers.get("cache-control"), page.headers.get("retry-after")]).toEqual([503, "no-store", "1"]);
  // A sandbox would block the reload.
  expect(page.headers.get("content-security-policy")).toMatch(/^(?!.*sandbox).*style-src 'unsafe-inline'/);
  const text = await page.text();
  expect([text.includes("Lightdesk is starting"), text.includes('http-equiv="refresh"')]).toEqual([true, true]);
  const response = await fetch(`${url}/api/jobs`);
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ code: "STARTING", message: expect.any(String), request_id: expect.any(String) });
  expect(await (await fetch(`${url}/api/jobs`, { method: "HEAD" })).text()).toBe("");
});

test.each(["HTTP/1.0", "HTTP/1.1\r\nHost: a\r\nConnection: close"])(
  "delivers an error to a client that is still sending with %s",
  async (version) => {
    const server = createServer({ ServerResponse: HttpResponse }, (_, response) => {
      response.statusCode = 401;
      response.setHeader("content-length", "4");
      response.end("none");
    });
    const { port } = new URL(await listen(server));
    const socket = connect({ port: Number(port), allowHalfOpen: true });
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
  },
);

describe("malformed paths", async () => {
  const server = createServer((request, response) => {
    const problem = checkEncoding(request);
    if (problem) sendErrorResponse(request, response, problem);
    else response.writeHead(204).end();
  });
  const origin = await listen(server);

  test.each(["/api/jobs/%E0%A4%A", "/%FF/page"])("rejects %s with the error envelope and a request id", async (path) => {
    const response = await fetch(origin + path);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "BAD_REQUEST", request_id: response.headers.get("x-request-id") });
  });

  test("shows an error page with a link to browsers only", async () => {
    const response = await fetch(`${origin}/%E0%A4%A`, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
    expect([response.status, response.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
    expect(await response.text()).toMatch(/Bad Request[^]*<a href="\/">/);
    expect((await fetch(`${origin}/%E0%A4%A`, { headers: { accept: "*/*" } })).headers.get("content-type")).toBe("application/json");
  });

  test.each(["/api/userdata/a%2Fb%25", "/api/jobs?name=%E0%A4%A"])("accepts %s", async (path) => {
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

test("returns 405 with the allowed methods, and 400 for an unknown method", () => {
  expect(getMethodError("PATCH", "/api/jobs?limit=1")).toEqual([405, "METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS"]);
  expect(getMethodError("GET", "/api/jobs/cancel")).toEqual([405, "METHOD_NOT_ALLOWED", "OPTIONS, POST"]);
  expect(getMethodError("POST", "/api/jobs/cancelled")).toEqual([405, "METHOD_NOT_ALLOWED", "DELETE, GET, HEAD, OPTIONS"]);
  expect(getMethodError("DELETE", "/api/userdata/a/b%2Fc.json")).toEqual([405, "METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS, POST"]);
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

describe("compressed files", async () => {
  const folder = createTemporaryFolder();
  mkdirSync(join(folder, "chunks"));
  writeFileSync(join(folder, "chunks/a.js"), "plain");
  writeFileSync(join(folder, "chunks/a.js.br"), brotliCompressSync("packed"));
  writeFileSync(join(folder, "chunks/b.js"), "plain");
  const serveCompressed = createCompressedFiles(folder, "/static");
  let received = "";
  const server = createServer((request, response) => {
    serveCompressed(request, response);
    received = `${request.url}${request.headers.range ?? ""}`;
    response.end();
  });
  const origin = await listen(server);
  const javaScript = "application/javascript; charset=UTF-8";

  async function requestFile(path: string, acceptEncoding: string, { method = "GET", range = "" } = {}) {
    const headers = { "accept-encoding": acceptEncoding, ...(range && { range }) };
    const response = await fetch(origin + path, { method, headers });
    return [received, response.headers.get("content-encoding"), response.headers.get("content-type")];
  }

  test.each(["br", "gzip, deflate, br, zstd", "br;q=0.5"])("serves a compressed file to clients that accept %s", async (acceptEncoding) => {
    expect(await requestFile("/static/chunks/a.js?v=1", acceptEncoding)).toEqual(["/static/chunks/a.js.br?v=1", "br", javaScript]);
  });

  test("serves uncompressed files to other clients", async () => {
    for (const acceptEncoding of ["gzip, deflate", "br;q=0", "gzip, br; q=0.0", "brr", "identity"])
      expect(await requestFile("/static/chunks/a.js", acceptEncoding)).toEqual(["/static/chunks/a.js", null, null]);
    for (const path of ["/static/chunks/b.js", "/static/chunks/../chunks/b.js", "/chunks/a.js", "/static/chunks"])
      expect((await requestFile(path, "br"))[1]).toBeNull();
  });

  test("never marks another method's response as compressed", async () => {
    expect(await requestFile("/static/chunks/a.js", "br", { method: "HEAD" })).toEqual(["/static/chunks/a.js.br", "br", javaScript]);
    for (const method of ["POST", "OPTIONS"])
      expect(await requestFile("/static/chunks/a.js", "br", { method })).toEqual(["/static/chunks/a.js", null, null]);
  });

  test("ignores the requested range of a compressed file", async () => {
    expect(await requestFile("/static/chunks/a.js", "br", { range: "bytes=99-" })).toEqual(["/static/chunks/a.js.br", "br", javaScript]);
    expect(await requestFile("/static/chunks/b.js", "br", { range: "bytes=99-" })).toEqual(["/static/chunks/b.jsbytes=99-", null, null]);
  });
});
