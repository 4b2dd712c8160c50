// A runner that sends too much is set aside, its jobs move elsewhere, and nothing remains on disk.
import { readdir } from "node:fs/promises";
import { type ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { FormData } from "undici";
import { describe, expect, it, vi } from "vitest";
import { findJob } from "@/lib/comfyui/client";
import { createComfyServer, meterJson } from "@/lib/comfyui/http";
import { createTraffic } from "@/lib/comfyui/socket";
import { type RunEvent } from "@/lib/service/nodes/run";
import { fetchOutput } from "@/lib/service/runners/fetch-outputs";
import { listenToRunner } from "@/lib/service/runners/report-events";
import { type RunnerServer } from "@/tests/support/runner-server";
import { openTestServer, startRunnerServer } from "@/tests/support/servers";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";
import { createModelGraph, startRunnerService, waitUntilRunning } from "./runner-service";
import { asRecord, asString, type Json, runGraph, submitGraph, waitForEnd } from "./support";

const createCachedEvent = (nodes: unknown) => JSON.stringify({ type: "execution_cached", data: { nodes, prompt_id: "x" } });
const createNestedJson = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

function sendForever(response: ServerResponse): void {
  const chunk = "x".repeat(65_536);
  Readable.from((function* () { for (;;) yield chunk; })()).pipe(response); // prettier-ignore
}

/** Lets A exceed a limit while it runs a job, and expects B to rerun the job. */
async function expectSetAside(exceedLimit: (a: RunnerServer) => unknown): Promise<RunnerServer> {
  const { client, addRunner, readRunner } = await startRunnerService();
  const a = await addRunner("A");
  a.setMode("hold");
  const id = await submitGraph(client, createModelGraph());
  await waitUntilRunning(a);
  await addRunner("B");
  exceedLimit(a);
  expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 } });
  const reason = { code: "over_limits", message: expect.any(String) };
  expect(await readRunner("A")).toMatchObject({ state: "set_aside", reason });
  return a;
}

describe("runner limits", () => {
  it.each<[string, (server: RunnerServer) => void]>([
    ["a list of a million entries", (a) => a.send(createCachedEvent(Array.from({ length: 1_000_000 }, () => "1")))],
    ["a 9 MB string", (a) => a.send(createCachedEvent(["x".repeat(9 * 1024 ** 2)]))],
    ["deep nesting", (a) => a.send(`{"type":"executed","data":{"prompt_id":"x","output":${createNestedJson(10_000)}}}`)],
    ["numbers of a million digits", (a) => a.send(createCachedEvent(0).replace(":0", `:[${"9".repeat(600_000)},${"9".repeat(600_000)}]`))],
    ["a 33 MB image", (a) => a.send(Buffer.alloc(33 * 1024 ** 2, 1))],
    ["40,000 small messages", (a) => Array.from({ length: 40_000 }, () => a.send("{}"))],
  ])("sets aside a runner that sends %s and reruns the job elsewhere", async (_name, send) => {
    const a = await expectSetAside(send);
    await until("the job is removed from A", () => a.queue().running === undefined);
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ["an endless response", (response) => sendForever(response)],
    ["a million values", (response) => response.end(`[${"1,".repeat(1_000_000)}1]`)],
    ["numbers of three million digits", (response) => response.end(`{"x":[${`${"9".repeat(1000)},`.repeat(3000)}1]}`)],
    ["headers of 100 KB", (response) => response.writeHead(200, { "x-long": "x".repeat(100_000) }).end("{}")],
    ["an endless error response", (response) => sendForever(response.writeHead(400))],
  ])("sets aside a runner whose history is %s", async (_name, respond) => {
    await expectSetAside((a) => a.faults.set("GET /history/*", (_request, response) => respond(response)));
  });

  it("sends nothing to a set-aside runner until it is resumed", async () => {
    const { addRunner, readRunner, changeRunner } = await startRunnerService();
    const a = await addRunner("A");
    let requestCount = 0;
    a.faults.set("GET /system_stats", (_request, response) => ((requestCount += 1), response.end(`[${"1,".repeat(200_000)}1]`)));
    await until("A is set aside", async () => (await readRunner("A"))?.state === "set_aside");
    const previousCount = requestCount;
    await addRunner("B");
    await until("B was checked again", async () => ((await readRunner("B"))?.lastSeenMs ?? 0) > Date.now() - 50);
    expect(requestCount).toBe(previousCount);
    a.faults.clear();
    expect(await changeRunner("A", "ready")).toMatchObject({ value: { state: "checking", reason: null } });
    await until("A is ready", async () => (await readRunner("A"))?.state === "ready");
  });

  it.each<[string, Parameters<typeof startRunnerService>[0], string, RegExp]>([
    ["the user's quota", { userQuotaBytes: 300_000 }, "StorageQuotaExceeded", /storage quota of 300000 bytes/],
    [
      "the file size limit",
      { maxUploadBytes: 300_000 },
      "OutputTooLarge",
      /A sent a file that is too large, house_00001_.png: at most 300000/,
    ],
  ])("fails a job with an endless file at %s and removes the file", async (_name, settings, exception_type, message) => {
    const { client, service, addRunner, readRunner } = await startRunnerService(settings);
    const a = await addRunner("A");
    a.faults.set("GET /view", (_request, response) => sendForever(response));
    const job = await runGraph(client, createModelGraph());
    expect(job).toMatchObject({ status: "failed", outputs_count: 0, execution_error: { exception_type } });
    expect(asRecord(job.execution_error).exception_message).toMatch(message);
    expect(await readRunner("A")).toMatchObject({ state: "ready" });
    const workDir = join(service.folder, "work");
    await until("the work folder is empty", async () => {
      const folders = await readdir(workDir);
      const files = await Promise.all(folders.map((folder) => readdir(join(workDir, folder)).catch(() => [])));
      return files.flat().length === 0;
    });
  });

  it("truncates long error messages of a runner", async () => {
    const { client, addRunner } = await startRunnerService();
    const a = await addRunner("A");
    const longText = "x".repeat(3_000_000);
    a.faults.set("GET /history/*", (request, response) => {
      const id = (request.url ?? "").split("/").at(-1) ?? "";
      const errorFields = {
        node_id: "2",
        node_type: longText,
        exception_message: longText,
        exception_type: longText,
        traceback: [longText, "last"],
      };
      const status = { status_str: "error", messages: [["execution_error", { ...errorFields, current_inputs: { text: [longText] } }]] };
      response.end(JSON.stringify({ [id]: { outputs: {}, status } }));
    });
    const job = await runGraph(client, createModelGraph());
    expect(JSON.stringify(job.execution_error).length).toBeLessThan(100_000);
    expect(asString(asRecord(job.execution_error).exception_message)).toHaveLength(10_001);
    expect(asRecord(job.execution_error).traceback).toContain("last");
  });
});

it("reports a cached node once when a runner repeats it", async () => {
  const server = await startRunnerServer({ objectInfo: {} });
  const events: RunEvent[] = [];
  const recordEvent = (event: RunEvent) => events.push(event);
  const noop = () => undefined;
  const listener = listenToRunner(
    { address: server.address, clientId: "c", traffic: createTraffic() },
    { promptId: "x", graph: { "1": { class_type: "A", inputs: {} }, "2": { class_type: "A", inputs: {} } }, nodesTotal: 2 },
    { onReport: noop, onExecuted: noop, onEnd: noop, onLimitExceeded: noop, onEvent: recordEvent },
  );
  await listener.ready;
  server.send(createCachedEvent(Array.from({ length: 40_000 }, () => "1")));
  server.send(createCachedEvent(["1", "1", "unknown"]));
  server.send(createCachedEvent(["1", "2"]));
  await until("both nodes are reported", () => listener.findTimes("2"));
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
  listener.stop();
});

it("times out when a file download is slow", async () => {
  const server = await openTestServer((_request, response) => void response.write("x"));
  let now = 0;
  const folder = createTemporaryFolder();
  const options = { folder, maxBytes: 1e6, now: () => (now += 70_000) };
  const file = { filename: "slow.png", subfolder: "", type: "output" };
  expect(await fetchOutput(createComfyServer(server.url), file, options)).toMatchObject({ ok: false, failure: { code: "timeout" } });
  expect(await readdir(folder)).toEqual([]);
});

it("scales the upload timeout with the file size", async () => {
  const startTimeout = vi.spyOn(AbortSignal, "timeout");
  const server = await openTestServer((_request, response) => void response.end("{}"));
  const form = new FormData();
  form.append("type", "input");
  expect(await createComfyServer(server.url).upload(form, 4e9)).toMatchObject({ ok: true });
  expect(startTimeout.mock.lastCall?.[0]).toBeGreaterThan(250_000);
  startTimeout.mockRestore();
});

it("allows a burst of traffic, then limits messages and bytes per second", () => {
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

it("limits skipped values, even without commas between them", () => {
  const bounds = { bytes: 1e6, values: 100, keepDepth: 4 };
  expect(meterJson(Buffer.from(`[[[[${"[],".repeat(90)}1]]]]`), bounds)).toEqual({ ok: true, value: `[[[[${"null,".repeat(90)}1]]]]` });
  expect(meterJson(Buffer.from(`[[[[${"[]".repeat(101)}`), bounds)).toEqual({ ok: false, failure: "more than 100 values" });
});

const inheritedNames = ["constructor", "toString", "hasOwnProperty", "valueOf"];

/** Creates a graph with nodes named like members of Object.prototype. */
function createGraph(ids: readonly string[]): Json {
  const { "3": save, ...otherNodes } = createModelGraph();
  return { ...otherNodes, ...Object.fromEntries(ids.map((id) => [id, save])) };
}

describe("node ids from a runner", () => {
  it("drops outputs of unknown nodes without polluting prototypes", async () => {
    const keysBefore = Reflect.ownKeys(Object.prototype);
    const { client, addRunner } = await startRunnerService();
    const runner = await addRunner();
    const attack = '{"operations":["x"],"prototype":[{"whileReadOnly":true}],"__proto__":["y"]}';
    const names = ["__proto__", "constructor", "prototype", "99"].map((name) => `"${name}":${attack}`);
    // As JSON text, because an object literal can't have an own `__proto__` property.
    const outputsText = `{${names.join(",")},"3":{"__proto__":["a"],"constructor":["b"],"toString":["c"],"text":["d"]}}`;
    const meta = '{"99":{"node_id":"99","display_node":"98"},"prototype":{"display_node":"__proto__"}}';
    const status = '{"status_str":"success","completed":true,"messages":[]}';
    runner.faults.set("GET /history/*", (request, response) => {
      const id = request.url?.split("/").at(-1) ?? "";
      const hasEnded = runner.seen.ran.includes(id) && runner.queue().running !== id;
      const text = hasEnded ? `{"${id}":{"prompt":[],"outputs":${outputsText},"meta":${meta},"status":${status}}}` : "{}";
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    });
    const { status: jobStatus, outputs } = await runGraph(client, createModelGraph());
    expect(jobStatus).toBe("completed");
    expect(Object.keys(asRecord(outputs))).toEqual(["3"]);
    expect(Object.entries(asRecord(asRecord(outputs)["3"]))).toEqual(
      expect.arrayContaining([
        ["constructor", ["b"]],
        ["toString", ["c"]],
        ["text", ["d"]],
      ]),
    );
    expect(Reflect.ownKeys(Object.prototype)).toEqual(keysBefore);
    expect(Reflect.get({}, "operations")).toBeUndefined();
    expect(Object.hasOwn(Object, "operations")).toBe(false);
  });

  it("stores files, texts and progress of nodes with prototype names", async () => {
    const { client, addRunner } = await startRunnerService();
    const runner = await addRunner();
    runner.setMode("hold the last");
    const id = await submitGraph(client, createGraph(inheritedNames));
    await until("the last node runs", async () => {
      const { progress } = asRecord((await client.get(`/api/jobs/${id}`)).body);
      return progress !== undefined && asRecord(progress).current_node === inheritedNames.at(-1);
    });
    runner.release();
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", outputs_count: inheritedNames.length });
    expect(Object.keys(asRecord(job.outputs))).toEqual(inheritedNames);
    expect(Object.keys(asRecord(job.execution_meta))).toEqual(expect.arrayContaining(inheritedNames));
  });

  it("omits unknown nodes when a runner reports an error", async () => {
    const { client, addRunner } = await startRunnerService();
    const runner = await addRunner();
    runner.faults.set("POST /prompt", (_request, response) => {
      const errors = '{"errors":[{"type":"t","message":"m","details":"","extra_info":{}}],"dependent_outputs":[],"class_type":"X"}';
      const body = `{"error":{"type":"prompt_outputs_failed_validation","message":"no","details":"","extra_info":{}},"node_errors":{"__proto__":${errors},"constructor":${errors},"3":${errors}}}`;
      response.writeHead(400, { "content-type": "application/json" }).end(body);
    });
    const job = await runGraph(client, createModelGraph());
    expect(job.status).toBe("failed");
    expect(JSON.stringify(job.execution_error)).not.toMatch(/__proto__|constructor/);
    expect(JSON.stringify(job.execution_error)).toContain('\\"3\\"');
  });
});

describe("a job's id at a runner", () => {
  async function findOnRunner(promptId: string) {
    const empty = { queue_running: [], queue_pending: [] };
    const runner = await openTestServer(({ url }, response) => sendJsonResponse(response, url === "/queue" ? empty : {}));
    const jobLocation = await findJob(createComfyServer(runner.url), { promptId, clientId: "ours" });
    return { found: jobLocation, urls: runner.requests.map(({ url }) => url) };
  }

  it.each(["../queue", "..", "", "a/b", "a\\b", "a%2Fb", "a?clear=1", "a#b", "a\nb", "\ud800", "x".repeat(201)])(
    "is never part of a URL when it is %j",
    async (promptId) => {
      expect(await findOnRunner(promptId)).toEqual({ found: { kind: "missing" }, urls: ["/queue", "/history?max_items=200"] });
    },
  );

  it.each(["__proto__", "constructor"])("finds no inherited member when it is %s", async (promptId) => {
    expect((await findOnRunner(promptId)).found).toEqual({ kind: "missing" });
  });
});
