// Large answers of a service are parsed, searched and checked in another thread, so that other requests are answered meanwhile.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

vi.setConfig({ testTimeout: 60_000 });

const KEY = "comfyui-0123456789abcdef0123456789abcdef";
const MIB = 1024 * 1024;

let harness: Harness;
const servers: LittleServer[] = [];
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { attempts: 1 } });
});
afterAll(() => harness.dispose());
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A service that answers this about every job; `sent` settles when its last byte has left. */
async function connect(text: string) {
  let tell: () => void;
  const sent = new Promise<void>((resolve) => (tell = resolve));
  const server = await startLittleServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(text, () => tell());
  });
  servers.push(server);
  const connection = await harness.connect(server.url, KEY);
  return { sent, connection, open: () => harness.request(`/api/jobs/job-1?connection=${connection}`, { as: "viewer" }) };
}

/** Returns the length of the longest text that was parsed or written on this thread. */
function watchJson(): () => number {
  const parse = vi.spyOn(JSON, "parse");
  const write = vi.spyOn(JSON, "stringify");
  return () => {
    const written = write.mock.results.map(({ value }) => (typeof value === "string" ? value.length : 0));
    return Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length), ...written);
  };
}

const jobWith = (extraData: object) =>
  JSON.stringify({ id: "job-1", status: "completed", create_time: 1, workflow: { prompt: {}, extra_data: extraData } });
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, "a value"]));

test.each([
  ["of one long text", { note: "comfyui-".repeat((15 * MIB) / 8) }],
  ["of many fields", entries(100_000)],
  ["of many texts", { list: Array.from({ length: 1_000_000 }, (_, index) => `text ${index % 1000}`) }],
])("a job %s is read elsewhere, and others are answered before it is", async (_, extraData) => {
  const { sent, open } = await connect(jobWith(extraData));
  const longest = watchJson();
  const order: string[] = [];
  const large = open().then((answer) => (order.push("large"), answer));
  await sent;
  const small = await harness.request("/api/console/audit", { as: "owner" });
  order.push("small");
  const answer = await large;
  expect([small.status, answer.status]).toEqual([200, 200]);
  expect(order).toEqual(["small", "large"]);
  expect(longest()).toBeLessThan(MIB);
  expect((await answer.text()).length).toBeGreaterThan(MIB);
});

// Half a gigabyte is read: on a busy machine that takes longer than the usual bound.
test("more of them than may wait at once are read, one after the other", { timeout: 180_000 }, async () => {
  const { open } = await connect(jobWith({ fill: "x".repeat(40 * MIB) }));
  for (let time = 0; time < 8; time += 1) {
    const answer = await open();
    expect(answer.status).toBe(200);
    await answer.body?.cancel();
  }
});

test("what is put on a job that was read elsewhere is put on, and all else is as the service sent it", async () => {
  const workflow = {
    prompt: { "1": { class_type: "SaveImage", inputs: { text: "the lighthouse" } } },
    extra_data: { fill: "x".repeat(2 * MIB) },
  };
  const job = { id: "job-1", status: "completed", create_time: 1, submitted_by: "nobody", workflow, long: "y".repeat(5000), seed: 0 };
  const { open } = await connect(JSON.stringify(job).replace('"seed":0', '"seed":18446744073709551615'));
  const text = await (await open()).text();
  const parsed: unknown = JSON.parse(text);
  expect(parsed).toMatchObject({ id: "job-1", status: "completed", workflow, long: "y".repeat(5000) });
  expect(parsed).not.toHaveProperty("submitted_by");
  expect(text).toContain('"seed":18446744073709551615');
});

test("a job that was read elsewhere is found by the words of its graph", async () => {
  const prompt = { "1": { class_type: "SaveImage", inputs: { text: "a lighthouse in the fog" } } };
  const extra_data = { fill: "x".repeat(2 * MIB) };
  const text = JSON.stringify({ id: "job-1", status: "completed", create_time: Date.now(), workflow: { prompt, extra_data } });
  const { open, connection } = await connect(text);
  expect((await open()).status).toBe(200);
  await harness.console.ledger.settled();
  const found = await harness.request(`/api/console/jobs/search?connection=${connection}&q=lighthouse`, { as: "viewer" });
  expect(await found.json()).toMatchObject({ jobs: [{ id: "job-1" }] });
});

test("what is read elsewhere is as clean as what is not, and keeps its digits", async () => {
  const { open } = await connect(
    jobWith({ seed: 0, api_key: "hidden-by-its-name", told: `the key ${KEY} said back`, fill: "x".repeat(2 * MIB) }).replace(
      '"seed":0',
      '"seed":18446744073709551615',
    ),
  );
  const longest = watchJson();
  const text = await (await open()).text();
  expect(longest()).toBeLessThan(MIB);
  expect(text).toContain('"seed":18446744073709551615');
  expect(text).toContain("the key [REDACTED] said back");
  expect(text).not.toContain("hidden-by-its-name");
  expect(text).not.toContain(KEY);
});

test.each([
  ["is no JSON", `{"id":"job-1","fill":"${"x".repeat(2 * MIB)}"`, "is not JSON"],
  ["has another shape", JSON.stringify({ id: 7, fill: "x".repeat(2 * MIB) }), "has another shape at id"],
  [
    "has more values than anybody can look through",
    `{"id":"job-1","status":"completed","list":[${"[],".repeat(1_100_000)}[]]}`,
    "too large",
  ],
  ["has more exact numbers than are allowed", `{"id":"job-1","status":"completed","list":[${"5.0,".repeat(300_000)}1]}`, "too large"],
  ["has more names than anybody can look through", jobWith(entries(130_000)), "too large"],
])("a large answer that %s is told as such, and the next one is read", async (_, text, why) => {
  const { open } = await connect(text);
  const answer = await open();
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain(why);
  const next = await connect(jobWith({ fill: "x".repeat(2 * MIB) }));
  expect((await next.open()).status).toBe(200);
});

test("whoever gives up a large answer ends the work on it, and the next one is read", async () => {
  const { sent, open } = await connect(jobWith(entries(100_000)));
  const leaving = new AbortController();
  const connection = await harness.connect(servers[0]?.url ?? "", KEY);
  const left = harness.request(`/api/jobs/job-1?connection=${connection}`, { as: "viewer", signal: leaving.signal });
  await sent;
  leaving.abort();
  expect((await left).status).toBe(499);
  expect((await open()).status).toBe(200);
});

const graphOf = (texts: number) => ({
  "1": { class_type: "SaveImage", inputs: { text: "a lighthouse" } },
  "2": { class_type: "Note", inputs: { list: Array.from({ length: texts }, (_, index) => `text ${index}`) } },
});
const idOf = (index: number) => `job-${index}`;
const item = (index: number, texts: number) => [
  index,
  idOf(index),
  graphOf(texts),
  { create_time: 1_767_225_600_000 + index, api_key: "hidden" },
  ["1"],
];
const entry = (index: number, texts: number) => ({
  prompt: item(index, texts),
  outputs: { "1": { images: [{ filename: `${index}.png`, subfolder: "", type: "output" }] } },
  status: { status_str: "success", completed: true, messages: [["execution_start", { timestamp: 1_767_225_600_000 + index }]] },
});
const history = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [idOf(index), entry(index, 10_000)]));

/** A local server older than /api/jobs, whose queue and history are megabytes. */
async function connectLocal(answers: Record<string, unknown>) {
  const server = await startLittleServer(({ url }, response) => {
    const path = url.split("?")[0] ?? "";
    if (path === "/api/system_stats") return answerJson(response, { system: { os: "linux" }, devices: [] });
    // Written beforehand, so that the stand-in writes nothing large on this thread.
    const text = texts.get(url) ?? texts.get(path);
    response
      .writeHead(text === undefined ? 404 : 200, { "content-type": text === undefined ? "text/plain" : "application/json" })
      .end(text);
  });
  servers.push(server);
  const texts = new Map(Object.entries(answers).map(([path, answer]) => [path, JSON.stringify(answer).replaceAll('"5.0"', "5.0")]));
  const saved = await harness.request("/api/console/connections", {
    as: "owner",
    method: "POST",
    json: { name: "Local", baseUrl: server.url, shared: true },
  });
  const { connection } = z.object({ connection: z.object({ id: z.string() }) }).parse(await saved.json());
  return (path: string) => harness.request(`${path}?connection=${connection.id}`, { as: "viewer" });
}

test.each([
  ["the pages of its history", "/api/history_v2", { history: [{ prompt_id: "job-19" }] }],
  ["one entry of its history", "/api/history_v2/job-3", { "job-3": { prompt: { prompt_id: "job-3", prompt: graphOf(10_000) } } }],
  ["its queue", "/api/queue", { queue_pending: [[1, "job-0", graphOf(10_000)]] }],
  ["one of its jobs", "/api/jobs/job-3", { id: "job-3", status: "completed", outputs_count: 1, workflow: { prompt: graphOf(10_000) } }],
  ["the list of its jobs", "/api/jobs", { jobs: [{ id: "job-19", status: "completed" }] }],
])("of a local server too: %s", async (_, path, told) => {
  const get = await connectLocal({
    "/api/history": history,
    "/api/history/job-3": { "job-3": { ...entry(3, 10_000), fill: "x".repeat(2 * MIB) } },
    "/api/queue": {
      queue_running: [],
      queue_pending: path === "/api/queue" ? [...Array(20).keys()].map((index) => item(index, 10_000)) : [],
    },
  });
  const longest = watchJson();
  const answer = await get(path);
  const text = await answer.text();
  expect(answer.status, text.slice(0, 300)).toBe(200);
  expect(longest()).toBeLessThan(MIB);
  expect(text).not.toContain("hidden");
  expect(partOf(JSON.parse(text), told)).toEqual(told);
});

/** The part of it that `like` has; of lists the beginning. */
function partOf(value: unknown, like: unknown): unknown {
  if (typeof like !== "object" || like === null || typeof value !== "object" || value === null) return value;
  const fields = new Map<string, unknown>(Object.entries(value));
  const part = Object.entries(like).map(([name, one]): [string, unknown] => [name, partOf(fields.get(name), one)]);
  return Array.isArray(like) ? part.map(([, one]) => one) : Object.fromEntries(part);
}

test("what a local server says at length and is none of its words is reported as such, and the next one is read", async () => {
  const strange = await connectLocal({ "/api/queue": { queue_running: "x".repeat(2 * MIB), queue_pending: [] } });
  const answer = await strange("/api/queue");
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain("has another shape");
  const next = await connectLocal({ "/api/queue": { queue_running: [], queue_pending: [item(0, 200_000)] } });
  expect((await next("/api/queue")).status).toBe(200);
});

const MANY = 1000;
/** `fill`: the length of its error message. */
const failedEntry = (index: number, { fill = 0, workflowId = "w" }: { fill?: number; workflowId?: string }) => {
  const [number, id, , extra, outputs] = item(index, 0);
  const fault = {
    node_id: "1",
    node_type: "SaveImage",
    exception_type: "ValueError",
    exception_message: "It broke. " + "m".repeat(fill / 2),
  };
  const traceback = ["t".repeat(fill / 2)];
  const messages = [["execution_error", { timestamp: 1_767_225_600_000 + index, ...fault, traceback, current_inputs: {} }]];
  return {
    prompt: [number, id, {}, { ...(typeof extra === "object" && extra), extra_pnginfo: { workflow: { id: workflowId } } }, outputs],
    outputs: {},
    status: { status_str: "error", completed: false, messages },
  };
};
const failedHistory = (count: number, how: { fill?: number; workflowId?: string }) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [idOf(index), failedEntry(index, how)]));
const noQueue = { queue_running: [], queue_pending: [] };

test("jobs of a local server that failed at great length are listed with the beginning of why, and a job's own page has all of it", async () => {
  const fill = 20_000;
  const get = await connectLocal({
    "/api/history": failedHistory(MANY, { fill }),
    "/api/history/job-3": { "job-3": failedEntry(3, { fill }) },
    "/api/queue": noQueue,
  });
  const answer = await get("/api/jobs");
  expect(answer.status).toBe(200);
  const { jobs, pagination } = z.object({ jobs: z.array(z.any()), pagination: z.object({ total: z.number() }) }).parse(await answer.json());
  expect(pagination.total).toBe(MANY);
  expect(jobs[0]).toMatchObject({ status: "failed", execution_error: { node_type: "SaveImage", traceback: [] } });
  expect(jobs[0].execution_error.exception_message).toMatch(/^It broke\. m+$/);
  expect(await (await get("/api/jobs/job-3")).json()).toMatchObject({ execution_error: { traceback: ["t".repeat(fill / 2)] } });
});

test("a history that is too much to be listed at once is asked for again with fewer entries", async () => {
  const long = { workflowId: "w".repeat(10_000) };
  const get = await connectLocal({
    "/api/history?max_items=1001": failedHistory(MANY, long),
    "/api/history?max_items=201": failedHistory(201, long),
    "/api/queue": noQueue,
  });
  const answer = await get("/api/jobs");
  expect(answer.status).toBe(200);
  const { pagination, is_cut } = await answer.json();
  expect([pagination, is_cut]).toEqual([{ offset: 0, limit: 100, has_more: true }, true]);
});

test("a job whose details are large and lack its graph has it from the queue of its local server", async () => {
  const get = await connectLocal({
    "/api/jobs/job-3": { id: "job-3", status: "pending", note: "x".repeat(2 * MIB) },
    "/api/queue": { queue_running: [], queue_pending: [item(3, 1)] },
  });
  const answer = await get("/api/jobs/job-3");
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ id: "job-3", status: "pending", workflow: { prompt: graphOf(1) } });
});

test.each([200_000, 400_000])("reports an answer of a local server with %i exact numbers as too large", async (count) => {
  const get = await connectLocal({ "/api/queue": { queue_running: [Array.from({ length: count }, () => "5.0")], queue_pending: [] } });
  const answer = await get("/api/queue");
  expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining("its answer is too large")]);
});

test("an answer of a local server that is too large is reported as that", async () => {
  const get = await connectLocal({ "/api/queue": { queue_running: ["x".repeat(64 * MIB)], queue_pending: [] } });
  const answer = await get("/api/queue");
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain("its answer is too large");
});
