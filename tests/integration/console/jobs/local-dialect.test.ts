// A local server behind the console: detected when saved, and then used like any other connection.
import sharp from "sharp";
import { beforeEach, expect, test } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getJob } from "@/lib/server/queries/jobs";
import { createConnectionClient } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { createLocalFiles } from "@/tests/support/local-files";
import { openTestServer, startLocalServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness();
const local = await startLocalServer();
const saveResponse = await call("POST", "/api/console/connections", { name: "Workshop", baseUrl: local.url, shared: true });
expect(saveResponse).toMatchObject({
  status: 201,
  body: { check: { outcome: "active", dialect: "local" }, connection: { hasKey: false } },
});
const { send } = createConnectionClient(harness, saveResponse.body.connection.id, "owner");

async function call(method: string, path: string, json?: unknown) {
  const response = await harness.request(path, { as: "owner", method, json });
  return { status: response.status, body: await response.json() };
}
async function connect(baseUrl: string, key?: string) {
  const { body } = await call("POST", "/api/console/connections", { name: "Other", baseUrl, shared: true, key });
  return { saved: body.connection, ...createConnectionClient(harness, body.connection.id, "owner") };
}
const readResponse = async (response: Response) => ({ status: response.status, body: await response.json() });
const get = async (path: string) => readResponse(await send(path));
const post = async (path: string, json: unknown) => readResponse(await send(path, { method: "POST", json }));

beforeEach(() => {
  local.state.running = [];
  local.state.pending = [];
  local.state.history.clear();
});
const endJobs = (count: number) => {
  for (let ended = 0; ended < count; ended += 1) {
    local.startJob();
    local.endJob();
  }
};

test("runs a workflow without key or Origin and lists it in the API's format", async () => {
  const prompt = { "1": { class_type: "SaveImage", inputs: {} } };
  const { status, body } = await post("/api/prompt", { prompt, extra_data: {} });
  expect(status).toBe(200);
  for (const sort of ["create_time", "execution_time"]) {
    const jobs = await get(`/api/jobs?sort_by=${sort}&status=pending&limit=10`);
    expect(jobs).toMatchObject({ status: 200, body: { jobs: [{ id: body.prompt_id, status: "pending" }], pagination: { total: 1 } } });
  }
  expect(local.requests.every(({ headers }) => headers.origin === undefined && headers["x-api-key"] === undefined)).toBe(true);
});

test("returns an earlier job with its outputs and owner on resubmission", async () => {
  const prompt = { "9": { class_type: "SaveImage", inputs: { filename_prefix: "cached", seed: 12345678901234567890n } } };
  const picture = { filename: "cached_00001_.png", subfolder: "", type: "output" };
  const options = { method: "POST", body: writeExactJson({ prompt }), headers: { "content-type": "application/json" } };
  const runJob = async () => {
    const { prompt_id }: { prompt_id: string } = await (await send("/api/prompt", options)).json();
    local.startJob();
    local.endJob({ "9": { images: [picture] } });
    return (await get(`/api/jobs/${prompt_id}`)).body;
  };
  expect((await runJob()).outputs).toEqual({ "9": { images: [picture] } });
  expect((await runJob()).outputs).toEqual({ "9": { images: [picture] } });
  const [, secondRequest] = local.requests.filter(({ url, method }) => method === "POST" && url === "/api/prompt").slice(-2);
  expect(secondRequest?.body.toString()).toContain("12345678901234567890");
});

test("refuses a filter that a local server would ignore", async () => {
  const { status, body } = await get("/api/jobs?output_type=video");
  expect([status, body.code]).toEqual([501, "NOT_IMPLEMENTED"]);
  expect(body.message).toContain("kind of output");
});

test("derives a job's short status from its details", async () => {
  const id = local.submit();
  expect((await get(`/api/job/${id}/status`)).body).toMatchObject({ id, status: "pending" });
  const job = await getJob(harness.getContext("owner"), id, saveResponse.body.connection.id);
  expect(job).toMatchObject({ ok: true, value: { detail: { id, status: "pending" } } });
  expect(job.ok && job.value).not.toHaveProperty("status");
  endJobs(1);
  const { body } = await get(`/api/job/${id}/status`);
  expect(body).toMatchObject({ status: "completed" });
  expect(Date.parse(body.updated_at) - Date.parse(body.created_at)).toBeGreaterThan(0);
  expect((await get("/api/job/none/status")).status).toBe(404);
});

test("returns the queue in execution order as the API's tuples", async () => {
  const [first, second] = [local.submit(), local.submit()];
  local.state.pending.reverse();
  const { body } = await get("/api/queue");
  expect(body.queue_pending.map((item: unknown[]) => [item[0], item[1], item[3]])).toEqual([
    [1, first, ["1"]],
    [2, second, ["1"]],
  ]);
  expect(body.queue_pending[0][4].create_time).toBeGreaterThan(1e12);
});

test("reports only jobs that left the queue as cancelled", async () => {
  const [startedId, waiting, otherId] = [local.submit(), local.submit(), local.submit()];
  local.beforeChange(() => endJobs(1));
  expect((await post("/api/queue", { delete: [startedId, waiting, "unknown"] })).body).toMatchObject({
    deleted: [waiting],
    cleared: false,
  });
  expect((await post("/api/queue", { clear: true })).body).toMatchObject({ deleted: [otherId], cleared: true });
});

test("cancels by job path, keeps ended jobs and reports unknown ids as missing", async () => {
  const [running = "", waiting = "", startedId = "", otherId = ""] = [local.submit(), local.submit(), local.submit(), local.submit()];
  local.startJob();
  const cancel = (id: string) => post(`/api/job/${id}/cancel`, {});
  expect(await cancel(waiting)).toEqual({ status: 200, body: { cancelled: true } });
  expect([...local.state.running, ...local.state.pending].map(([, id]) => id)).toEqual([running, startedId, otherId]);
  expect(await cancel(running)).toEqual({ status: 200, body: { cancelled: true } });
  expect((await get(`/api/jobs/${running}`)).body.status).toBe("cancelled");
  expect(await cancel(running)).toEqual({ status: 200, body: { cancelled: false } });
  // A job that starts just before its removal from the queue is stopped. The job behind it is not.
  local.beforeChange(() => local.startJob());
  expect(await cancel(startedId)).toEqual({ status: 200, body: { cancelled: true } });
  expect((await get(`/api/jobs/${startedId}`)).body.status).toBe("cancelled");
  expect(local.state.pending.map(([, id]) => id)).toEqual([otherId]);
  expect(await cancel(waiting)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
});

test("lists and cancels jobs whose graphs exceed the response limit", async () => {
  const graph = { "1": { class_type: "SaveImage", inputs: { text: "x".repeat(100_000) } }, "2": { class_type: "Other", inputs: {} } };
  const ids = Array.from({ length: 100 }, () => local.submit());
  for (const item of local.state.pending) item[2] = graph;
  local.startJob();
  const { body } = await get("/api/queue");
  expect(body.queue_pending.map((item: unknown[]) => item[1])).toEqual(ids.slice(1));
  expect(Object.keys(body.queue_running[0][2])).toEqual(["1", "2"]);
  expect(await get(`/api/jobs/${ids[1]}`)).toMatchObject({ status: 200, body: { id: ids[1], status: "pending" } });
  expect(await post("/api/queue", { delete: [ids[1]] })).toMatchObject({ status: 200, body: { deleted: [ids[1]] } });
  expect(await post(`/api/job/${ids[2]}/cancel`, {})).toEqual({ status: 200, body: { cancelled: true } });
  expect(await post(`/api/job/${ids[0]}/cancel`, {})).toEqual({ status: 200, body: { cancelled: true } });
  expect(local.state.pending.map((item) => item[1])).toEqual(ids.slice(3));
});

test("frees memory and interrupts with and without a body", async () => {
  const getStatus = async (path: string, json?: object) => (await send(path, { method: "POST", json })).status;
  expect([await getStatus("/api/free"), await getStatus("/api/free", { unload_models: true })]).toEqual([200, 200]);
  expect(local.requests.filter(({ url }) => url === "/api/free").map(({ body }) => body.toString())).toEqual([
    "{}",
    '{"unload_models":true}',
  ]);
  const [first = "", second = ""] = [local.submit(), local.submit()];
  local.startJob();
  expect(await getStatus("/api/interrupt", { prompt_id: second })).toBe(200);
  expect(local.state.running).toHaveLength(1);
  expect(await getStatus("/api/interrupt")).toBe(200);
  expect([...local.state.history.keys()]).toEqual([first]);
});

test("reads and deletes entries in the older history format", async () => {
  const ids = [local.submit(), local.submit(), local.submit()];
  endJobs(ids.length);
  const listKeys = async (path: string) => Object.keys((await get(path)).body);
  expect(await listKeys("/api/history")).toEqual(ids);
  expect(await listKeys("/api/history?max_items=2")).toEqual(ids.slice(1));
  const { body } = await get(`/api/history/${ids[0]}`);
  expect(body).toMatchObject({ [ids[0] ?? ""]: { prompt: [expect.any(Number), ids[0], expect.anything(), {}, ["1"]] } });
  await post("/api/history", { delete: [ids[0]] });
  expect(await get(`/api/history/${ids[0]}`)).toEqual({ status: 200, body: {} });
  await post("/api/history", { clear: true });
  expect(await listKeys("/api/history")).toEqual([]);
});

test("pages the history newest first without the editor's graph", async () => {
  const ids = Array.from({ length: 5 }, () => local.submit());
  for (const [, , , extra] of local.state.pending) extra.extra_pnginfo = { workflow: { id: "w", nodes: [] } };
  endJobs(ids.length);
  const readPage = async (offset: number, count: number) => (await get(`/api/history_v2?max_items=${count}&offset=${offset}`)).body.history;
  const getIds = (entries: { prompt_id: string }[]) => entries.map(({ prompt_id }) => prompt_id);
  const newest = [...ids].reverse();
  expect(getIds(await readPage(0, 2))).toEqual(newest.slice(0, 2));
  expect(getIds(await readPage(2, 2))).toEqual(newest.slice(2, 4));
  expect(getIds(await readPage(4, 2))).toEqual(newest.slice(4));
  expect(await readPage(5, 2)).toEqual([]);
  const [entry] = await readPage(0, 1);
  expect(entry).toMatchObject({ workflow_id: "w", prompt: { prompt_id: newest[0] } });
  expect(JSON.stringify(entry)).not.toContain("nodes");
});

test("lists files, and a missing folder as empty", async () => {
  expect((await get("/api/userdata?dir=workflows/")).body).toMatchObject([{ path: "a.json", size: 2 }]);
  expect((await get("/api/userdata?dir=other/")).body).toEqual([]);
  expect((await get("/api/userdata?dir=/&recurse=true")).body).toMatchObject([{ path: "workflows/a.json" }]);
});

test("reports downloads as unsupported, not as an outage", async () => {
  const server = await openTestServer(({ url }, response) => {
    if (url === "/api/system_stats") return sendJsonResponse(response, { system: {}, devices: [] });
    if (url.startsWith("/api/assets?")) return sendJsonResponse(response, { assets: [], total: 0, has_more: false });
    response.writeHead(404).end("404: Not Found");
  });
  const other = await connect(server.url);
  expect(other.saved).toMatchObject({ dialect: "local", hasAssets: true });
  const response = await other.post("/api/assets/download", { source_url: "https://huggingface.co/a" });
  expect([response.status, (await response.json()).code]).toEqual([501, "NOT_IMPLEMENTED"]);
});

test("doesn't treat a multi-user service as a local server", async () => {
  const service = await openTestServer(({ url }, response) =>
    sendJsonResponse(response, url === "/api/user" ? { status: "active" } : { system: {}, devices: [] }),
  );
  expect((await connect(service.url, "k")).saved).toMatchObject({ dialect: "interface", hasKey: true });
});

test("reports a queue in an unknown format as unreadable", async () => {
  let isLocal = true;
  const service = await openTestServer(({ url }, response) => {
    if (url === "/api/user") return void response.writeHead(404).end();
    sendJsonResponse(response, isLocal ? { system: {}, devices: [] } : { queue: [] });
  });
  const other = await connect(service.url);
  isLocal = false;
  expect(await readResponse(await other.send("/api/queue"))).toMatchObject({ status: 502, body: { code: "UPSTREAM_UNREADABLE" } });
});

test("returns a rejected filter as an error, even with a very long code", async () => {
  let refusalCode = "UNSUPPORTED_PARAM";
  const server = await openTestServer(({ url }, response) => {
    if (url === "/api/system_stats") return sendJsonResponse(response, { system: {}, devices: [] });
    if (url === "/api/user") return void response.writeHead(404).end();
    sendJsonResponse(response, { error: { code: refusalCode, message: "no" } }, 400);
  });
  const other = await connect(server.url);
  const requestFiltered = async () => readResponse(await other.send(`/api/assets?metadata_filter=${encodeURIComponent('{"a":1}')}`));
  const message = "A local server does not filter assets by metadata.";
  expect(await requestFiltered()).toMatchObject({ status: 400, body: { code: "INVALID_QUERY", message } });
  refusalCode = "INVALID_FILTER";
  expect(await requestFiltered()).toMatchObject({ status: 400, body: { code: "INVALID_FILTER", message: "no" } });
  refusalCode = "x".repeat(1_000_000);
  expect((await requestFiltered()).status).toBe(400);
});

test("locates an asset's file in its folder and reads times as UTC", async () => {
  const files = createLocalFiles();
  const server = await startLocalServer(files);
  const client = await connect(server.url);
  expect(client.saved).toMatchObject({ hasAssets: true });
  files.writeOutput("output/video/film_00001_.mp4", Buffer.from("film"), "video/mp4");
  files.writeOutput(
    "temp/passing_00001_.png",
    await sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } })
      .png()
      .toBuffer(),
    "image/png",
  );
  const { assets } = await client.getJson("/api/assets");
  expect(assets).toMatchObject([
    { name: "passing_00001_.png", file: { filename: "passing_00001_.png", subfolder: "", type: "temp" } },
    {
      name: "film_00001_.mp4",
      file: { filename: "film_00001_.mp4", subfolder: "video", type: "output" },
      created_at: "2026-01-01T00:00:00.123456Z",
    },
  ]);
  const video = await client.send(`/api/assets/${assets[1].id}/content`);
  expect(await video.text()).toBe("film");
  // A temporary picture has no URL of its own, but still gets a thumbnail.
  const thumbnail = await client.send(`/api/console/thumbnail?asset=${assets[0].id}&edge=128`);
  expect([thumbnail.status, thumbnail.headers.get("content-type")]).toEqual([200, "image/webp"]);
});
