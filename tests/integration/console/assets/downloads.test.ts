// Background downloads of a service, tracked by the console with a real store and a fake service.
import { type ServerResponse } from "node:http";
import { beforeEach, expect, test } from "vitest";
import { type DownloadTasks } from "@/lib/contract/assets/file-refs";
import { createHarness, type Harness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse, type TestServer } from "@/tests/support/test-server";

const SECRET = "hf_very-secret-token";
const address = `https://huggingface.co/org/repo/resolve/main/model.safetensors?token=${SECRET}`;
const download = { source_url: address, tags: ["models"] };
const exact = '"user_metadata":{"seed":18446744073709551615}';

let harness: Harness;
let service: TestServer;
let connection: string;
let nowMs: number;
let task: Record<string, unknown>;
let respond: (request: ReceivedRequest, response: ServerResponse) => boolean;

beforeEach(async () => {
  nowMs = 1_800_000_000_000;
  harness = await createHarness({ now: () => nowMs });
  task = { id: "task-1", status: "created" };
  respond = () => false;
  service = await openTestServer((request, response) => {
    if (respond(request, response)) return;
    if (request.method === "POST" && request.url === "/api/assets/download") {
      return sendJsonResponse(response, { task_id: task.id, status: "created" }, 202);
    }
    if (request.method === "GET" && request.url === `/api/tasks/${String(task.id)}`) return sendJsonResponse(response, task);
    sendJsonResponse(response, { code: "NOT_FOUND", message: "nothing" }, 404);
  });
  connection = await harness.connect(service.url, "key-of-the-service");
});

const start = (as: "operator" | "admin" = "operator") =>
  harness.request(`/api/assets/download?connection=${connection}`, {
    as,
    method: "POST",
    body: JSON.stringify(download).replace(/}$/, `,${exact}}`),
    headers: { "content-type": "application/json" },
  });
const changeTask = (id: string | undefined, verb: "retry" | "cancel" | "forget", as: "operator" | "viewer" = "operator") =>
  verb === "forget"
    ? harness.request(`/api/console/tasks/${id}`, { as, method: "DELETE" })
    : harness.request(`/api/console/tasks/${id}/${verb}`, { as, method: "POST" });
const filterRequests = (method: string, path: string) =>
  service.requests.filter((request) => request.method === method && request.url.startsWith(path));

async function list(as: "operator" | "admin" | "viewer" = "operator", query = ""): Promise<DownloadTasks> {
  const response = await harness.request(`/api/console/tasks?connection=${connection}${query}`, { as });
  expect(response.status).toBe(200);
  return (await response.json()) as DownloadTasks; // the response must match the contract
}

test("lists a shared connection's download with its member and without its token", async () => {
  const startResponse = await start("admin");
  expect([startResponse.status, await startResponse.json()]).toMatchObject([202, { task_id: "task-1" }]);
  const { tasks, underWay } = await list("viewer");
  expect(underWay).toBe(1);
  expect(tasks).toMatchObject([
    { state: "working", word: "created", startedBy: "admin", source: "https://huggingface.co/org/repo/resolve/main/model.safetensors?…" },
  ]);
  expect(filterRequests("POST", "/api/assets/download")[0]?.body.toString()).toContain(SECRET);
  expect(JSON.stringify(tasks) + harness.log()).not.toContain(SECRET);
});

test("creates an asset immediately and no task for known content", async () => {
  respond = (request, response) => {
    if (request.method !== "POST") return false;
    sendJsonResponse(response, { id: "asset-1", name: "model.safetensors", created_new: false });
    return true;
  };
  expect((await start()).status).toBe(200);
  expect((await list()).tasks).toEqual([]);
});

test("shows progress only when the service reports it", async () => {
  await start();
  task = { ...task, status: "running" };
  expect((await list()).tasks[0]).toEqual(expect.not.objectContaining({ share: expect.anything() }));
  nowMs += 2_000;
  task = { ...task, bytes_downloaded: 250, bytes_total: 1000, progress: 0.25 };
  expect((await list()).tasks[0]).toMatchObject({ state: "working", share: 0.25, bytesDone: 250, bytesTotal: 1000, canCancel: true });
});

test("polls a task once a second for all viewers and stops when it ends", async () => {
  await start();
  await Promise.all([list(), list("admin"), list("viewer")]);
  expect(filterRequests("GET", "/api/tasks/task-1")).toHaveLength(1);
  nowMs += 1_000;
  task = { ...task, status: "completed", result: { success: true, asset_id: "asset-9", filename: "model.safetensors" } };
  expect((await list()).tasks[0]).toMatchObject({ state: "completed", assetId: "asset-9", fileName: "model.safetensors" });
  nowMs += 60_000;
  await list();
  expect(filterRequests("GET", "/api/tasks/task-1")).toHaveLength(2);
});

test("shows a failure without the query string and lets it recover", async () => {
  await start();
  task = { ...task, status: "failed", error_message: `403 from ${address}` };
  const [failed] = (await list()).tasks;
  expect(failed).toMatchObject({ state: "failed", canRetry: true, canCancel: false });
  expect(failed?.reason).toBe("403 from https://huggingface.co/org/repo/resolve/main/model.safetensors?…");
  nowMs += 15_000;
  task = { id: "task-1", status: "completed", result: { success: true, asset_id: "asset-9" } };
  expect((await list()).tasks[0]).toMatchObject({ state: "completed", assetId: "asset-9" });
});

test("shows forgotten tasks as removed and fileless ones as failed", async () => {
  await start();
  respond = (request, response) => {
    if (!request.url.startsWith("/api/tasks/")) return false;
    sendJsonResponse(response, { message: "unknown" }, 404);
    return true;
  };
  expect((await list()).tasks[0]).toMatchObject({ state: "gone", canRetry: true });
  respond = () => false;
  task = { id: "task-2", status: "completed", result: { success: false, error: "not a model" } };
  await start();
  nowMs += 1;
  expect((await list()).tasks.find(({ reason }) => reason !== undefined)).toMatchObject({ state: "failed", reason: "not a model" });
});

test("shows cached downloads with the failure during an outage", async () => {
  await start();
  task = { ...task, status: "running" };
  await list();
  nowMs += 2_000;
  respond = (_, response) => {
    response.socket?.destroy();
    return true;
  };
  expect(await list()).toMatchObject({ tasks: [{ state: "working", word: "running" }], failure: { code: "UPSTREAM_UNREACHABLE" } });
});

test("retries a failed download with the full address stored on the server", async () => {
  await start();
  task = { id: "task-1", status: "failed", error_message: "no" };
  const [failed] = (await list()).tasks;
  task = { id: "task-2", status: "running" };
  const secondResponse = await changeTask(failed?.id, "retry");
  expect([secondResponse.status, await secondResponse.json()]).toMatchObject([200, { state: "working", id: failed?.id }]);
  const [, second] = filterRequests("POST", "/api/assets/download").map(({ body }) => body.toString());
  expect(JSON.parse(second ?? "")).toMatchObject(download);
  expect(second).toContain(exact);
  expect((await list()).tasks).toHaveLength(1);
  expect((await changeTask(failed?.id, "retry")).status).toBe(409);
});

test("cancels a running download if supported, and stops offering it if not", async () => {
  await start();
  task = { id: "task-1", status: "running", bytes_downloaded: 1 };
  const [running] = (await list()).tasks;
  expect(running?.canCancel).toBe(true);
  expect((await changeTask(running?.id, "forget")).status).toBe(409);
  expect((await changeTask(running?.id, "cancel")).status).toBe(501);
  nowMs += 2_000;
  expect((await list()).tasks[0]?.canCancel).toBe(false);
  respond = (request, response) => {
    if (request.method !== "DELETE") return false;
    task = { id: "task-1", status: "cancelled", bytes_downloaded: 1 };
    response.writeHead(204).end();
    return true;
  };
  const ended = await changeTask(running?.id, "cancel");
  expect([ended.status, await ended.json()]).toMatchObject([200, { state: "cancelled" }]);
  expect((await changeTask(running?.id, "forget")).status).toBe(204);
  expect((await list()).tasks).toEqual([]);
});

test("isolates downloads by connection and keeps them read-only for viewers", async () => {
  const { store, now } = harness.console;
  const ownConnection = await store.connections.create({
    name: "Own",
    baseUrl: service.url,
    memberId: harness.viewerOf("admin").memberId,
    dialect: "local",
    createdAt: now(),
  });
  const startResponse = await harness.request(`/api/assets/download?connection=${ownConnection.id}`, {
    as: "admin",
    method: "POST",
    json: download,
  });
  expect(startResponse.status).toBe(202);
  const [row] = await store.downloadTasks.list(ownConnection.id);
  expect((await harness.request(`/api/console/tasks?connection=${ownConnection.id}`, { as: "operator" })).status).toBe(404);
  for (const verb of ["retry", "cancel", "forget"] as const) {
    // The same message as for an unknown id, so that it does not reveal whether the task exists.
    const [foreign, unknown] = await Promise.all([row?.id, "unknown"].map(async (id) => changeTask(id, verb)));
    const messages = await Promise.all([foreign, unknown].map(async (response) => (await response?.json())?.message));
    expect([verb, foreign?.status, messages[0]]).toEqual([verb, 404, messages[1]]);
    expect([verb, (await changeTask(row?.id, verb, "viewer")).status]).toEqual([verb, 403]);
  }
});

test("counts downloads without a request, bounded and for one week", async () => {
  await start();
  expect(await list("operator", "&count=true")).toEqual({ tasks: [], underWay: 1 });
  expect(filterRequests("GET", "/api/tasks/")).toEqual([]);
  task = { id: "task-1", status: "completed", result: { success: true } };
  await list();
  nowMs += 8 * 24 * 60 * 60_000;
  await harness.renewCookies();
  await start();
  expect((await list()).tasks).toHaveLength(1);
  for (let at = 0; at < 205; at += 1) await start();
  expect(await list("operator", "&count=true")).toMatchObject({ underWay: 200 });
});

test("treats malformed requests and connections without a key like others", async () => {
  const nonsense = await harness.request(`/api/assets/download?connection=${connection}`, { as: "operator", method: "POST", json: {} });
  expect(nonsense.status).toBe(400);
  const keyless = await harness.connect(service.url, undefined);
  const refusal = await harness.request(`/api/assets/download?connection=${keyless}`, { as: "operator", method: "POST", json: download });
  expect(refusal.status).toBe(409);
  expect(filterRequests("POST", "/api/assets/download")).toEqual([]);
});
