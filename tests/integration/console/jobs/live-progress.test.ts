// Job progress from the WebSocket of a service whose list has no progress.
import { afterAll, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createRunKey } from "@/lib/server/job-index/expected-runs";
import { connectLocalServer, createConnectionClient, createJobPage } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { openTestServer, startLocalServer } from "@/tests/support/servers";
import { sendJsonResponse, type Upgrade } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const graph = Object.fromEntries(["1", "2", "3", "4"].map((id) => [id, { class_type: "KSampler", inputs: {} }]));
const createJob = (id: string, status = "in_progress") => ({ id, status, create_time: 1_767_225_600_000 });
const job = createJob("job-1");
/** A job submitted directly to the service. */
const directJob = createJob("job-9");
const waitingJobs = ["w-1", "w-2"].map((id) => createJob(id, "pending"));
let listedJobs: object[] = [job];

const sockets: { socket: WebSocket; clientId: string | null }[] = [];
const upgrades = new WebSocketServer({ noServer: true });
const upgrade: Upgrade = (request, duplex, head) =>
  upgrades.handleUpgrade(request, duplex, head, (socket) =>
    sockets.push({ socket, clientId: new URL(request.url ?? "", "http://x").searchParams.get("clientId") }),
  );

const harness = await createHarness();
const service = await openTestServer(({ url }, response) => {
  if (url === "/api/prompt") return sendJsonResponse(response, { prompt_id: job.id, number: 1, node_errors: {} });
  if (url.startsWith("/api/jobs/")) return sendJsonResponse(response, { ...job, workflow: { prompt: graph } });
  if (url === "/api/queue")
    return sendJsonResponse(response, {
      queue_running: [[0, directJob.id, graph, {}, []]],
      queue_pending: waitingJobs.map(({ id }, index) => [index + 1, id, graph, {}, []]),
    });
  sendJsonResponse(response, createJobPage(listedJobs));
}, upgrade);
const { connection, getJson, post } = createConnectionClient(harness, await harness.connect(service.url, "a-key-of-the-service"));
afterAll(() => {
  for (const { socket } of sockets) socket.terminate();
});

const sendEvent = (type: string, data: object, socketIndex = 0) =>
  sockets[socketIndex]?.socket.send(JSON.stringify({ type, data: { prompt_id: job.id, ...data } }));
const waitForProgress = async (progress: object, readJson = getJson) =>
  until("the progress is shown", async () => {
    const { jobs } = await readJson("/api/jobs");
    try {
      expect(jobs[0].progress).toEqual(progress);
      return true;
    } catch {
      return false;
    }
  });

test("shows percentage, node and step in the list, the queue and the job", async () => {
  expect((await post("/api/prompt", { prompt: graph }, { as: "operator" })).status).toBe(200);
  await until("the console connects to the WebSocket", () => sockets.length > 0);
  expect(sockets[0]?.clientId).toBe(harness.console.clientId);
  sendEvent("execution_start", {});
  sendEvent("execution_cached", { nodes: ["1"] });
  sendEvent("progress_state", { nodes: { "2": { state: "finished" }, "3": { state: "running", value: 5, max: 20 } } });
  const progress = { start_time: expect.any(Number), value: 0.5625, nodes_total: 4, nodes_done: 2, current_node: "3", step: 5, steps: 20 };
  await waitForProgress(progress);
  expect((await getJson("/api/jobs/job-1")).progress).toEqual(progress);
  expect((await getJson("/api/console/queue")).running[0].progress).toEqual(progress);
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

test("computes the percentage of jobs submitted elsewhere from the queue's graphs", async () => {
  listedJobs = [directJob, ...waitingJobs];
  expect((await getJson("/api/console/queue")).source).toBe("queue");
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
  const index = sockets.length;
  const local = await startLocalServer(undefined, { isOld, upgrade });
  const client = await connectLocalServer(harness, local.url);
  const id = local.submit();
  local.startJob();
  expect((await client.getJson("/api/jobs")).jobs[0]).not.toHaveProperty("nodes_total");
  await until("the console connects to the WebSocket", () => sockets.length > index);
  sendEvent("execution_start", { prompt_id: id }, index);
  sendEvent("progress_state", { prompt_id: id, nodes: { "1": { state: "running", value: 1, max: 4 } } }, index);
  const progress = { start_time: expect.any(Number), value: 0.25, nodes_total: 1, nodes_done: 0, current_node: "1", step: 1, steps: 4 };
  await waitForProgress(progress, client.getJson);
  await client.getJson("/api/jobs");
  if (!isOld) expect(local.requests.filter(({ method, url }) => method === "GET" && url === "/api/queue")).toHaveLength(1);
});
