import { readdir } from "node:fs/promises";
import { type ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { openTestServer } from "@/tests/support/servers";
import { startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { download, getContent, readTask, startDownload, waitForBytes, waitForOutcome } from "./downloads-support";

const MAX_BYTES = 2_000_000;

const otherServer = await openTestServer((_, response) => void response.end("must not be fetched"));
type SourceResponse = string | ((response: ServerResponse, headers: Record<string, unknown>) => void);
const responses: Record<string, SourceResponse> = {
  "/metadata-service": "http://169.254.169.254/latest",
  "/loopback": "https://127.0.0.1/x",
  "/loopback-ipv6": "https://[::ffff:127.0.0.1]/x",
  "/loopback-name": "https://localhost/x",
  "/other-host": "https://example.com/x",
  "/file-url": "file:///etc/passwd",
  "/invalid-url": "http://[",
  "/with-password": "https://ada:secret@huggingface.co/x",
  "/redirect-loop": "/redirect-loop",
  "/other-port": `${otherServer.url}/x`,
  "/chain": "/chain/2",
  "/chain/2": "chain/3",
  "/chain/chain/3": "../../fine?a=1#part",
  "/fine": (response) => response.end("fine"),
  "/unauthorized": (response) => response.writeHead(401).end(),
  "/broken": (response) => response.writeHead(500).end(),
  "/partial": (response) => response.writeHead(206, { "content-range": "bytes 0-3/4" }).end("fine"),
  "/declares-too-large": (response) => response.writeHead(200, { "content-length": String(MAX_BYTES + 1) }).write("x"),
  "/never-ends": writeForever,
  "/encoded": (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("fine")),
  "/requires-identity": (response, headers) => {
    const isPlain = headers["accept-encoding"] === "identity";
    response.writeHead(200, isPlain ? {} : { "content-encoding": "gzip" }).end(isPlain ? "plain" : gzipSync("plain"));
  },
  "/disconnects": (response) => response.destroy(),
  "/wrong-hash": (response) => response.writeHead(200, { "x-linked-etag": `"${"ab".repeat(32)}"` }).end("other bytes"),
  "/endless-redirect": (response) => {
    response.writeHead(302, { location: "/fine" });
    writeForever(response);
  },
  "/slow": (response) => response.writeHead(200, { "content-length": "1000000" }).write("x".repeat(1000)),
};

const source = await openTestServer(({ url, headers }, response) => {
  const handler = responses[url.split("?")[0] ?? ""];
  if (typeof handler === "string") response.writeHead(302, { location: handler }).end();
  else if (handler) handler(response, headers);
  else response.writeHead(404).end();
});
const service = await startService({
  downloadHosts: ["huggingface.co", "localhost", "127.0.0.1", source.url],
  maxDownloadBytes: MAX_BYTES,
  requestTimeoutMs: 5000,
});
const client = service.client();
afterAll(() => {
  expect(service.loggedErrors).toEqual([]);
  expect(otherServer.requests).toEqual([]);
});

describe("downloads from hostile sources", () => {
  it.each([
    "http://huggingface.co/x",
    "https://huggingface.co.evil.example/x",
    "https://huggingface.co./x",
    "https://evilhuggingface.co/x",
    "https://huggingface.co:8443/x",
    "https://user@huggingface.co/x",
    "https://:password@huggingface.co/x",
    "https://cdn-lfs.hf.co/x",
    "https://2130706433/x",
    "https://localhost/x",
    "http://localhost:3000/x",
    "file:///etc/passwd",
    source.url.replace("//", "//ada:x@"),
    `${otherServer.url}/x`,
  ])("rejects %s", async (sourceUrl) => {
    const rejection = { status: 400, body: { code: "UNSUPPORTED_SOURCE", details: expect.anything() } };
    expect(await client.post("/api/assets/download", { source_url: sourceUrl })).toMatchObject(rejection);
    expect(await client.get(`/api/assets/remote-metadata?url=${encodeURIComponent(sourceUrl)}`)).toMatchObject({
      status: 400,
      body: { code: "UNSUPPORTED_SOURCE" },
    });
  });

  it("names the invalid field of a body", async () => {
    const sourceUrl = `${source.url}/fine`;
    for (const [body, field] of [
      [{}, "source_url"],
      [{ source_url: "not a URL" }, "source_url"],
      [{ source_url: sourceUrl, tags: "model" }, "tags"],
      [{ source_url: sourceUrl, tags: Array.from({ length: 101 }, (_, n) => `t${n}`) }, "tags"],
      [{ source_url: sourceUrl, preview_id: "7" }, "preview_id"],
      [{ source_url: sourceUrl, preview_id: "0b5c1b5e-0000-4000-8000-000000000000" }, "preview_id"],
      [{ source_url: sourceUrl, user_metadata: [] }, "user_metadata"],
    ] as const)
      expect(await client.post("/api/assets/download", body)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining(field) },
      });
  });

  it.each([
    ["/metadata-service", "may not download from"],
    ["/loopback", "inside the network"],
    ["/loopback-ipv6", "may not download from"],
    ["/loopback-name", "inside the network"],
    ["/other-port", "may not download from"],
    ["/other-host", "may not download from"],
    ["/file-url", "may not download from"],
    ["/invalid-url", "may not download from"],
    ["/with-password", "may not download from"],
    ["/redirect-loop", "too often"],
    ["/missing", "no such file"],
    ["/unauthorized", "requires a sign-in"],
    ["/broken", "responded with 500"],
    ["/disconnects", "did not respond"],
    ["/partial", "whole file"],
    ["/declares-too-large", "larger than the 2000000 bytes"],
    ["/never-ends", "larger than the 2000000 bytes"],
    ["/encoded", "encoding gzip"],
    ["/wrong-hash", "differs from the one that the source announced"],
  ])("fails a task for %s with a message and keeps no file", async (path, message) => {
    const task = await download(client, source.url + path);
    expect(task).toMatchObject({ status: "failed", result: { success: false, error: task.error_message } });
    expect(task.error_message).toContain(message);
    expect(await readdir(join(service.folder, "downloads"))).toEqual([]);
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
  });

  it("follows permitted redirects without reading their bodies", async () => {
    for (const [path, text] of [
      ["/chain", "fine"],
      ["/endless-redirect", "fine"],
      ["/requires-identity", "plain"],
    ] as const)
      expect((await getContent(client, await download(client, source.url + path))).toString()).toBe(text);
    expect(source.requests.every(({ headers }) => headers.cookie === undefined && headers.authorization === undefined)).toBe(true);
  });

  it("cancels a running task, hides it from others and leaves no file", async () => {
    const path = await startDownload(client, `${source.url}/slow`);
    expect(await waitForBytes(client, path, 1000)).toMatchObject({ status: "running", bytes_total: 1_000_000, progress: 0.001 });
    expect(await readdir(join(service.folder, "downloads"))).toEqual([path.split("/").at(-1)]);
    const eve = service.client("eve");
    expect((await eve.get(path)).status).toBe(404);
    expect((await eve.call("DELETE", path)).status).toBe(404);
    expect((await client.call("DELETE", path)).status).toBe(204);
    expect(await readTask(client, path)).toMatchObject({ status: "cancelled", error_message: "The download was cancelled." });
    expect(await readdir(join(service.folder, "downloads"))).toEqual([]);
    expect((await client.call("DELETE", path)).status).toBe(409);
  });

  it("cancels a task between two attempts", async () => {
    const requestCount = source.requests.length;
    const path = await startDownload(client, `${source.url}/broken`);
    await until("the file was requested", () => source.requests.length > requestCount);
    expect((await client.call("DELETE", path)).status).toBe(204);
    expect(await waitForOutcome(client, path)).toMatchObject({ status: "cancelled" });
  });

  it("returns 422 with the reason when metadata can't be read", async () => {
    const readMetadata = (path: string) => client.get(`/api/assets/remote-metadata?url=${encodeURIComponent(source.url + path)}`);
    for (const path of ["/missing", "/unauthorized", "/broken", "/redirect-loop"])
      expect(await readMetadata(path), path).toMatchObject({
        status: 422,
        body: { code: "UNPROCESSABLE", message: expect.stringMatching(/./) },
      });
    for (const path of ["/loopback", "/other-host"]) expect((await readMetadata(path)).status).toBe(400);
    expect((await client.get("/api/assets/remote-metadata")).status).toBe(400);
  });
});

function writeForever(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, "x");
  const endless = new Readable({ read: () => void endless.push(chunk) });
  // Ends when the client disconnects.
  pipeline(endless, response, () => undefined);
}
