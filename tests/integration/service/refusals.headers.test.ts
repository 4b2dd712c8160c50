// The headers of a refusal: the methods that a path accepts, and that a connection with an unread body closes.
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";

describe("a refusal's headers", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService({ maxUploadBytes: 1000 });
    client = bench.client();
  });
  afterAll(() => bench.dispose());

  it.each([
    ["PUT", "/api/jobs", ["GET", "HEAD"]],
    ["DELETE", "/api/assets", ["GET", "HEAD", "POST"]],
    ["POST", "/api/assets/6f0d4f7e-13b2-4a1f-9d5c-0c4f1f8a7a99", ["DELETE", "GET", "HEAD", "PUT"]],
  ])("names the methods of a path when %s is none of %s", async (method, path, methods) => {
    const answer = await client.call(method, path);
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")?.split(", ").sort()).toEqual(methods);
  });

  it("ends the connection of a body that is too large", async () => {
    const upload = await client.upload("x".repeat(1001), "big.txt");
    expect([upload.status, upload.headers.get("connection")]).toEqual([413, "close"]);
    const file = await client.call("POST", "/api/userdata/a.txt", "x".repeat(1001));
    expect([file.status, file.headers.get("connection")]).toEqual([413, "close"]);
  });

  it("ends the connection of a body that nobody read, and of no other", async () => {
    const length = { "content-length": "7", "content-type": "application/json" };
    const unknown = await bench.anonymous().call("POST", "/api/prompt", '{"a":1}', length);
    expect([unknown.status, unknown.headers.get("connection")]).toEqual([401, "close"]);
    const read = await client.call("POST", "/api/prompt", '{"a":1}', length);
    expect([read.status, read.headers.get("connection")]).toEqual([400, null]);
  });

  it("does as it says on a real connection", async () => {
    const listener = getRequestListener((request) => bench.service.fetch(request));
    const server = createServer((request, response) => void listener(request, response)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const socket = connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1");
    const { key } = await bench.service.keys.createKey("ada");
    socket.write(
      `POST /api/userdata/a.txt HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nContent-Length: 5000000\r\n\r\n${"x".repeat(70_000)}`,
    );
    const received: string[] = [];
    socket.on("data", (chunk) => received.push(chunk.toString("utf8")));
    await once(socket, "close");
    expect(received.join("")).toMatch(/^HTTP\/1\.1 413 .*\r\nconnection: close\r\n/is);
    expect(received.join("")).not.toMatch(/keep-alive/i);
    server.close();
  });
});
