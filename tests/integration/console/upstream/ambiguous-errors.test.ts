// Error responses with unknown or ambiguous codes. The console falls back to the HTTP status.
import { describe, expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness({ upstreamLimits: { attempts: 1 } });

async function connect(respond: Parameters<typeof openTestServer>[0]) {
  const server = await openTestServer(respond);
  const connection = await harness.connect(server.url, "comfyui-0123456789abcdef0123456789abcdef");
  return (path: string, method = "GET", json?: unknown) =>
    harness.request(`${path}${path.includes("?") ? "&" : "?"}connection=${connection}`, {
      as: "admin",
      method,
      ...(json instanceof FormData ? { body: json } : { json }),
    });
}

test.each([
  [503, { code: "WORKERS_BUSY", message: "no" }, 503, "WORKERS_BUSY"],
  [504, {}, 504, "UPSTREAM_TIMEOUT"],
  [404, {}, 502, "UPSTREAM_NOT_FOUND"],
  [404, { code: "NOT_FOUND", message: "no route" }, 502, "UPSTREAM_NOT_FOUND"],
  [503, { code: "INTERNAL", message: "a console code" }, 503, "SERVICE_UNAVAILABLE"],
  [403, { code: "ROLE_TOO_LOW", message: "a console code" }, 403, "FORBIDDEN"],
])("maps %i %j of a list to %i %s", async (status, body, expectedStatus, code) => {
  const request = await connect((_, response) => sendJsonResponse(response, body, status));
  const reply = await request("/api/jobs");
  expect(reply.status).toBe(expectedStatus);
  expect(await reply.json()).toMatchObject({ code });
});

test.each([
  ["/api/prompt", { prompt: { "1": { class_type: "A", inputs: {} } } }],
  ["/api/queue", { clear: true }],
  ["/api/history", { clear: true }],
  ["/api/assets/download", { source_url: "https://huggingface.co/a" }],
])("reports UPSTREAM_NOT_FOUND for a 404 of %s", async (path, json) => {
  const request = await connect((_, response) => sendJsonResponse(response, { code: "NOT_FOUND", message: "no route" }, 404));
  const reply = await request(path, "POST", json);
  expect([reply.status, (await reply.json()).code]).toEqual([502, "UPSTREAM_NOT_FOUND"]);
});

test("reports UPSTREAM_NOT_FOUND for uploads to another kind of server", async () => {
  const request = await connect((_, response) => sendJsonResponse(response, { code: "NOT_FOUND", message: "no route" }, 404));
  for (const [path, part] of [
    ["/api/upload/image", "image"],
    ["/api/assets", "file"],
  ] as const) {
    const form = new FormData();
    form.set(part, new File(["x"], "a.png", { type: "image/png" }));
    form.set("tags", "input");
    const response = await request(path, "POST", form);
    expect([path, response.status, (await response.json()).code]).toEqual([path, 502, "UPSTREAM_NOT_FOUND"]);
  }
});

test("reports BAD_REQUEST for an invalid body", async () => {
  const request = await connect((_, response) => sendJsonResponse(response, { code: "INVALID_QUERY", message: "prompt: no" }, 400));
  const reply = await request("/api/prompt", "POST", { prompt: { "1": { class_type: "A", inputs: {} } } });
  expect(await reply.json()).toMatchObject({ code: "BAD_REQUEST", message: "prompt: no" });
});

test("accepts an empty response to a queue change", async () => {
  const request = await connect((_, response) => void response.writeHead(204).end());
  const reply = await request("/api/queue", "POST", { clear: true });
  expect(reply.status).toBe(200);
});

test("prefers clear over delete and drops no-ops", async () => {
  const bodies: unknown[] = [];
  const request = await connect(({ method, url, body }, response) => {
    if (method === "POST") bodies.push(JSON.parse(body.toString()));
    sendJsonResponse(response, url.startsWith("/api/queue") ? { deleted: [], cleared: true } : { prompt_id: "p" });
  });
  await request("/api/queue", "POST", { clear: true, delete: ["a"] });
  await request("/api/history", "POST", { clear: true, delete: ["a"] });
  await request("/api/prompt", "POST", { prompt: {}, number: 3, front: true, extra_data: {} });
  expect(bodies).toEqual([{ clear: true }, { clear: true }, { prompt: {}, extra_data: {} }]);
});

test("treats a 404 as an empty folder only while other requests succeed", async () => {
  let isFailing = false;
  const jobs = { jobs: [], pagination: { offset: 0, limit: 1, total: 0, has_more: false } };
  const send = await connect((request: ReceivedRequest, response) => {
    if (!isFailing && request.url.startsWith("/api/jobs")) sendJsonResponse(response, jobs);
    else sendJsonResponse(response, {}, 404);
  });
  const list = () => send("/api/userdata?dir=workflows%2F");
  expect(await (await list()).json()).toEqual([]);
  isFailing = true;
  const reply = await list();
  expect(reply.status).toBe(502);
  expect(await reply.json()).toMatchObject({ code: "UPSTREAM_NOT_FOUND" });
});

test("shows a job in an unknown state in the queue", async () => {
  const job = { id: "job-1", status: "dreaming", create_time: 1_767_225_600_000 };
  const pagination = { offset: 0, limit: 1000, total: 1, has_more: false };
  const request = await connect((_, response) => sendJsonResponse(response, { jobs: [job], pagination }));
  expect(await (await request("/api/console/queue")).json()).toMatchObject({ running: [{ id: "job-1", status: "dreaming" }] });
});

const runningJob = { id: "job-1", status: "in_progress", create_time: 1_767_225_600_000, update_time: 1_767_225_600_000 };
const noJobs = { jobs: [], pagination: { offset: 0, limit: 1, total: 0, has_more: false } };

const asset = { id: "5f0c7a5e-0000-4000-8000-000000000001", name: "a.png", tags: ["input"] };
const noAssets = { assets: [], total: 0, has_more: false };

describe.each([
  { label: "a job", list: "/api/jobs", id: "job-1", item: runningJob, none: noJobs },
  { label: "an asset", list: "/api/assets", id: asset.id, item: asset, none: noAssets },
])("$label", ({ list, id, item, none }) => {
  test("retries one 404 before reporting it", async () => {
    let misses = 1;
    const request = await connect((_, response) => (misses-- > 0 ? sendJsonResponse(response, {}, 404) : sendJsonResponse(response, item)));
    expect((await request(`${list}/${id}`)).status).toBe(200);
  });

  test("reports NOT_FOUND only while the list succeeds", async () => {
    let isUnavailable = false;
    const send = await connect((request: ReceivedRequest, response) => {
      if (!isUnavailable && request.url.startsWith(`${list}?`)) sendJsonResponse(response, none);
      else sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
    });
    expect(await (await send(`${list}/${id}`)).json()).toMatchObject({ code: "NOT_FOUND" });
    isUnavailable = true;
    expect(await (await send(`${list}/${id}`)).json()).toMatchObject({ code: "UPSTREAM_NOT_FOUND" });
  });
});

test("truncates a history that exceeds the limit", async () => {
  const history = Array.from({ length: 500 }, (_, index) => ({ prompt_id: `job-${index}` }));
  const request = await connect((_, response) => sendJsonResponse(response, { history }));
  const body = await (await request("/api/history_v2?max_items=20")).json();
  expect(body.history.map(({ prompt_id: id }: { prompt_id: string }) => id)).toEqual(history.slice(0, 20).map(({ prompt_id: id }) => id));
});

test.each([undefined, `blake3:${"b".repeat(64)}`])(
  "accepts known content only with the offered hash, not with %s",
  async (returnedHash) => {
    const offeredHash = `blake3:${"a".repeat(64)}`;
    const createAsset = (hash?: string) => ({
      id: "5f0c7a5e-0000-4000-8000-000000000001",
      name: "a.png",
      tags: ["input"],
      asset_hash: hash,
    });
    let hash: string | undefined = offeredHash;
    const request = await connect((_, response) => sendJsonResponse(response, createAsset(hash), 201));
    const offerContent = () => request("/api/console/known-content", "POST", { hash: offeredHash, tags: ["input"] });
    expect(await (await offerContent()).json()).toMatchObject({ asset: { name: "a.png" } });
    hash = returnedHash;
    expect(await (await offerContent()).json()).toEqual({ asset: null, isUnclear: true });
  },
);

test("keeps capabilities after a short outage with 404 responses", async () => {
  let isUnavailable = false;
  const jobs = { jobs: [], pagination: { offset: 0, limit: 1, total: 0, has_more: false } };
  const send = await connect((request: ReceivedRequest, response) => {
    if (isUnavailable) sendJsonResponse(response, {}, 404);
    else if (request.url.startsWith("/api/jobs")) sendJsonResponse(response, jobs);
    else sendJsonResponse(response, { tags: [], total: 0, has_more: false });
  });
  isUnavailable = true;
  expect((await send("/api/tags")).status).not.toBe(200);
  await send("/api/jobs");
  isUnavailable = false;
  await send("/api/jobs");
  expect((await send("/api/tags")).status).toBe(200);
});
