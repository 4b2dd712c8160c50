// Limits of the standalone service on a real connection.
import { describe, expect, it } from "vitest";
import { sendRaw } from "@/tests/support/raw-http";
import { createKey, openServiceProcess, runServiceCommand } from "@/tests/support/service-process";

describe("on a real connection", async () => {
  const settings = { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1", LIGHTDESK_MAX_UPLOAD_BYTES: "1000000", LIGHTDESK_MAX_JSON_BYTES: "100000" };
  const { client, dataDir, key, service } = await openServiceProcess(settings);

  const send = (text: string) => sendRaw(service.url, text);
  const createHead = (path: string, extraHeaders: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n${extraHeaders}\r\n`;

  it("returns 408 for a missing body and closes the connection", async () => {
    const json = createHead("/api/prompt", "Content-Type: application/json\r\nContent-Length: 100\r\n");
    expect(await send(`${json}{"prompt":`)).toMatch(/^HTTP\/1\.1 408 .*connection: close.*"request_timeout"/is);
    const form = createHead("/api/assets", "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000\r\n");
    const bodyStart = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nsome';
    expect(await send(form + bodyStart)).toMatch(/^HTTP\/1\.1 408 .*connection: close.*"REQUEST_TIMEOUT"/is);
    expect(await send(`${createHead("/api/userdata/a.txt", "Content-Length: 5000\r\n")}some`)).toMatch(
      /^HTTP\/1\.1 408 .*connection: close/is,
    );
  });

  it("returns 413 while a client is still sending a body of any kind", async () => {
    expect((await client.upload("x".repeat(40_000_000), "big.txt")).status).toBe(413);
    expect((await client.call("POST", "/api/userdata/big.txt", "x".repeat(40_000_000))).status).toBe(413);
    expect((await client.post("/api/prompt", { prompt: {}, note: "x".repeat(10_000_000) })).status).toBe(413);
    expect((await client.get("/api/user")).status).toBe(200);
  });

  it("treats missing, unknown and revoked keys alike on every path", async () => {
    const revokedKey = await createKey(dataDir, "grace");
    await runServiceCommand(dataDir, "keys", "revoke", revokedKey.slice(0, 11));
    for (const [method, path] of [
      ["GET", "/api/jobs"],
      ["GET", "/api/nothing"],
      ["PATCH", "/api/jobs"],
      ["GET", "/"],
      ["POST", "/api/prompt"],
    ] as const) {
      const responses = [];
      for (const value of [undefined, "", "unknown", revokedKey]) {
        const response = await fetch(service.url + path, { method, headers: value === undefined ? {} : { "x-api-key": value } });
        responses.push({ status: response.status, text: await response.text() });
      }
      expect(responses, path).toEqual(Array.from({ length: 4 }, () => ({ status: 401, text: expect.stringContaining('"UNAUTHORIZED"') })));
      expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    }
  });
});
