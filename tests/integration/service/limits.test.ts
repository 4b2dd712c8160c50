// Limits on the size and duration of a request, tested at each boundary.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asString, createColorGraph, getRecord, listAssets } from "./support";

const createNestedJson = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const createTags = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `tag ${index + from}`);

describe("limits of one request", async () => {
  const service = await startService({ maxJsonBytes: 4000, maxJsonDepth: 20, maxGraphNodes: 3, maxIdsPerCall: 4, maxTagsPerAsset: 5 });
  const client = service.client();
  afterAll(async () => {
    await service.dispose();
    expect(service.loggedErrors).toEqual([]);
  });

  it("returns 413 for an oversized JSON body before reading it", async () => {
    const body = JSON.stringify({ delete: ["x".repeat(4000)] });
    const response = await client.call("POST", "/api/history", body, { "content-length": String(body.length) });
    expect(response).toMatchObject({ status: 413, body: { code: "FILE_TOO_LARGE", message: expect.stringContaining("4000") } });
    expect(response.headers.get("connection")).toBe("close");
    expect((await client.call("POST", "/api/history", body)).status).toBe(413);
  });

  it("rejects deeply nested JSON with 400 in bodies and upload parts", async () => {
    const deepJson = `{"tags":["a"],"user_metadata":${createNestedJson(20)}}`;
    expect(await client.call("POST", "/api/assets/from-hash", deepJson)).toMatchObject({ status: 400, body: { code: "INVALID_JSON" } });
    const part = await client.upload("x", "x.txt", { user_metadata: createNestedJson(21) });
    expect(part).toMatchObject({ status: 400, body: { code: "INVALID_BODY", details: [{ field: "user_metadata" }] } });
    expect((await client.upload("x", "x.txt", { user_metadata: createNestedJson(20) })).status).toBe(201);
  });

  it("returns 400 for a deeply nested metadata_filter", async () => {
    for (const path of ["/api/assets", "/api/assets/tags/refine"]) {
      const filter = (levels: number) => client.get(`${path}?metadata_filter=${encodeURIComponent(createNestedJson(levels))}`);
      expect([path, (await filter(20)).status]).toEqual([path, 200]);
      expect(await filter(21)).toMatchObject({ status: 400, body: { code: "INVALID_QUERY", details: [{ field: "metadata_filter" }] } });
    }
  });

  it("returns 400 for too many ids and accepts the maximum", async () => {
    const ids = createTags(5);
    for (const [path, body] of [
      ["/api/queue", { delete: ids }],
      ["/api/history", { delete: ids }],
      ["/api/jobs/cancel", { job_ids: ids }],
    ] as const)
      expect(await client.post(path, body)).toMatchObject({
        status: 400,
        body: { code: "INVALID_BODY", message: expect.stringContaining("4 ids") },
      });
    expect(await client.post("/api/queue", { delete: ids.slice(1) })).toMatchObject({ status: 200, body: { deleted: [] } });
  });

  it("rejects a graph with too many nodes and names the limit", async () => {
    const graph = {
      ...createColorGraph(1),
      "3": { class_type: "PrimitiveInt", inputs: { value: 1 } },
      "4": { class_type: "PrimitiveInt", inputs: {} },
    };
    const response = await client.post("/api/prompt", { prompt: graph });
    expect(response).toMatchObject({
      status: 400,
      body: {
        error: { type: "invalid_prompt", message: expect.stringMatching(/\b3 nodes.* 4\b/), extra_info: { max_graph_nodes: 3 } },
        node_errors: {},
      },
    });
    expect((await client.post("/api/prompt", { prompt: createColorGraph(1) })).status).toBe(200);
  });

  it("rejects a long or deep prompt with a prompt error", async () => {
    const longResponse = await client.post("/api/prompt", { prompt: createColorGraph(1), extra_data: { note: "x".repeat(4000) } });
    expect(longResponse).toMatchObject({ status: 413, body: { error: { type: "invalid_prompt" }, node_errors: {} } });
    const deepResponse = await client.call("POST", "/api/prompt", `{"prompt":${createNestedJson(20)}}`);
    expect(deepResponse).toMatchObject({ status: 400, body: { error: { type: "invalid_prompt" }, node_errors: {} } });
  });

  it("limits the tags of an asset on every route", async () => {
    expect((await client.upload("many", "m.txt", { tags: JSON.stringify(createTags(6)) })).status).toBe(400);
    const { id } = asRecord((await client.upload("five", "f.txt", { tags: JSON.stringify(createTags(5)) })).body);
    const secondResponse = await client.post(`/api/assets/${asString(id)}/tags`, { tags: createTags(2, 4) });
    expect(secondResponse).toMatchObject({ status: 400, body: { code: "INVALID_BODY", message: expect.stringContaining("5 tags") } });
    expect((await getRecord(client, `/api/assets/${asString(id)}`)).tags).toHaveLength(5);
    expect(await client.call("PUT", `/api/assets/${asString(id)}`, { tags: createTags(6) })).toMatchObject({ status: 400 });
  });

  it("limits a tag to 200 characters without control characters", async () => {
    const { id } = asRecord((await client.upload("tag me", "t.txt")).body);
    for (const tag of ["x".repeat(201), "a\u0000b", "a\nb", " "])
      expect(await client.post(`/api/assets/${asString(id)}/tags`, { tags: [tag] }), JSON.stringify(tag)).toMatchObject({
        status: 400,
        body: { code: "INVALID_BODY" },
      });
    expect((await client.post(`/api/assets/${asString(id)}/tags`, { tags: ["x".repeat(200)] })).status).toBe(200);
  });

  it("rejects user_metadata beyond 64 KiB on every endpoint", async () => {
    const defaultService = await startService();
    const ada = defaultService.client();
    const user_metadata = { note: "x".repeat(65 * 1024) };
    expect(await ada.upload("a", "a.txt", { user_metadata: JSON.stringify(user_metadata) })).toMatchObject({ status: 400 });
    const { id, asset_hash } = asRecord((await ada.upload("a", "a.txt")).body);
    const rejection = { status: 400, body: { code: "INVALID_BODY", message: expect.stringContaining("user_metadata") } };
    expect(await ada.post("/api/assets/from-hash", { hash: asset_hash, tags: ["a"], user_metadata })).toMatchObject(rejection);
    expect(await ada.call("PUT", `/api/assets/${asString(id)}`, { user_metadata })).toMatchObject(rejection);
    const source_url = "https://huggingface.co/x";
    expect(await ada.post("/api/assets/download", { source_url, user_metadata })).toMatchObject(rejection);
  });

  it("rejects a mask over 50 MB and closes the connection", async () => {
    const fields = { original_ref: '{"filename":"a.png"}' };
    const response = await client.upload(new Uint8Array(50 * 1024 * 1024 + 1), "p.png", fields, "image", "/api/upload/mask");
    expect(response).toMatchObject({ status: 400, body: { code: "INVALID_IMAGE" } });
    expect(response.headers.get("connection")).toBe("close");
  });
});

describe("request duration limits", async () => {
  const service = await startService({ requestTimeoutMs: 300 });
  const client = service.client();
  afterAll(async () => {
    await service.dispose();
    expect(service.loggedErrors).toEqual([]);
  });

  /** Sends the first bytes, then nothing or one more byte per interval. */
  function createSlowBody(firstBytes: string, pace?: { intervalMs: number; bytes: number; end: string }): RequestInit["body"] {
    const encoder = new TextEncoder();
    let remaining = pace?.bytes ?? 0;
    return new ReadableStream({
      start: (controller) => controller.enqueue(encoder.encode(firstBytes)),
      pull: (controller) =>
        new Promise((resolve) => {
          if (!pace) return; // no more bytes follow
          setTimeout(() => {
            controller.enqueue(encoder.encode(remaining > 0 ? "x" : pace.end));
            if (remaining <= 0) controller.close();
            remaining -= 1;
            resolve();
          }, pace.intervalMs);
        }),
    });
  }
  const send = async (path: string, body: RequestInit["body"], headers: Record<string, string>) => {
    const { key } = await service.service.keys.createKey("ada");
    const init = { method: "POST", headers: { "x-api-key": key, ...headers }, body, duplex: "half" } as RequestInit;
    return service.service.fetch(new Request(`http://service.test${path}`, init));
  };
  const multipart = { "content-type": "multipart/form-data; boundary=b" };
  const bodyStart = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';

  it("limits the total time of a slow JSON body", async () => {
    const response = await send("/api/history", createSlowBody('{"delete":["', { intervalMs: 20, bytes: 1000, end: '"]}' }), {
      "content-type": "application/json",
    });
    expect([response.status, response.headers.get("connection")]).toEqual([408, "close"]);
    expect(await response.json()).toMatchObject({ code: "REQUEST_TIMEOUT" });
  });

  it("ignores a byte order mark in a JSON body without a length", async () => {
    const body = createSlowBody('\uFEFF{"delete":["', { intervalMs: 1, bytes: 1, end: '"]}' });
    expect((await send("/api/history", body, { "content-type": "application/json" })).status).toBe(200);
  });

  it("ends a stalled upload and leaves no file", async () => {
    const asset = await send("/api/assets", createSlowBody(`${bodyStart}some bytes`), multipart);
    expect([asset.status, asRecord(await asset.json()).code]).toEqual([408, "REQUEST_TIMEOUT"]);
    expect((await send("/api/userdata/a.txt", createSlowBody("some bytes"), {})).status).toBe(408);
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
    expect(await listAssets(client)).toEqual([]);
  });

  it("accepts a slow upload that keeps sending", async () => {
    const response = await send("/api/assets", createSlowBody(bodyStart, { intervalMs: 30, bytes: 20, end: "\r\n--b--\r\n" }), multipart);
    expect([response.status, asRecord(await response.json()).size]).toEqual([201, 20]);
  });
});
