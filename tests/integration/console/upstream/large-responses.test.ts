// Large responses are parsed and checked in another thread, so that other requests continue.
import { expect, test } from "vitest";
import { API_KEY, connectLocalServer, connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const MIB = 1024 * 1024;
const harness = await createHarness({ upstreamLimits: { attempts: 1 } });

/** Connects a service that returns this text for every job. `sent` resolves when its last byte was sent. */
async function connect(text: string) {
  let resolveSent: () => void;
  const sent = new Promise<void>((resolve) => (resolveSent = resolve));
  const client = await connectService(harness, (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(text, () => resolveSent()),
  );
  return { ...client, sent, open: (signal?: AbortSignal) => client.send("/api/jobs/job-1", { signal }) };
}

const createJob = (extraData: object) =>
  JSON.stringify({ id: "job-1", status: "completed", create_time: 1, workflow: { prompt: {}, extra_data: extraData } });
const createFields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, "a value"]));

test("returns responses up to 8 MiB and offers larger ones as downloads", async () => {
  const smallService = await connect(createJob({ fill: "x".repeat(8 * MIB - 1000) }));
  expect((await smallService.open()).status).toBe(200);
  const { open, connection } = await connect(createJob({ fill: "x".repeat(8 * MIB), api_key: "hidden", note: API_KEY }));
  const response = await open();
  expect(response.status).toBe(502);
  const { code, details } = await response.json();
  expect([code, details.download]).toEqual(["UPSTREAM_TOO_LARGE", expect.stringContaining(`connection=${connection}`)]);
  const file = await harness.request(details.download, { as: "viewer" });
  expect([file.status, file.headers.get("content-disposition")]).toEqual([200, 'attachment; filename="getJob-job-1.json"']);
  const extra_data = { fill: "x".repeat(8 * MIB), api_key: "[REDACTED]", note: "[REDACTED]" };
  expect(await file.json()).toEqual({ id: "job-1", status: "completed", create_time: 1, workflow: { prompt: {}, extra_data } });
  expect((await harness.request(details.download)).status).toBe(401);
});

test("halves an oversized history page and returns the next offset", async () => {
  const createRow = (index: number) => ({
    prompt_id: `job-${index}`,
    status: { status_str: "success", completed: true, messages: [] },
    note: "x".repeat(MIB),
  });
  const { getJson } = await connectService(harness, ({ url }, response) => {
    const query = new URL(url, "http://server").searchParams;
    const [offset, count] = [Number(query.get("offset")), Number(query.get("max_items"))];
    sendJsonResponse(response, { history: Array.from({ length: Math.min(count, 12 - offset) }, (_, index) => createRow(offset + index)) });
  });
  const ids: string[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const page: { history: { prompt_id: string }[]; next_offset?: number } = await getJson(`/api/history_v2?max_items=20&offset=${offset}`);
    ids.push(...page.history.map(({ prompt_id }) => prompt_id));
    offset = page.next_offset;
  }
  expect(ids).toEqual(Array.from({ length: 12 }, (_, index) => `job-${index}`));
});

test.each([
  ["a small job", ""],
  ["a job parsed by a worker", "x".repeat(2 * MIB)],
])("redacts, indexes and keeps the fields of %s", async (_, fill) => {
  const workflow = { prompt: { "1": { class_type: "SaveImage", inputs: { text: "a lighthouse in the fog" } } }, extra_data: {} };
  const secrets = { api_key: "hidden-by-its-name", note: `the key ${API_KEY} said back`, fill };
  const job = { id: "job-1", status: "completed", create_time: Date.now(), submitted_by: "nobody", long: "y".repeat(5000), seed: 0 };
  const sentText = JSON.stringify({ ...job, workflow: { ...workflow, extra_data: secrets } });
  const { open, getJson } = await connect(sentText.replace('"seed":0', '"seed":18446744073709551615'));
  const text = await (await open()).text();
  expect(text).toContain('"seed":18446744073709551615');
  const parsed: unknown = JSON.parse(text);
  const extra_data = { api_key: "[REDACTED]", note: "the key [REDACTED] said back", fill };
  expect(parsed).toMatchObject({ id: "job-1", status: "completed", workflow: { ...workflow, extra_data }, long: "y".repeat(5000) });
  expect(parsed).not.toHaveProperty("submitted_by");
  await harness.console.jobIndex.flush();
  expect(await getJson("/api/console/jobs/search?text=lighthouse")).toMatchObject({ jobs: [{ id: "job-1" }] });
});

test.each([
  ["isn't JSON", `{"id":"job-1","fill":"${"x".repeat(2 * MIB)}"`, "is not JSON"],
  ["has an unexpected shape", JSON.stringify({ id: 7, fill: "x".repeat(2 * MIB) }), "has an unexpected format at id"],
  ["has too many values", `{"id":"job-1","status":"completed","list":[${"[],".repeat(600_000)}[]]}`, "too large"],
  ["has too many exact numbers", `{"id":"job-1","status":"completed","list":[${"5.0,".repeat(300_000)}1]}`, "too large"],
  ["has too many names", createJob(createFields(130_000)), "too large"],
])("reports a large response that %s and reads the next", async (_, text, reason) => {
  const response = await (await connect(text)).open();
  expect([response.status, await response.text()]).toEqual([502, expect.stringContaining(reason)]);
  const next = await connect(createJob({ fill: "x".repeat(2 * MIB) }));
  expect((await next.open()).status).toBe(200);
});

test("stops reading a large response when its client disconnects", async () => {
  const { sent, open } = await connect(createJob(createFields(60_000)));
  const controller = new AbortController();
  const abandonedRequest = open(controller.signal);
  await sent;
  controller.abort();
  expect((await abandonedRequest).status).toBe(499);
  expect((await open()).status).toBe(200);
});

const createGraph = (texts: number) => ({
  "1": { class_type: "SaveImage", inputs: { text: "a lighthouse" } },
  "2": { class_type: "Note", inputs: { list: Array.from({ length: texts }, (_, index) => `text ${index}`) } },
});
const getId = (index: number) => `job-${index}`;
const createHistoryItem = (index: number, texts: number) => [
  index,
  getId(index),
  createGraph(texts),
  { create_time: 1_767_225_600_000 + index, api_key: "hidden" },
  ["1"],
];
const createHistoryEntry = (index: number, texts: number) => ({
  prompt: createHistoryItem(index, texts),
  outputs: { "1": { images: [{ filename: `${index}.png`, subfolder: "", type: "output" }] } },
  status: { status_str: "success", completed: true, messages: [["execution_start", { timestamp: 1_767_225_600_000 + index }]] },
});
const history = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [getId(index), createHistoryEntry(index, 10_000)]));

/** Connects a local server without /api/jobs that returns these responses. */
async function connectLocal(responses: Record<string, unknown>) {
  const server = await openTestServer(({ url }, response) => {
    const path = url.split("?")[0] ?? "";
    if (path === "/api/system_stats") return sendJsonResponse(response, { system: { os: "linux" }, devices: [] });
    // Serialized beforehand, so that the fake server serializes nothing large on this thread.
    const text = texts.get(url) ?? texts.get(path);
    response
      .writeHead(text === undefined ? 404 : 200, { "content-type": text === undefined ? "text/plain" : "application/json" })
      .end(text);
  });
  const texts = new Map(Object.entries(responses).map(([path, body]) => [path, JSON.stringify(body).replaceAll('"5.0"', "5.0")]));
  return (await connectLocalServer(harness, server.url)).send;
}
const emptyQueue = { queue_running: [], queue_pending: [] };

test.each([
  ["the pages of its history", "/api/history_v2", { history: [{ prompt_id: "job-49" }] }],
  ["one entry of its history", "/api/history_v2/job-3", { "job-3": { prompt: { prompt_id: "job-3", prompt: createGraph(10_000) } } }],
  ["its queue", "/api/queue", { queue_pending: [[1, "job-0", createGraph(10_000)]] }],
  ["one of its jobs", "/api/jobs/job-3", { id: "job-3", status: "completed", outputs_count: 1, workflow: { prompt: createGraph(10_000) } }],
  ["the list of its jobs", "/api/jobs", { jobs: [{ id: "job-49", status: "completed" }] }],
])("reads large responses of a local server: %s", async (_, path, expected) => {
  const get = await connectLocal({
    "/api/history": history,
    "/api/history/job-3": { "job-3": { ...createHistoryEntry(3, 10_000), fill: "x".repeat(2 * MIB) } },
    "/api/queue": {
      ...emptyQueue,
      ...(path === "/api/queue" && { queue_pending: [...Array(50).keys()].map((index) => createHistoryItem(index, 10_000)) }),
    },
  });
  const response = await get(path);
  const text = await response.text();
  expect(response.status, text.slice(0, 300)).toBe(200);
  expect(text).not.toContain("hidden");
  expect(getPart(JSON.parse(text), expected)).toEqual(expected);
});

/** Returns the part of the value with the shape of `like`. Lists are cut to its length. */
function getPart(value: unknown, like: unknown): unknown {
  if (typeof like !== "object" || like === null || typeof value !== "object" || value === null) return value;
  const fields = new Map<string, unknown>(Object.entries(value));
  const part = Object.entries(like).map(([name, body]): [string, unknown] => [name, getPart(fields.get(name), body)]);
  return Array.isArray(like) ? part.map(([, body]) => body) : Object.fromEntries(part);
}

test("reports an invalid large response of a local server and continues", async () => {
  const requestInvalid = await connectLocal({ "/api/queue": { queue_running: "x".repeat(2 * MIB), queue_pending: [] } });
  const response = await requestInvalid("/api/queue");
  expect([response.status, await response.text()]).toEqual([502, expect.stringContaining("has an unexpected format")]);
  const next = await connectLocal({ "/api/queue": { ...emptyQueue, queue_pending: [createHistoryItem(0, 200_000)] } });
  expect((await next("/api/queue")).status).toBe(200);
});

const JOB_COUNT = 1000;
/** `fill` is the length of its error message and traceback. */
const createFailedEntry = (index: number, { fill = 0, workflowId = "w" }: { fill?: number; workflowId?: string }) => {
  const [number, id, , extra, outputs] = createHistoryItem(index, 0);
  const exception_message = "It broke. " + "m".repeat(fill / 2);
  const executionError = { node_id: "1", node_type: "SaveImage", exception_type: "ValueError", exception_message };
  const traceback = ["t".repeat(fill / 2)];
  const messages = [["execution_error", { timestamp: 1_767_225_600_000 + index, ...executionError, traceback, current_inputs: {} }]];
  return {
    prompt: [number, id, {}, { ...(typeof extra === "object" && extra), extra_pnginfo: { workflow: { id: workflowId } } }, outputs],
    outputs: {},
    status: { status_str: "error", completed: false, messages },
  };
};
const createFailedHistory = (count: number, options: { fill?: number; workflowId?: string }) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [getId(index), createFailedEntry(index, options)]));

test("truncates long errors in lists but not in a single job", async () => {
  const fill = 7_000;
  const get = await connectLocal({
    "/api/history": createFailedHistory(JOB_COUNT, { fill }),
    "/api/history/job-3": { "job-3": createFailedEntry(3, { fill }) },
    "/api/queue": emptyQueue,
  });
  const response = await get("/api/jobs");
  expect(response.status).toBe(200);
  const { jobs, pagination } = await response.json();
  expect(pagination.total).toBe(JOB_COUNT);
  expect(jobs[0]).toMatchObject({ status: "failed", execution_error: { node_type: "SaveImage", traceback: [] } });
  expect(jobs[0].execution_error.exception_message).toMatch(/^It broke\. m+$/);
  expect(await (await get("/api/jobs/job-3")).json()).toMatchObject({ execution_error: { traceback: ["t".repeat(fill / 2)] } });
});

test("rereads an oversized history with fewer entries", async () => {
  const longWorkflowId = { workflowId: "w".repeat(10_000) };
  const get = await connectLocal({
    "/api/history?max_items=1001": createFailedHistory(JOB_COUNT, longWorkflowId),
    "/api/history?max_items=201": createFailedHistory(201, longWorkflowId),
    "/api/queue": emptyQueue,
  });
  const response = await get("/api/jobs");
  expect(response.status).toBe(200);
  const { pagination, is_cut } = await response.json();
  expect([pagination, is_cut]).toEqual([{ offset: 0, limit: 100, has_more: true }, true]);
});

test("reads a large job's missing graph from the local server's queue", async () => {
  const get = await connectLocal({
    "/api/jobs/job-3": { id: "job-3", status: "pending", note: "x".repeat(2 * MIB) },
    "/api/queue": { ...emptyQueue, queue_pending: [createHistoryItem(3, 1)] },
  });
  const response = await get("/api/jobs/job-3");
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ id: "job-3", status: "pending", workflow: { prompt: createGraph(1) } });
});

test("reports a response of a local server with too many exact numbers", async () => {
  const get = await connectLocal({ "/api/queue": { ...emptyQueue, queue_running: Array.from({ length: 200_000 }, () => "5.0") } });
  const response = await get("/api/queue");
  expect([response.status, await response.text()]).toEqual([502, expect.stringContaining("UPSTREAM_TOO_LARGE")]);
});

test("reports an oversized local response and downloads it unchanged", async () => {
  const queue = { ...emptyQueue, queue_running: ["x".repeat(8 * MIB)] };
  const get = await connectLocal({ "/api/queue": queue });
  const response = await get("/api/queue");
  expect(response.status).toBe(502);
  const { code, details } = await response.json();
  expect(code).toBe("UPSTREAM_TOO_LARGE");
  expect(await (await harness.request(details.download, { as: "viewer" })).json()).toEqual(queue);
});
