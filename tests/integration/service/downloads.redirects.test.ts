// Sources that respond like large model sites: one origin redirects to a signed URL on another origin.
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { type ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { createPattern } from "@/tests/support/file-source";
import { openTestServer } from "@/tests/support/servers";
import { startService } from "@/tests/support/service";
import { type ReceivedRequest } from "@/tests/support/test-server";
import { download, getContent, getHash } from "./downloads-support";
import { asRecord } from "./support";

const SECRET = "hf_AbCdEf0123456789";
const bytes = createPattern(300_000, 9);
const sha256 = createHash("sha256").update(bytes).digest("hex");
let onSite: (request: ReceivedRequest, response: ServerResponse) => void;
let onStorage: (request: ReceivedRequest, response: ServerResponse) => void;
const site = await openTestServer((request, response) => onSite(request, response));
const storage = await openTestServer((request, response) => onStorage(request, response));
const service = await startService({ downloadHosts: [site.url, storage.url], requestTimeoutMs: 5000 });
const client = service.client();
afterAll(async () => {
  expect(JSON.stringify(service.loggedErrors)).not.toContain(SECRET);
  await service.dispose();
  await site.close();
  await storage.close();
});
beforeEach(() => {
  site.requests.length = 0;
  storage.requests.length = 0;
});

const createSignedUrl = (path: string) => `${storage.url}${path}?X-Amz-Signature=${SECRET}&Expires=1900000000&Key-Pair-Id=K2`;
const redirectToStorage =
  (path: string, headers: Record<string, string> = {}) =>
  (_request: ReceivedRequest, response: ServerResponse) =>
    void response.writeHead(302, { location: createSignedUrl(path), ...headers }).end("Found. Redirecting");

/** Serves ranges like a storage server. `cutFirstAt` closes the first response after that many bytes. */
function createStorageHandler(
  getFile: () => { bytes: Buffer; etag: string },
  { headers = {}, cutFirstAt }: { headers?: Record<string, string>; cutFirstAt?: number } = {},
) {
  let responseCount = 0;
  return ({ headers: requestHeaders }: ReceivedRequest, response: ServerResponse) => {
    const file = getFile();
    const isUnchanged = requestHeaders["if-range"] === undefined || requestHeaders["if-range"] === file.etag;
    const start = isUnchanged ? Number(/^bytes=(\d+)-/.exec(requestHeaders.range ?? "")?.[1] ?? 0) : 0;
    const body = file.bytes.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      etag: file.etag,
      "content-length": String(body.length),
      ...(start > 0 && { "content-range": `bytes ${start}-${file.bytes.length - 1}/${file.bytes.length}` }),
      ...headers,
    });
    responseCount += 1;
    if (responseCount > 1 || cutFirstAt === undefined) return void response.end(body);
    response.write(body.subarray(0, cutFirstAt), () => response.socket?.end(() => response.destroy()));
  };
}

describe("a model site that redirects to storage", () => {
  it("is followed to the signed URL, verified by hash and not exposed", async () => {
    onSite = redirectToStorage("/repos/ab/cd", { "x-linked-etag": `"${sha256}"`, "x-linked-size": String(bytes.length) });
    onStorage = createStorageHandler(() => ({ bytes, etag: '"one"' }), {
      headers: {
        "content-disposition": `inline; filename*=UTF-8''mod%C3%A8le%20v1.safetensors; filename="mod_le v1.safetensors";`,
        "content-type": "binary/octet-stream",
      },
    });
    const task = await download(client, `${site.url}/org/model/resolve/main/model.safetensors?download=true`);
    expect(task).toMatchObject({ status: "completed", result: { filename: "modèle v1.safetensors", hash: getHash(bytes) } });
    expect(JSON.stringify(task)).not.toContain(SECRET);
  });

  it("is resumed at a new signed URL and restarted when the file changed", async () => {
    let visitCount = 0;
    onSite = (request, response) => redirectToStorage(`/bucket/${(visitCount += 1)}`)(request, response);
    const first = createPattern(300_000, 21);
    onStorage = createStorageHandler(() => ({ bytes: first, etag: '"v1"' }), { cutFirstAt: 100_000 });
    const json = await download(client, `${site.url}/api/download/models/1`);
    expect((await getContent(client, json)).equals(first)).toBe(true);
    expect(storage.requests.map(({ url, headers }) => [url.split("?")[0], headers.range])).toEqual([
      ["/bucket/1", undefined],
      ["/bucket/2", "bytes=100000-"],
    ]);

    const second = createPattern(310_000, 22);
    const states = [
      { bytes: first, etag: '"v1"' },
      { bytes: second, etag: '"v2"' },
    ];
    let requestCount = 0;
    onStorage = createStorageHandler(() => states[Math.min((requestCount += 1), 2) - 1] ?? { bytes: second, etag: '"v2"' }, {
      cutFirstAt: 100_000,
    });
    const secondDownload = await download(client, `${site.url}/api/download/models/2`);
    expect(asRecord(secondDownload.result).hash).toBe(getHash(second));
  });

  it.each([
    ["seconds", () => "1"],
    ["a date", () => new Date(Date.now() + 2000).toUTCString()],
  ])("is retried after the delay from %s", async (_name, getRetryAfter) => {
    const requestTimes: number[] = [];
    let retryAtMs = 0;
    onSite = (_request, response) => {
      requestTimes.push(Date.now());
      if (requestTimes.length > 1) return void response.end(bytes);
      const retryAfter = getRetryAfter();
      retryAtMs = /^\d+$/.test(retryAfter) ? Date.now() + 1000 : Date.parse(retryAfter);
      response.writeHead(429, { "retry-after": retryAfter }).end("slow down");
    };
    const task = await download(client, `${site.url}/busy-${_name.length}.bin`);
    expect(task.status).toBe("completed");
    expect(requestTimes).toHaveLength(2);
    // A timer may fire up to a millisecond early.
    expect(requestTimes[1]).toBeGreaterThanOrEqual(retryAtMs - 2);
  });

  it("fails and names the retry time when the delay is too long", async () => {
    onSite = (_request, response) => void response.writeHead(429, { "retry-after": "7200" }).end();
    const task = await download(client, `${site.url}/very-busy.bin`);
    expect(task).toMatchObject({ status: "failed", error_message: "The source responded with 429. Try again in 7200 s." });
    expect(site.requests).toHaveLength(1);
  });
});

describe("a page instead of a file", () => {
  const sendPage = (_request: ReceivedRequest, response: ServerResponse) =>
    void response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<!DOCTYPE html><title>Sign in</title>");

  it.each(["/org/model/blob/main/model.safetensors", "/api/download/models/7"])("fails the task for %s and keeps no file", async (path) => {
    onSite = (request, response) =>
      request.url.startsWith("/login")
        ? sendPage(request, response)
        : void response.writeHead(307, { location: "/login?returnUrl=x" }).end();
    const task = await download(client, site.url + path);
    expect(task).toMatchObject({
      status: "failed",
      error_message: expect.stringContaining("web page"),
      result: { code: "UNPROCESSABLE" },
    });
    expect(await readdir(join(service.folder, "downloads"))).toEqual([]);
    const metadataResponse = await client.get(`/api/assets/remote-metadata?url=${encodeURIComponent(site.url + path)}`);
    expect(metadataResponse.body).toMatchObject({
      validation: { is_valid: false, errors: [{ code: "UNPROCESSABLE", field: "url", message: expect.stringContaining("web page") }] },
    });
  });

  it("is accepted when the name or disposition matches the file", async () => {
    onSite = sendPage;
    expect(await download(client, `${site.url}/report.html`)).toMatchObject({ status: "completed", result: { filename: "report.html" } });
    onSite = (_request, response) =>
      void response
        .writeHead(200, { "content-type": "text/html", "content-disposition": "attachment; filename=notes" })
        .end("<html>notes</html>");
    expect(await download(client, `${site.url}/notes`)).toMatchObject({ status: "completed", result: { filename: "notes" } });
  });
});

describe("a token in a URL", () => {
  it.each(["token", "api_key", "X-Amz-Signature"])("is sent to the source as %s and never exposed or stored", async (name) => {
    onSite = (_request, response) => void response.end(`${name} of ${bytes.length}`);
    const task = await download(client, `${site.url}/api/download/${name}?type=Model&${name}=${SECRET}&size=full`);
    expect(site.requests[0]?.url).toContain(`${name}=${SECRET}`);
    expect(task).toMatchObject({
      status: "completed",
      payload: { source_url: `${site.url}/api/download/${name}?type=Model&${name}=***&size=full` },
    });
    expect(JSON.stringify(task)).not.toContain(SECRET);
    const secondResponse = await client.post("/api/assets/download", {
      source_url: `${site.url}/api/download/${name}?type=Model&${name}=${SECRET}&size=full`,
    });
    expect(secondResponse.status).toBe(200);
    expect(readStoredRows(join(service.folder, "service.sqlite"))).not.toContain(SECRET);
  });

  it("is not in a failed task's message", async () => {
    onSite = (_request, response) => void response.writeHead(302, { location: `https://example.com/?token=${SECRET}` }).end();
    const task = await download(client, `${site.url}/elsewhere?token=${SECRET}`);
    expect(task.status).toBe("failed");
    expect(JSON.stringify(task)).not.toContain(SECRET);
  });
});

/** Reads every row of the tables that downloads write to. */
function readStoredRows(file: string): string {
  const database = new SqliteConnection(file, { readOnly: true });
  try {
    return JSON.stringify(["tasks", "fetched_sources", "assets"].map((table) => database.prepare(`SELECT * FROM ${table}`).all()));
  } finally {
    database.close();
  }
}
