// Refusals made before a route's own code runs, on a real connection.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readRaw, sendRaw } from "@/tests/support/raw-http";
import { createKey, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";

let service: ServiceProcess;
let key: string;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "lightdesk-refusals-"));
  key = await createKey(dataDir, "ada");
  service = await startServiceProcess(dataDir, { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" });
});
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  await rm(dataDir, { recursive: true, force: true });
});

it("a packed body is refused by its header's name, one that is called identity is read", async () => {
  const send = (encoding: string) =>
    fetch(`${service.url}/api/userdata/packed.txt`, {
      method: "POST",
      headers: { "x-api-key": key, "content-encoding": encoding },
      body: "x",
    });
  const refused = await send("gzip");
  expect(refused.status).toBe(415);
  expect(await refused.text()).toContain("Content-Encoding");
  expect((await send("identity")).status).toBe(200);
});

async function raw(bytes: string): Promise<{ status: number; body: unknown }> {
  const { status, body } = readRaw(await sendRaw(service.url, bytes));
  return { status, body: JSON.parse(body) };
}

it.each<[string, string, number, string]>([
  ["bytes that are no HTTP", "hello\r\n\r\n", 400, "BAD_REQUEST"],
  ["an unknown method", "FOO /api/user HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "BAD_REQUEST"],
  ["a query of raw UTF-8", "GET /api/assets?name_contains=\u00e4 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "BAD_REQUEST"],
  ["headers that are too large", `GET /api/user HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431, "HEADERS_TOO_LARGE"],
  ["an expectation that nobody knows", "GET /api/user HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\n\r\n", 417, "EXPECTATION_FAILED"],
  ["a tunnel", "CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "METHOD_NOT_ALLOWED"],
  ["headers that never end", "GET /api/user HTTP/1.1\r\nHost: localhost\r\n", 408, "REQUEST_TIMEOUT"],
])("%s is refused in words, and the connection ends", async (_name, bytes, status, code) => {
  const answer = await raw(bytes);
  expect(answer).toMatchObject({ status, body: { code, message: expect.stringMatching(/.{10,}/) } });
});

it("an address that must be encoded is told so", async () => {
  const { body } = await raw("GET /api/assets?name_contains=\u00e4 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(JSON.stringify(body)).toContain("percent-encoded");
});
