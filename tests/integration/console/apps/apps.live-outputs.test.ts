// Live outputs of app runs, on the built-in service and on a service that reports them over a WebSocket.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { type AppRun } from "@/lib/contract/apps/app";
import { type LiveResponse } from "@/lib/contract/live";
import { until } from "@/tests/support/until";
import { createAppHarness, definition } from "./app-harness";

const apps = await createAppHarness();

const createSaveNode = (from: string) => ({ class_type: "SaveImage", inputs: { images: [from, 0], filename_prefix: "x" } });
/** The first output in the list finishes last. */
const outputs = [
  { node: "5", label: "Late" },
  { node: "3", label: "Early" },
];
const binding = { node: "3", input: "filename_prefix" };
const prefixInput = { name: "prefix", ...binding, label: "Name", control: { kind: "text" as const }, default: "early" };

function createDefinition(seconds: number) {
  const graph = {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0x123456 } },
    "3": createSaveNode("1"),
    "4": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
    "5": createSaveNode("4"),
  };
  return { ...definition, inputs: [prefixInput], outputs, graph };
}
const startRun = async (app: { id: string }): Promise<AppRun> => {
  const startResponse = await apps.start(app, {});
  expect(startResponse.status).toBe(202);
  return startResponse.body.run;
};
const readRun = async (app: { id: string }, id: string, as: "runner" | "operator" = "runner") =>
  apps.requestJson(`/api/apps/${app.id}/runs/${id}`, { as });
const waitForLiveOutputs = (app: { id: string }, id: string) =>
  until("the first live output", async () => {
    const { run }: { run: AppRun } = (await readRun(app, id)).body;
    return run.results.length > 0 && run;
  });

test("shows runners the live outputs and progress of their own runs", async () => {
  const app = await apps.make({ definition: createDefinition(600) });
  const { id } = await startRun(app);
  const run = await waitForLiveOutputs(app, id);
  expect(run).toMatchObject({ state: "in_progress", step: { of: 4 }, results: [{ number: 1, label: "Early", kind: "image" }] });
  expect(JSON.stringify(run)).not.toMatch(/EmptyImage|SaveImage|"node"/);
  const path = run.results[0]?.path ?? "";
  for (const address of [path, `${path}?edge=256`]) {
    const response = await apps.harness.request(address, { as: "runner" });
    expect([response.status, response.headers.get("content-type")?.startsWith("image/")]).toEqual([200, true]);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  }
  expect((await readRun(app, id, "operator")).status).toBe(404);
  expect((await apps.requestJson(path, { as: "operator" })).status).toBe(404);
  expect((await apps.requestJson(`/api/apps/${app.id}/runs/${id}/cancel`, { as: "runner", method: "POST" })).status).toBe(200);
  expect(await apps.ended(app, id)).toMatchObject({ state: "cancelled", results: [] });
});

test("shows live outputs of an operator's running job, but not to app runners", async () => {
  const submission = { as: "operator", method: "POST", json: { prompt: createDefinition(600).graph } } as const;
  const { prompt_id: id } = (await apps.requestJson("/api/prompt?connection=embedded", submission)).body;
  const topic = encodeURIComponent(`job:${id}?connection=embedded`);
  const path = `/api/console/events?format=json&topic=${topic}`;
  const liveOutputs = await until("the first live output", async () => {
    const { events }: LiveResponse = (await apps.requestJson(path, { as: "operator" })).body;
    return events.flatMap(({ event, data }) => (event === "job.progress" ? (data.progress.outputs ?? []) : [])).at(0);
  });
  expect(liveOutputs).toEqual({ "3": { images: [expect.objectContaining({ filename: expect.stringMatching(/^[0-9a-f]{64}\.png$/) })] } });
  const { events }: LiveResponse = (await apps.requestJson(path, { as: "runner" })).body;
  expect(events).toMatchObject([{ event: "failure", data: { failure: { status: 403 } } }]);
  await apps.requestJson("/api/console/jobs/stop?connection=embedded", { as: "operator", method: "POST", json: { ids: [id] } });
});

test("keeps result URLs and the app's output order on an external service", async () => {
  const sockets: WebSocket[] = [];
  let status = "in_progress";
  const createOutput = (name: string) => ({ images: [{ filename: `${name}.png`, subfolder: "", type: "output" }] });
  const outputsByNode: Record<string, object> = { "3": createOutput("early"), "5": createOutput("late") };
  const http = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://service");
    const sendJson = (value: unknown) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    request.resume();
    if (pathname === "/api/view") response.writeHead(200, { "content-type": "image/png" }).end(searchParams.get("filename"));
    else if (request.method === "POST") sendJson({ prompt_id: "job-1", number: 1, node_errors: {} });
    else sendJson({ id: "job-1", status, create_time: 1, outputs: status === "completed" ? outputsByNode : {} });
  });
  new WebSocketServer({ server: http, path: "/ws" }).on("connection", (peer) => sockets.push(peer));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  try {
    const connection = await apps.harness.connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, "key-of-the-service");
    const app = await apps.make({ definition: createDefinition(1) }, { connection });
    const { id } = await startRun(app);
    await until("the console connects to the WebSocket", () => sockets.length > 0);
    const sendExecuted = (node: string, prompt_id = "job-1") =>
      sockets[0]?.send(JSON.stringify({ type: "executed", data: { node, display_node: node, output: outputsByNode[node], prompt_id } }));
    sendExecuted("5", "job-of-others");
    sendExecuted("3");
    const path = (await waitForLiveOutputs(app, id)).results[0]?.path ?? "";
    const readResult = async () => (await apps.harness.request(path, { as: "runner" })).text();
    expect(await readResult()).toBe("early.png");
    const nodes = { "1": { state: "finished" }, "3": { state: "finished" }, "4": { state: "running", value: 1, max: 2 } };
    sockets[0]?.send(JSON.stringify({ type: "progress_state", data: { prompt_id: "job-1", nodes } }));
    await until("the run's progress is reported", async () => (await readRun(app, id)).body.run.progress !== undefined);
    expect((await readRun(app, id)).body.run).toMatchObject({ progress: 0.625, step: { at: 3, of: 4 } });
    status = "completed";
    const { results } = await apps.ended(app, id);
    expect(results.map(({ label, number }) => [label, number])).toEqual([
      ["Late", 2],
      ["Early", 1],
    ]);
    expect(await readResult()).toBe("early.png");
    expect(sockets).toHaveLength(1);
  } finally {
    for (const socket of sockets) socket.terminate();
    http.close();
    http.closeAllConnections();
  }
});
