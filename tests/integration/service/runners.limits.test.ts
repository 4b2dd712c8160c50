// A runner that sends too much is set aside, its jobs move elsewhere, and nothing remains on disk.
import { readdir, rm } from "node:fs/promises";
import { type ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { findJob } from "@/lib/comfyui/client";
import { createComfyServer } from "@/lib/comfyui/http";
import { createTraffic } from "@/lib/comfyui/socket";
import { type RunEvent } from "@/lib/service/nodes/run";
import { fetchOutput } from "@/lib/service/runners/fetch-outputs";
import { listenToRunner } from "@/lib/service/runners/report-events";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerServer } from "@/tests/support/runner-server";
import { openTestServer, startRunnerServer } from "@/tests/support/servers";
import { createClient, startService, type TestService } from "@/tests/support/service";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";
import { addRunner, makes, modelGraph } from "./built-in-job";
import { asRecord, asString, type Json, submit, waitForEnd } from "./support";

const createCachedEvent = (nodes: unknown) => JSON.stringify({ type: "execution_cached", data: { nodes, prompt_id: "x" } });
const nest = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

function sendForever(response: ServerResponse): void {
  const chunk = "x".repeat(65_536);
  Readable.from((function* () { for (;;) yield chunk; })()).pipe(response); // prettier-ignore
}

describe("limits of runners", () => {
  let service: TestService;
  const servers: RunnerServer[] = [];
  afterEach(async () => {
    await service.dispose();
    for (const server of servers.splice(0)) await server.close();
  });

  async function start(settings: Parameters<typeof startService>[0] = {}) {
    service = await startService({ runnerCheckMs: 100, runnerLeaseMs: 500, runnerUnresponsiveMs: 60_000, concurrency: 1, ...settings });
    return service.client();
  }
  async function add(label: string): Promise<RunnerServer> {
    const server = await addRunner(service, label);
    servers.push(server);
    return server;
  }
  const readRunner = async (label: string) => (await service.service.runners.list()).find((runner) => runner.label === label);
  const isSetAside = { state: "set_aside", reason: { code: "over_limits", message: expect.any(String) } };

  it.each<[string, (server: RunnerServer) => void]>([
    ["a list of a million entries", (a) => a.send(createCachedEvent(Array.from({ length: 1_000_000 }, () => "1")))],
    [
      "an object of a million members",
      (a) => a.send(createCachedEvent(Object.fromEntries(Array.from({ length: 1_000_000 }, (_, id) => [id, 0])))),
    ],
    ["a text of 9 MB", (a) => a.send(createCachedEvent(["x".repeat(9 * 1024 ** 2)]))],
    ["deep nesting", (a) => a.send(`{"type":"executed","data":{"prompt_id":"x","output":${nest(10_000)}}}`)],
    ["numbers of a million digits", (a) => a.send(createCachedEvent(0).replace(":0", `:[${"9".repeat(600_000)},${"9".repeat(600_000)}]`))],
    ["a picture of 33 MB", (a) => a.send(Buffer.alloc(33 * 1024 ** 2, 1))],
    ["40,000 small messages", (a) => Array.from({ length: 40_000 }, () => a.send("{}"))],
  ])("sets aside a runner that sends %s and reruns the job elsewhere", async (_name, send) => {
    const client = await start();
    const a = await add("A");
    a.does("hold");
    const id = await submit(client, modelGraph());
    await until("the job runs on A", () => a.queue().running !== undefined);
    await add("B");
    send(a);
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 } });
    expect(await readRunner("A")).toMatchObject(isSetAside);
    await until("the job is cleared away there", () => a.queue().running === undefined);
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ["an answer without end", (response) => sendForever(response)],
    ["a million values", (response) => response.end(`[${"1,".repeat(1_000_000)}1]`)],
    ["numbers of three million digits", (response) => response.end(`{"x":[${`${"9".repeat(1000)},`.repeat(3000)}1]}`)],
    ["headers of 100 KB", (response) => response.writeHead(200, { "x-long": "x".repeat(100_000) }).end("{}")],
    ["a refusal without end", (response) => sendForever(response.writeHead(400))],
  ])("sets aside a runner whose history is %s", async (_name, respond) => {
    const client = await start();
    const a = await add("A");
    a.does("hold");
    const id = await submit(client, modelGraph());
    await until("the job runs on A", () => a.queue().running !== undefined);
    await add("B");
    a.faults.set("GET /history/*", (_request, response) => respond(response));
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 } });
    expect(await readRunner("A")).toMatchObject(isSetAside);
  });

  it("sends nothing to a set-aside runner until it is resumed", async () => {
    await start();
    const a = await add("A");
    let requestCount = 0;
    a.faults.set("GET /system_stats", (_request, response) => ((requestCount += 1), response.end(`[${"1,".repeat(200_000)}1]`)));
    await until("it is set aside", async () => (await readRunner("A"))?.state === "set_aside");
    const requestedBefore = requestCount;
    await add("B");
    await until("B was checked again", async () => ((await readRunner("B"))?.lastSeenMs ?? 0) > Date.now() - 50);
    expect(requestCount).toBe(requestedBefore);
    a.faults.clear();
    expect(await service.service.runners.change((await readRunner("A"))?.id ?? "", { state: "ready" })).toMatchObject({
      value: { state: "checking", reason: null },
    });
    await until("it is ready", async () => (await readRunner("A"))?.state === "ready");
  });

  it.each<[string, Parameters<typeof startService>[0], string, RegExp]>([
    ["the user's quota", { userQuotaBytes: 300_000 }, "StorageQuotaExceeded", /storage of 300000 bytes/],
    [
      "the limit of a file",
      { maxUploadBytes: 300_000 },
      "OutputTooLarge",
      /A sent a file that is too large, house_00001_.png: at most 300000/,
    ],
  ])("fails a job whose file never ends, at %s, and removes the file", async (_name, settings, exception_type, message) => {
    const client = await start(settings);
    const a = await add("A");
    a.faults.set("GET /view", (_request, response) => sendForever(response));
    const job = await waitForEnd(client, await submit(client, modelGraph()));
    expect(job).toMatchObject({ status: "failed", outputs_count: 0, execution_error: { exception_type } });
    expect(asRecord(job.execution_error).exception_message).toMatch(message);
    expect(await readRunner("A")).toMatchObject({ state: "ready" });
    const work = join(service.folder, "work");
    await until("its folder is empty", async () => {
      const folders = await readdir(work);
      return (await Promise.all(folders.map((folder) => readdir(join(work, folder)).catch(() => [])))).every(({ length }) => length === 0);
    });
  });

  it("cuts long error texts of a runner", async () => {
    const client = await start();
    const a = await add("A");
    const long = "x".repeat(3_000_000);
    a.faults.set("GET /history/*", (request, response) => {
      const id = (request.url ?? "").split("/").at(-1) ?? "";
      const facts = { node_id: "2", node_type: long, exception_message: long, exception_type: long, traceback: [long, "last"] };
      const status = { status_str: "error", messages: [["execution_error", { ...facts, current_inputs: { text: [long] } }]] };
      response.end(JSON.stringify({ [id]: { outputs: {}, status } }));
    });
    const job = await waitForEnd(client, await submit(client, modelGraph()));
    expect(JSON.stringify(job.execution_error).length).toBeLessThan(100_000);
    expect(asString(asRecord(job.execution_error).exception_message)).toHaveLength(10_001);
    expect(asRecord(job.execution_error).traceback).toContain("last");
  });
});

it("reports a cached node once, however often a runner names it", async () => {
  const server = await startRunnerServer({ objectInfo: {} });
  const events: RunEvent[] = [];
  const recordEvent = (event: RunEvent) => events.push(event);
  const nothing = () => undefined;
  const listening = listenToRunner(
    { address: server.address, clientId: "c", traffic: createTraffic() },
    { promptId: "x", graph: { "1": { class_type: "A", inputs: {} }, "2": { class_type: "A", inputs: {} } }, nodesTotal: 2 },
    { reported: nothing, executed: nothing, ended: nothing, exceeded: nothing, on: recordEvent },
  );
  await listening.ready;
  server.send(createCachedEvent(Array.from({ length: 40_000 }, () => "1")));
  server.send(createCachedEvent(["1", "1", "stranger"]));
  server.send(createCachedEvent(["1", "2"]));
  await until("both nodes are reported", () => listening.timesOf("2"));
  expect(
    events
      .filter(({ kind }) => kind !== "begun")
      .map((event) => [event.kind, "nodeIds" in event ? event.nodeIds : "nodeId" in event && event.nodeId]),
  ).toEqual([
    ["cached", ["1"]],
    ["node", "1"],
    ["cached", ["2"]],
    ["node", "2"],
  ]);
  listening.stop();
  await server.close();
});

it("gives up on a slow file", async () => {
  const server = await openTestServer((_request, response) => void response.write("x"));
  let now = 0;
  const folder = temporaryFolder();
  const options = { folder, maxBytes: 1e6, now: () => (now += 70_000) };
  const file = { filename: "slow.png", subfolder: "", type: "output" };
  expect(await fetchOutput(createComfyServer(server.url), file, options)).toMatchObject({ ok: false, failure: { code: "timeout" } });
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
  await server.close();
});

it("allows a burst of messages and bytes, and after that so many per second", () => {
  let now = 0;
  const traffic = createTraffic(() => now);
  for (let count = 0; count < 10_000; count += 1) expect(traffic.add(100)).toBeUndefined();
  expect(traffic.add(100)).toBe("more than 1000 messages per second");
  now += 2000;
  for (let count = 0; count < 1999; count += 1) expect(traffic.add(100)).toBeUndefined();
  now += 60_000;
  expect(traffic.add(120 * 1024 ** 2)).toBeUndefined();
  expect(traffic.add(10 * 1024 ** 2)).toBe("more than 16 MB per second");
});

const inherited = ["constructor", "toString", "hasOwnProperty", "valueOf"];

/** The graph of one picture, with nodes that are called like members of every object. */
function createGraph(ids: readonly string[]): Json {
  const { "3": save, ...others } = modelGraph();
  return { ...others, ...Object.fromEntries(ids.map((id) => [id, save])) };
}

describe("node ids from a runner", () => {
  let testService: TestService | undefined;
  let server: RunnerServer | undefined;

  async function start() {
    testService = await startService({ runnerCheckMs: 100, runnerLeaseMs: 700, runnerUnresponsiveMs: 60_000, concurrency: 1 });
    server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]), makeOutput: makes });
    const outcome = await testService.service.runners.add({ address: server.address, label: "GPU" });
    if (!outcome.ok) throw new Error(outcome.failure.message);
    const { service } = testService;
    const { key } = await service.keys.createKey("ada");
    return { server, client: createClient((request) => service.fetch(request), key) };
  }

  /** `outputs` is JSON text: an object literal cannot have an own `__proto__`. */
  function answersHistory(runner: RunnerServer, outputs: string, status = '{"status_str":"success","completed":true,"messages":[]}'): void {
    const meta = '{"99":{"node_id":"99","display_node":"98"},"prototype":{"display_node":"__proto__"}}';
    runner.faults.set("GET /history/*", (request, response) => {
      const id = request.url?.split("/").at(-1) ?? "";
      const isOver = runner.seen.ran.includes(id) && runner.queue().running !== id;
      const text = isOver ? `{"${id}":{"prompt":[],"outputs":${outputs},"meta":${meta},"status":${status}}}` : "{}";
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    });
  }

  it("drops outputs of nodes that the graph lacks, and pollutes no prototype", async () => {
    const before = Reflect.ownKeys(Object.prototype);
    const { server: runner, client } = await start();
    const attack = '{"operations":["x"],"prototype":[{"whileReadOnly":true}],"__proto__":["y"]}';
    const names = ["__proto__", "constructor", "prototype", "99"].map((name) => `"${name}":${attack}`);
    answersHistory(runner, `{${names.join(",")},"3":{"__proto__":["a"],"constructor":["b"],"toString":["c"],"text":["d"]}}`);
    const job = await waitForEnd(client, await submit(client, modelGraph()));
    expect(job.status).toBe("completed");
    const { outputs } = job;
    expect(Object.keys(asRecord(outputs))).toEqual(["3"]);
    expect(Object.entries(asRecord(asRecord(outputs)["3"]))).toEqual(
      expect.arrayContaining([
        ["constructor", ["b"]],
        ["toString", ["c"]],
        ["text", ["d"]],
      ]),
    );
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
    expect(Reflect.get({}, "operations")).toBeUndefined();
    expect(Object.hasOwn(Object, "operations")).toBe(false);
  });

  it("stores files, texts and progress of nodes with prototype names", async () => {
    const { server: runner, client } = await start();
    runner.does("hold the last");
    const id = await submit(client, createGraph(inherited));
    await until("the last node runs", async () => {
      const { progress } = asRecord((await client.get(`/api/jobs/${id}`)).body);
      return progress !== undefined && asRecord(progress).current_node === inherited.at(-1);
    });
    runner.release();
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", outputs_count: inherited.length });
    expect(Object.keys(asRecord(job.outputs))).toEqual(inherited);
    expect(Object.keys(asRecord(job.execution_meta))).toEqual(expect.arrayContaining(inherited));
  });

  it("names no node that the graph lacks when a runner reports an error", async () => {
    const { server: runner, client } = await start();
    runner.faults.set("POST /prompt", (_request, response) => {
      const errors = '{"errors":[{"type":"t","message":"m","details":"","extra_info":{}}],"dependent_outputs":[],"class_type":"X"}';
      const body = `{"error":{"type":"prompt_outputs_failed_validation","message":"no","details":"","extra_info":{}},"node_errors":{"__proto__":${errors},"constructor":${errors},"3":${errors}}}`;
      response.writeHead(400, { "content-type": "application/json" }).end(body);
    });
    const job = await waitForEnd(client, await submit(client, modelGraph()));
    expect(job.status).toBe("failed");
    expect(JSON.stringify(job.execution_error)).not.toMatch(/__proto__|constructor/);
    expect(JSON.stringify(job.execution_error)).toContain('\\"3\\"');
  });
});

describe("a job's id at a runner", () => {
  async function lookFor(promptId: string) {
    const empty = { queue_running: [], queue_pending: [] };
    const runner = await openTestServer(({ url }, response) => sendJsonResponse(response, url === "/queue" ? empty : {}));
    const jobLocation = await findJob(createComfyServer(runner.url), { promptId, clientId: "ours" });
    await runner.close();
    return { found: jobLocation, urls: runner.requests.map(({ url }) => url) };
  }

  it.each(["../queue", "..", ".", "", "a/b", "a\\b", "a%2Fb", "a?clear=1", "a#b", "a\nb", "\ud800"])(
    "is never part of an address when it is %j",
    async (promptId) => {
      expect(await lookFor(promptId)).toEqual({ found: { kind: "missing" }, urls: ["/queue", "/history?max_items=200"] });
    },
  );

  it("is never part of an address when it is too long", async () => {
    expect((await lookFor("x".repeat(201))).urls).toEqual(["/queue", "/history?max_items=200"]);
  });

  it.each(["__proto__", "constructor"])("finds no inherited member when it is %s", async (promptId) => {
    expect((await lookFor(promptId)).found).toEqual({ kind: "missing" });
  });
});
