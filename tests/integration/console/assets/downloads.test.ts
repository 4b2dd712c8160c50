// Background downloads of a service, tracked by the console with a real store and a fake service.
import { type ServerResponse } from "node:http";
import { beforeEach, expect, test } from "vitest";
import { type DownloadTasks } from "@/lib/contract/assets/file-refs";
import { connectService, createConnectionClient } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { type ReceivedRequest, sendJsonResponse } from "@/tests/support/test-server";

const SECRET = "hf_very-secret-token";
const sourceUrl = `https://huggingface.co/org/repo/resolve/main/model.safetensors?token=${SECRET}`;
const download = { source_url: sourceUrl, tags: ["models"] };
const exactMetadata = '"user_metadata":{"seed":18446744073709551615}';

let nowMs = 1_800_000_000_000;
const harness = await createHarness({ now: () => nowMs });
let client: Awaited<ReturnType<typeof connectService>>;
let task: Record<string, unknown>;
/** Responds before the service does. Returns false if it doesn't respond. */
let respond: (request: ReceivedRequest, response: ServerResponse) => boolean;

beforeEach(async () => {
  task = { id: "task-1", status: "created" };
  respond = () => false;
  client = await connectService(harness, (request, response) => {
    if (respond(request, response)) return;
    const { method, url } = request;
    if (method === "POST" && url === "/api/assets/download")
      return sendJsonResponse(response, { task_id: task.id, status: "created" }, 202);
    if (method === "GET" && url === `/api/tasks/${String(task.id)}`) return sendJsonResponse(response, task);
    sendJsonResponse(response, { code: "NOT_FOUND", message: "nothing" }, 404);
  });
});

const startDownload = (as: "operator" | "admin" = "operator") =>
  client.send("/api/assets/download", {
    as,
    method: "POST",
    body: JSON.stringify(download).replace(/}$/, `,${exactMetadata}}`),
    headers: { "content-type": "application/json" },
  });
const changeTask = (id: string | undefined, verb: "retry" | "cancel" | "forget", as: "operator" | "viewer" = "operator") =>
  verb === "forget"
    ? harness.request(`/api/console/tasks/${id}`, { as, method: "DELETE" })
    : harness.request(`/api/console/tasks/${id}/${verb}`, { as, method: "POST" });
const filterRequests = (method: string, path: string) =>
  client.server.requests.filter((request) => request.method === method && request.url.startsWith(path));

const listTasks = (as: "operator" | "admin" | "viewer" = "operator", query = ""): Promise<DownloadTasks> =>
  client.getJson(`/api/console/tasks${query}`, { as });
const getFirstTask = async () => (await listTasks()).tasks[0];

test("lists a shared connection's download with its member and without its token", async () => {
  const startResponse = await startDownload("admin");
  expect([startResponse.status, await startResponse.json()]).toMatchObject([202, { task_id: "task-1" }]);
  const { tasks, underWay } = await listTasks("viewer");
  expect(underWay).toBe(1);
  expect(tasks).toMatchObject([
    { state: "working", word: "created", startedBy: "admin", source: "https://huggingface.co/org/repo/resolve/main/model.safetensors?…" },
  ]);
  expect(filterRequests("POST", "/api/assets/download")[0]?.body.toString()).toContain(SECRET);
  expect(JSON.stringify(tasks) + harness.getLog()).not.toContain(SECRET);
});

test("creates an asset and no task when the service already has the content", async () => {
  respond = (request, response) => {
    if (request.method !== "POST") return false;
    sendJsonResponse(response, { id: "asset-1", name: "model.safetensors", created_new: false });
    return true;
  };
  expect((await startDownload()).status).toBe(200);
  expect((await listTasks()).tasks).toEqual([]);
});

test("shows progress only when the service reports it", async () => {
  await startDownload();
  task = { ...task, status: "running" };
  expect(await getFirstTask()).toEqual(expect.not.objectContaining({ share: expect.anything() }));
  nowMs += 2_000;
  task = { ...task, bytes_downloaded: 250, bytes_total: 1000, progress: 0.25 };
  expect(await getFirstTask()).toMatchObject({ state: "working", share: 0.25, bytesDone: 250, bytesTotal: 1000, canCancel: true });
});

test("polls a task once a second for all viewers and stops when it ends", async () => {
  await startDownload();
  await Promise.all([listTasks(), listTasks("admin"), listTasks("viewer")]);
  expect(filterRequests("GET", "/api/tasks/task-1")).toHaveLength(1);
  nowMs += 1_000;
  task = { ...task, status: "completed", result: { success: true, asset_id: "asset-9", filename: "model.safetensors" } };
  expect(await getFirstTask()).toMatchObject({ state: "completed", assetId: "asset-9", fileName: "model.safetensors" });
  nowMs += 60_000;
  await listTasks();
  expect(filterRequests("GET", "/api/tasks/task-1")).toHaveLength(2);
});

test("shows a failure without the URL's query string, and a later recovery", async () => {
  await startDownload();
  task = { ...task, status: "failed", error_message: `403 from ${sourceUrl}` };
  const failedTask = await getFirstTask();
  expect(failedTask).toMatchObject({ state: "failed", canRetry: true, canCancel: false });
  expect(failedTask?.reason).toBe("403 from https://huggingface.co/org/repo/resolve/main/model.safetensors?…");
  nowMs += 15_000;
  task = { id: "task-1", status: "completed", result: { success: true, asset_id: "asset-9" } };
  expect(await getFirstTask()).toMatchObject({ state: "completed", assetId: "asset-9" });
});

test("marks tasks missing on the service as gone and tasks without a file as failed", async () => {
  await startDownload();
  respond = (request, response) => {
    if (!request.url.startsWith("/api/tasks/")) return false;
    sendJsonResponse(response, { message: "unknown" }, 404);
    return true;
  };
  expect(await getFirstTask()).toMatchObject({ state: "gone", canRetry: true });
  respond = () => false;
  task = { id: "task-2", status: "completed", result: { success: false, error: "not a model" } };
  await startDownload();
  nowMs += 1;
  expect((await listTasks()).tasks.find(({ reason }) => reason !== undefined)).toMatchObject({ state: "failed", reason: "not a model" });
});

test("shows cached downloads with the failure during an outage", async () => {
  await startDownload();
  task = { ...task, status: "running" };
  await listTasks();
  nowMs += 2_000;
  respond = (_, response) => {
    response.socket?.destroy();
    return true;
  };
  expect(await listTasks()).toMatchObject({ tasks: [{ state: "working", word: "running" }], failure: { code: "UPSTREAM_UNREACHABLE" } });
});

test("retries a failed download with the full URL stored on the server", async () => {
  await startDownload();
  task = { id: "task-1", status: "failed", error_message: "no" };
  const failed = await getFirstTask();
  task = { id: "task-2", status: "running" };
  const secondResponse = await changeTask(failed?.id, "retry");
  expect([secondResponse.status, await secondResponse.json()]).toMatchObject([200, { state: "working", id: failed?.id }]);
  const [, second] = filterRequests("POST", "/api/assets/download").map(({ body }) => body.toString());
  expect(JSON.parse(second ?? "")).toMatchObject(download);
  expect(second).toContain(exactMetadata);
  expect((await listTasks()).tasks).toHaveLength(1);
  expect((await changeTask(failed?.id, "retry")).status).toBe(409);
});

test("cancels a running download if supported, and stops offering it if not", async () => {
  await startDownload();
  task = { id: "task-1", status: "running", bytes_downloaded: 1 };
  const runningTask = await getFirstTask();
  expect(runningTask?.canCancel).toBe(true);
  expect((await changeTask(runningTask?.id, "forget")).status).toBe(409);
  expect((await changeTask(runningTask?.id, "cancel")).status).toBe(501);
  nowMs += 2_000;
  expect((await getFirstTask())?.canCancel).toBe(false);
  respond = (request, response) => {
    if (request.method !== "DELETE") return false;
    task = { id: "task-1", status: "cancelled", bytes_downloaded: 1 };
    response.writeHead(204).end();
    return true;
  };
  const cancelResponse = await changeTask(runningTask?.id, "cancel");
  expect([cancelResponse.status, await cancelResponse.json()]).toMatchObject([200, { state: "cancelled" }]);
  expect((await changeTask(runningTask?.id, "forget")).status).toBe(204);
  expect((await listTasks()).tasks).toEqual([]);
});

test("refreshes all active downloads in turn", async () => {
  for (let index = 0; index < 25; index += 1) {
    task = { id: `task-${index}`, status: "running" };
    expect((await startDownload()).status).toBe(202);
    nowMs += 1;
  }
  respond = ({ method, url }, response) => {
    if (method === "GET") sendJsonResponse(response, { id: url.split("/").at(-1), status: "running" });
    return method === "GET";
  };
  for (const requestCount of [10, 20, 25]) {
    nowMs += 2_000;
    await listTasks();
    expect(new Set(filterRequests("GET", "/api/tasks/").map(({ url }) => url)).size).toBe(requestCount);
  }
});

test("isolates downloads by connection and keeps them read-only for viewers", async () => {
  const { store, now } = harness.console;
  const fields = { name: "Own", baseUrl: client.server.url, memberId: harness.getViewer("admin").memberId, dialect: "local" as const };
  const { id: connectionId } = await store.connections.create({ ...fields, createdAt: now() });
  const { post, send } = createConnectionClient(harness, connectionId, "admin");
  expect((await post("/api/assets/download", download)).status).toBe(202);
  const [row] = await store.downloadTasks.list(connectionId);
  expect((await send("/api/console/tasks", { as: "operator" })).status).toBe(404);
  for (const verb of ["retry", "cancel", "forget"] as const) {
    // The same message as for an unknown id, so that it does not reveal whether the task exists.
    const [foreign, unknown] = await Promise.all([row?.id, "unknown"].map(async (id) => changeTask(id, verb)));
    const messages = await Promise.all([foreign, unknown].map(async (response) => (await response?.json())?.message));
    expect([verb, foreign?.status, messages[0]]).toEqual([verb, 404, messages[1]]);
    expect([verb, (await changeTask(row?.id, verb, "viewer")).status]).toEqual([verb, 403]);
  }
});

test("rejects malformed requests and connections without a key", async () => {
  expect((await client.post("/api/assets/download", {}, { as: "operator" })).status).toBe(400);
  const keyless = createConnectionClient(harness, await harness.connect(client.server.url, undefined), "operator");
  expect((await keyless.post("/api/assets/download", download)).status).toBe(409);
  expect(filterRequests("POST", "/api/assets/download")).toEqual([]);
});

// Renews the sessions, so it is last.
test("counts up to 200 downloads from the past week without calling the service", async () => {
  await startDownload();
  expect(await listTasks("operator", "?count=true")).toEqual({ tasks: [], underWay: 1 });
  expect(filterRequests("GET", "/api/tasks/")).toEqual([]);
  task = { id: "task-1", status: "completed", result: { success: true } };
  await listTasks();
  nowMs += 8 * 24 * 60 * 60_000;
  await harness.renewCookies();
  await startDownload();
  expect((await listTasks()).tasks).toHaveLength(1);
  for (let index = 0; index < 205; index += 1) await startDownload();
  expect(await listTasks("operator", "?count=true")).toMatchObject({ underWay: 200 });
});
