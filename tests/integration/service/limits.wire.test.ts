// Limits on a real connection to the stand-alone service, byte by byte.
import { describe, expect, it } from "vitest";
import { sendRaw } from "@/tests/support/raw-http";
import { createKey, openServiceProcess, serviceCommand } from "@/tests/support/service-process";

describe("on a real connection", async () => {
  const settings = { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1", LIGHTDESK_MAX_UPLOAD_BYTES: "1000000", LIGHTDESK_MAX_JSON_BYTES: "100000" };
  const { client, dataDir, key, service } = await openServiceProcess(settings);

  const send = (text: string) => sendRaw(service.url, text);
  const head = (path: string, extra: string) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n${extra}\r\n`;

  it("returns 408 for a missing body and closes the connection", async () => {
    const json = head("/api/prompt", "Content-Type: application/json\r\nContent-Length: 100\r\n");
    expect(await send(`${json}{"prompt":`)).toMatch(/^HTTP\/1\.1 408 .*connection: close.*"request_timeout"/is);
    const form = head("/api/assets", "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000\r\n");
    const bodyStart = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nsome';
    expect(await send(form + bodyStart)).toMatch(/^HTTP\/1\.1 408 .*connection: close.*"REQUEST_TIMEOUT"/is);
    expect(await send(`${head("/api/userdata/a.txt", "Content-Length: 5000\r\n")}some`)).toMatch(/^HTTP\/1\.1 408 .*connection: close/is);
  });

  it("returns 413 to clients still sending, for every kind", async () => {
    expect((await client.upload("x".repeat(40_000_000), "big.txt")).status).toBe(413);
    expect((await client.call("POST", "/api/userdata/big.txt", "x".repeat(40_000_000))).status).toBe(413);
    expect((await client.post("/api/prompt", { prompt: {}, note: "x".repeat(10_000_000) })).status).toBe(413);
    expect((await client.get("/api/user")).status).toBe(200);
  });

  it("treats missing, unknown and revoked keys alike on every path", async () => {
    const revoked = await createKey(dataDir, "grace");
    await serviceCommand(dataDir, "keys", "revoke", revoked.slice(0, 11));
    for (const [method, path] of [
      ["GET", "/api/jobs"],
      ["GET", "/api/nothing"],
      ["PATCH", "/api/jobs"],
      ["GET", "/"],
      ["POST", "/api/prompt"],
    ] as const) {
      const responses = [];
      for (const value of [undefined, "", "unknown", revoked]) {
        const response = await fetch(service.url + path, { method, headers: value === undefined ? {} : { "x-api-key": value } });
        responses.push({ status: response.status, text: await response.text() });
      }
      expect(responses, path).toEqual(Array.from({ length: 4 }, () => ({ status: 401, text: expect.stringContaining('"UNAUTHORIZED"') })));
      expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    }
  });
});
