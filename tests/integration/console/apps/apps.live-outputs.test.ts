// Results of a running app run, on the built-in service and on one that reports them over a WebSocket.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { type AppRun } from "@/lib/contract/apps/app";
import { type LiveAnswer } from "@/lib/contract/live";
import { until } from "@/tests/support/until";
import { createAppWorld, definition } from "./app-world";

const world = await createAppWorld();

const save = (from: string) => ({ class_type: "SaveImage", inputs: { images: [from, 0], filename_prefix: "x" } });
/** The first listed output is finished last. */
const outputs = [
  { node: "5", label: "Late" },
  { node: "3", label: "Early" },
];
const text = { name: "prefix", node: "3", input: "filename_prefix", label: "Name", control: { kind: "text" }, default: "early" } as const;

function making(seconds: number) {
  const graph = {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0x123456 } },
    "3": save("1"),
    "4": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
    "5": save("4"),
  };
  return { ...definition, inputs: [text], outputs, graph };
}
const begin = async (app: { id: string }): Promise<AppRun> => {
  const startResponse = await world.ask(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", json: { inputs: {} } });
  expect(startResponse.status).toBe(202);
  return startResponse.body.run;
};
const readRun = async (app: { id: string }, id: string, as: "runner" | "operator" = "runner") =>
  world.ask(`/api/apps/${app.id}/runs/${id}`, { as });
const firstLiveOutputs = (app: { id: string }, id: string) =>
  until("the first live output", async () => {
    const { run }: { run: AppRun } = (await readRun(app, id)).body;
    return run.results.length > 0 && run;
  });

test("shows runners the live outputs and progress of their own runs", async () => {
  const app = await world.make({ definition: making(600) });
  const { id } = await begin(app);
  const run = await firstLiveOutputs(app, id);
  expect(run).toMatchObject({ state: "in_progress", step: { of: 4 }, results: [{ number: 1, label: "Early", kind: "image" }] });
  expect(JSON.stringify(run)).not.toMatch(/EmptyImage|SaveImage|"node"/);
  const path = run.results[0]?.path ?? "";
  for (const address of [path, `${path}?edge=256`]) {
    const bytes = await world.harness.request(address, { as: "runner" });
    expect([bytes.status, bytes.headers.get("content-type")?.startsWith("image/")]).toEqual([200, true]);
    expect((await bytes.arrayBuffer()).byteLength).toBeGreaterThan(0);
  }
  expect((await readRun(app, id, "operator")).status).toBe(404);
  expect((await world.ask(path, { as: "operator" })).status).toBe(404);
  expect((await world.ask(`/api/apps/${app.id}/runs/${id}/cancel`, { as: "runner", method: "POST" })).status).toBe(200);
  expect(await world.ended(app, id)).toMatchObject({ state: "cancelled", results: [] });
});

test("shows live outputs of an operator's running job, but not to app runners", async () => {
  const submitted = await world.ask("/api/prompt?connection=embedded", {
    as: "operator",
    method: "POST",
    json: { prompt: making(600).graph },
  });
  const topic = encodeURIComponent(`job:${submitted.body.prompt_id}?connection=embedded`);
  const path = `/api/console/events?format=json&topic=${topic}`;
  const liveOutputs = await until("the first live output", async () => {
    const { events }: LiveAnswer = (await world.ask(path, { as: "operator" })).body;
    return events.flatMap(({ event, data }) => (event === "job.progress" ? (data.progress.outputs ?? []) : [])).at(0);
  });
  expect(liveOutputs).toEqual({ "3": { images: [expect.objectContaining({ filename: expect.stringMatching(/^[0-9a-f]{64}\.png$/) })] } });
  const { events }: LiveAnswer = (await world.ask(path, { as: "runner" })).body;
  expect(events).toMatchObject([{ event: "failure", data: { failure: { status: 403 } } }]);
  await world.ask("/api/console/jobs/stop?connection=embedded", {
    as: "operator",
    method: "POST",
    json: { ids: [submitted.body.prompt_id] },
  });
});

test("keeps result addresses and the app's order on an external service", async () => {
  const sockets: WebSocket[] = [];
  let status = "in_progress";
  const file = (name: string) => ({ images: [{ filename: `${name}.png`, subfolder: "", type: "output" }] });
  const all: Record<string, object> = { "3": file("early"), "5": file("late") };
  const http = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://service");
    const json = (value: unknown) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    request.resume();
    if (pathname === "/api/view") response.writeHead(200, { "content-type": "image/png" }).end(searchParams.get("filename"));
    else if (request.method === "POST") json({ prompt_id: "job-1", number: 1, node_errors: {} });
    else json({ id: "job-1", status, create_time: 1, outputs: status === "completed" ? all : {} });
  });
  new WebSocketServer({ server: http, path: "/ws" }).on("connection", (peer) => sockets.push(peer));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  try {
    const connection = await world.harness.connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, "key-of-the-service");
    const app = await world.make({ definition: making(1) }, { connection });
    const { id } = await begin(app);
    await until("the console listens", () => sockets.length > 0);
    const sendExecuted = (node: string, prompt_id = "job-1") =>
      sockets[0]?.send(JSON.stringify({ type: "executed", data: { node, display_node: node, output: all[node], prompt_id } }));
    sendExecuted("5", "job-of-others");
    sendExecuted("3");
    const path = (await firstLiveOutputs(app, id)).results[0]?.path ?? "";
    const bytes = async () => (await world.harness.request(path, { as: "runner" })).text();
    expect(await bytes()).toBe("early.png");
    const nodes = { "1": { state: "finished" }, "3": { state: "finished" }, "4": { state: "running", value: 1, max: 2 } };
    sockets[0]?.send(JSON.stringify({ type: "progress_state", data: { prompt_id: "job-1", nodes } }));
    await until("how far it is, is told", async () => (await readRun(app, id)).body.run.progress !== undefined);
    expect((await readRun(app, id)).body.run).toMatchObject({ progress: 0.625, step: { at: 3, of: 4 } });
    status = "completed";
    const { results } = await world.ended(app, id);
    expect(results.map(({ label, number }) => [label, number])).toEqual([
      ["Late", 2],
      ["Early", 1],
    ]);
    expect(await bytes()).toBe("early.png");
    expect(sockets).toHaveLength(1);
  } finally {
    for (const socket of sockets) socket.terminate();
    http.close();
    http.closeAllConnections();
  }
});
