// Job progress from the WebSocket of a service whose list has no progress.
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createRunKey } from "@/lib/server/job-index/run-times";
import { createHarness } from "@/tests/support/harness";
import { startLocalServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const graph = Object.fromEntries(["1", "2", "3", "4"].map((id) => [id, { class_type: "KSampler", inputs: {} }]));
const job = { id: "job-1", status: "in_progress", create_time: 1_767_225_600_000 };
const pagination = { offset: 0, limit: 100, total: 1, has_more: false };
const sockets: { socket: WebSocket; clientId: string | null }[] = [];
/** A job submitted directly to the service. */
const directJob = { id: "job-9", status: "in_progress", create_time: 1_767_225_600_000 };
const waitingJobs = ["w-1", "w-2"].map((id) => ({ ...directJob, id, status: "pending" }));
let listedJobs: object[] = [job];

const harness = await createHarness();
const http = createServer((request, response) => {
  request.resume();
  if (request.url === "/api/prompt") return sendJsonResponse(response, { prompt_id: job.id, number: 1, node_errors: {} });
  if (request.url?.startsWith("/api/jobs/")) return sendJsonResponse(response, { ...job, workflow: { prompt: graph } });
  if (request.url === "/api/queue")
    return sendJsonResponse(response, {
      queue_running: [[0, directJob.id, graph, {}, []]],
      queue_pending: waitingJobs.map(({ id }, index) => [index + 1, id, graph, {}, []]),
    });
  sendJsonResponse(response, { jobs: listedJobs, pagination });
});
new WebSocketServer({ server: http, path: "/ws" }).on("connection", (socket, { url = "" }) =>
  sockets.push({ socket, clientId: new URL(url, "http://x").searchParams.get("clientId") }),
);
await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
const { port } = http.address() as AddressInfo;
const connection = await harness.connect(`http://127.0.0.1:${port}`, "comfyui-0123456789abcdef0123456789abcdef");
afterAll(async () => {
  for (const { socket } of sockets) socket.terminate();
  await harness.dispose();
  await new Promise((resolve) => http.close(resolve));
});

const get = async (path: string, connectionId = connection) =>
  (await harness.request(`${path}?connection=${connectionId}`, { as: "viewer" })).json();
const sendEvent = (type: string, data: object, socketIndex = 0) =>
  sockets[socketIndex]?.socket.send(JSON.stringify({ type, data: { prompt_id: job.id, ...data } }));
const waitForProgress = async (progress: object, connectionId = connection) =>
  until("the progress is shown", async () => {
    const { jobs } = await get("/api/jobs", connectionId);
    try {
      expect(jobs[0].progress).toEqual(progress);
      return true;
    } catch {
      return false;
    }
  });

test("shows percentage, node and step in the list, the queue and the job", async () => {
  const prompt = { method: "POST", as: "operator", json: { prompt: graph } } as const;
  expect((await harness.request(`/api/prompt?connection=${connection}`, prompt)).status).toBe(200);
  await until("the console connects to the WebSocket", () => sockets.length > 0);
  expect(sockets[0]?.clientId).toBe(harness.console.clientId);
  sendEvent("execution_start", {});
  sendEvent("execution_cached", { nodes: ["1"] });
  sendEvent("progress_state", { nodes: { "2": { state: "finished" }, "3": { state: "running", value: 5, max: 20 } } });
  const progress = { start_time: expect.any(Number), value: 0.5625, nodes_total: 4, nodes_done: 2, current_node: "3", step: 5, steps: 20 };
  await waitForProgress(progress);
  expect((await get("/api/jobs/job-1")).progress).toEqual(progress);
  expect((await get("/api/console/queue")).running[0].progress).toEqual(progress);
});

test("shows progress from an older server's per-node messages", async () => {
  sendEvent("execution_start", {});
  sendEvent("executing", { node: "2" });
  sendEvent("executing", { node: "4" });
  sendEvent("progress", { node: "4", value: 7, max: 20 });
  await waitForProgress({
    start_time: expect.any(Number),
    value: 0.5875,
    nodes_total: 4,
    nodes_done: 2,
    current_node: "4",
    step: 7,
    steps: 20,
  });
});

test("samples a flood of messages and shows the next second's progress", async () => {
  const largeState = { nodes: Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`n${index}`, { state: "finished" }])) };
  for (let count = 0; count < 200; count += 1) sendEvent("progress_state", largeState);
  await until("progress is read again", async () => {
    sendEvent("progress_state", { nodes: { "2": { state: "running", value: 1, max: 2 } } });
    const { jobs } = await get("/api/jobs");
    return jobs[0].progress.current_node === "2";
  });
});

test("computes the percentage of jobs submitted elsewhere from the queue's graphs", async () => {
  listedJobs = [directJob, ...waitingJobs];
  expect((await get("/api/console/queue")).source).toBe("queue");
  expect(harness.console.runKeys.find(connection, directJob.id)).toBe(createRunKey(graph));
  sendEvent("execution_start", { prompt_id: directJob.id });
  sendEvent("progress_state", {
    prompt_id: directJob.id,
    nodes: { "1": { state: "finished" }, "2": { state: "running", value: 1, max: 1 } },
  });
  await waitForProgress({ start_time: expect.any(Number), value: 0.5, nodes_total: 4, nodes_done: 1, current_node: "2" });
});

// An older server's list is built from its queue.
test.each([
  ["an older local server", true],
  ["a local server after reading its queue once", false],
])("shows the percentage of a job submitted at %s", async (_, isOld) => {
  const upgrades = new WebSocketServer({ noServer: true });
  const index = sockets.length;
  const local = await startLocalServer(undefined, {
    isOld,
    upgrade: (request, socket, rows) =>
      upgrades.handleUpgrade(request, socket, rows, (webSocket) => sockets.push({ socket: webSocket, clientId: null })),
  });
  const form = { method: "POST", as: "owner", json: { name: local.url, baseUrl: local.url, shared: true } } as const;
  const connectionId = (await (await harness.request("/api/console/connections", form)).json()).connection.id;
  const id = local.submit();
  local.startJob();
  expect((await get("/api/jobs", connectionId)).jobs[0]).not.toHaveProperty("nodes_total");
  await until("the console connects to the WebSocket", () => sockets.length > index);
  sendEvent("execution_start", { prompt_id: id }, index);
  sendEvent("progress_state", { prompt_id: id, nodes: { "1": { state: "running", value: 1, max: 4 } } }, index);
  const progress = { start_time: expect.any(Number), value: 0.25, nodes_total: 1, nodes_done: 0, current_node: "1", step: 1, steps: 4 };
  await waitForProgress(progress, connectionId);
  await get("/api/jobs", connectionId);
  if (!isOld) expect(local.requests.filter(({ method, url }) => method === "GET" && url === "/api/queue")).toHaveLength(1);
});
