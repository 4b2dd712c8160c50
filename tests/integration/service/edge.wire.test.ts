// The edge of HTTP: whose body is read, and which host a request is for. Byte by byte, on a real connection.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRaw, readRaw, sendRaw } from "@/tests/support/raw-http";
import { createKey, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";

let service: ServiceProcess;
let key: string;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "lightdesk-edge-"));
  key = await createKey(dataDir, "ada");
  service = await startServiceProcess(dataDir, { LIGHTDESK_MAX_UPLOAD_BYTES: "1000000" });
});
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  await rm(dataDir, { recursive: true, force: true });
});

const form = "Content-Type: multipart/form-data; boundary=b\r\n";

describe("a sender that waits to be asked for its body", () => {
  const head = (path: string, headers: string) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n${headers}\r\n`;

  it.each([
    ["without a key", "/api/assets", () => `${form}Content-Length: 500\r\n`, 401],
    ["to a path that does not exist", "/api/nothing", () => `X-API-Key: ${key}\r\nContent-Length: 500\r\n`, 404],
    ["with a method that the path lacks", "/api/user", () => `X-API-Key: ${key}\r\nContent-Length: 500\r\n`, 405],
    ["of more than is taken", "/api/assets", () => `X-API-Key: ${key}\r\n${form}Content-Length: 900000000\r\n`, 413],
    ["of a larger file of user data", "/api/userdata/a.bin", () => `X-API-Key: ${key}\r\nContent-Length: 900000000\r\n`, 413],
    ["of another kind of body", "/api/assets", () => `X-API-Key: ${key}\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n`, 415],
  ])("%s is refused without being asked", async (_name, path, headers, status) => {
    const answer = readRaw(await sendRaw(service.url, head(path, headers())));
    expect(answer.status).toBe(status);
    expect(answer.head).toMatch(/connection: close/i);
  });

  it.each([
    [
      "an upload",
      "/api/assets",
      form,
      `--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nwaited\r\n--b--\r\n`,
      201,
    ],
    ["user data", "/api/userdata/waited.txt?overwrite=true", "", "waited", 200],
    ["JSON", "/api/queue", "Content-Type: application/json\r\n", `{"delete":[]}`, 200],
  ])("with a right to send %s is asked, and then accepted", async (_name, path, headers, body, status) => {
    const { socket, received } = openRaw(service.url);
    socket.write(head(path, `X-API-Key: ${key}\r\n${headers}Content-Length: ${body.length}\r\nConnection: close\r\n`));
    await until("it is asked", () => received() === "HTTP/1.1 100 Continue\r\n\r\n");
    socket.write(body);
    await once(socket, "close");
    expect(readRaw(received().replace("HTTP/1.1 100 Continue\r\n\r\n", "")).status).toBe(status);
  });

  it("may send without having been asked", async () => {
    const body = `{"delete":[]}`;
    const headers = `X-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`;
    expect(await sendRaw(service.url, head("/api/queue", headers) + body)).toMatch(/HTTP\/1\.1 200 OK/);
  });
});

it("a refusal reaches a client that ends its connection and is still sending", async () => {
  const upload = request(`${service.url}/api/assets`, {
    method: "POST",
    agent: false,
    headers: { connection: "close", "content-type": "text/plain" },
  });
  const answered = new Promise<IncomingMessage>((resolve) => upload.once("response", resolve)).then(async (answer) => [
    answer.statusCode,
    (await answer.toArray()).join(""),
  ]);
  const sent = once(upload, "close");
  upload.end(Buffer.alloc(30_000_000));
  // An error on either side rejects.
  expect((await Promise.all([answered, sent]))[0]).toEqual([401, expect.stringContaining("UNAUTHORIZED")]);
});

describe("the host of a request", () => {
  const refused = (text: string) => ({ status: readRaw(text).status, body: JSON.parse(readRaw(text).body) as unknown });

  it.each([
    ["missing", "GET /api/health HTTP/1.1\r\n\r\n", "is missing"],
    ["given twice", "GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "more than once"],
    ["given twice to HTTP/1.0", "GET /api/health HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n", "more than once"],
    ["empty", "GET /api/health HTTP/1.1\r\nHost:\r\n\r\n", "names no host"],
    ["a path", "GET /api/health HTTP/1.1\r\nHost: a/b\r\n\r\n", "names no host"],
    ["a person", "GET /api/health HTTP/1.1\r\nHost: a@b\r\n\r\n", "names no host"],
    ["a list", "GET /api/health HTTP/1.1\r\nHost: a, b\r\n\r\n", "names no host"],
    ["with a port that is none", "GET /api/health HTTP/1.1\r\nHost: a:99999\r\n\r\n", "names no host"],
  ])("that is %s is refused in words, and the connection ends", async (_name, bytes, words) => {
    const answer = await sendRaw(service.url, bytes);
    expect(refused(answer)).toEqual({
      status: 400,
      body: { code: "BAD_REQUEST", message: expect.stringContaining(words), request_id: expect.any(String) },
    });
  });

  it("may be left out by HTTP/1.0, and is then the address that was asked", async () => {
    expect(await sendRaw(service.url, "GET /api/health HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 OK[^]*"ok"/);
    const answer = await sendRaw(service.url, `GET /api/assets?name_contains=photo HTTP/1.0\r\nX-API-Key: ${key}\r\n\r\n`);
    expect(readRaw(answer).body).toContain(`"preview_url":"${service.url}/api/view`);
  });

  it.each(["localhost", "LocalHost:80", "127.0.0.1:1", "127.8.8.8", "[::1]:65535", "a.localhost"])("may be %s", async (host) => {
    expect(await sendRaw(service.url, `GET /api/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200/);
  });

  it("of an address with a backslash does not matter: that is refused in words", async () => {
    const answer = await sendRaw(service.url, "GET /api\\user HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(refused(answer)).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
  });
});
