// A missing operation returns 501 NOT_IMPLEMENTED, a missing item 404 NOT_FOUND.
import { beforeEach, expect, test } from "vitest";
import { connectService, createConnectionClient, createJobPage } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";

/** The existing paths. All others return 404 without naming what is missing. */
let bodies: Record<string, unknown>;
/** The URL of the only supported change. */
let deletableUrl: string | undefined;
let service: Awaited<ReturnType<typeof connectService>>;
const harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
beforeEach(async () => {
  bodies = {};
  deletableUrl = undefined;
  const respond: Parameters<typeof connectService>[1] = ({ method, url }, response) => {
    if (method === "DELETE" && url === deletableUrl) return void response.writeHead(204).end();
    const body = method === "GET" ? bodies[url.split("?")[0] ?? ""] : undefined;
    sendJsonResponse(response, body ?? { code: "NOT_FOUND", message: "404" }, body === undefined ? 404 : 200);
  };
  service = await connectService(harness, respond, { as: "operator" });
});

const createAssets = (ids: readonly string[], fields: object = {}) =>
  Object.fromEntries(ids.map((id) => [`/api/assets/${id}`, { id, ...fields }]));
const cases: [string, string, unknown, Record<string, unknown>][] = [
  ["POST", "/api/jobs/j/cancel", undefined, { "/api/jobs/j": { id: "j", status: "pending" } }],
  ["POST", "/api/interrupt", { prompt_id: "j" }, { "/api/jobs/j": { id: "j", status: "in_progress" } }],
  ["GET", "/api/jobs/j/assets", undefined, { "/api/jobs/j": { id: "j", status: "completed" } }],
  ["DELETE", "/api/tasks/t", undefined, { "/api/tasks/t": { id: "t", status: "running" } }],
];

async function request(method: string, path: string, json?: unknown) {
  const response = await service.send(path, { method, json });
  const { code }: { code?: string } = await response.json();
  return [response.status, code];
}

test.each(cases)("returns 501 for %s %s of an existing item and 404 for a missing one", async (method, path, json, items) => {
  expect(await request(method, path, json)).toEqual([404, "NOT_FOUND"]);
  bodies = items;
  expect(await request(method, path, json)).toEqual([501, "NOT_IMPLEMENTED"]);
});

const countRequests = (path: string) => service.server.requests.filter(({ url }) => url.startsWith(path)).length;

test("doesn't resend a change that isn't implemented", async () => {
  bodies = { "/api/jobs/a": { id: "a", status: "pending" }, "/api/jobs/b": { id: "b", status: "pending" }, "/api/jobs": createJobPage([]) };
  for (const id of ["a", "b"]) expect(await request("POST", `/api/jobs/${id}/cancel`)).toEqual([501, "NOT_IMPLEMENTED"]);
  expect(countRequests("/api/jobs/b")).toBe(0);
});

const changes: [string, string, unknown][] = [
  ["DELETE", "", undefined],
  ["PUT", "", { name: "b" }],
  ["DELETE", "/tags", { tags: ["x"] }],
];
test.each(changes)("marks %s of an asset%s missing after a 404 for two existing assets", async (method, subpath, json) => {
  const change = (id: string) => request(method, `/api/assets/${id}${subpath}`, json);
  bodies = createAssets(["a", "b"]);
  // The asset may belong to another user, which the response doesn't reveal.
  for (const _ of ["once", "again"]) expect(await change("a")).toEqual([404, "NOT_FOUND"]);
  expect(await change("b")).toEqual([501, "NOT_IMPLEMENTED"]);
  const before = countRequests("/api/assets");
  expect([await change("a"), countRequests("/api/assets")]).toEqual([[501, "NOT_IMPLEMENTED"], before]);
});

test.each([
  ["DELETE", ""],
  ["POST", "/move/z.json"],
])("marks %s of a file%s missing after a 404 for two listed files", async (method, subpath) => {
  const change = (file: string) => request(method, `/api/userdata/${encodeURIComponent(file)}${subpath}`);
  bodies = { "/api/userdata": ["x/a.json", { path: "b.json" }] };
  for (const file of ["x/a.json", "x/gone.json", "x/a.json"]) expect(await change(file)).toEqual([404, "NOT_FOUND"]);
  expect(await change("x/b.json")).toEqual([501, "NOT_IMPLEMENTED"]);
});

test.each(changes)("draws no conclusion from %s of a locked or missing asset%s", async (method, subpath, json) => {
  bodies = createAssets(["a", "b", "c"], { is_immutable: true });
  for (const id of ["a", "b", "c", "gone", "gone too"])
    expect(await request(method, `/api/assets/${encodeURIComponent(id)}${subpath}`, json)).toEqual([404, "NOT_FOUND"]);
});

test("keeps an operation available after it once succeeded", async () => {
  bodies = createAssets(["a", "b"]);
  deletableUrl = "/api/assets/mine";
  expect((await service.send("/api/assets/mine", { method: "DELETE" })).status).toBe(204);
  for (const id of ["a", "b"]) expect(await request("DELETE", `/api/assets/${id}`)).toEqual([404, "NOT_FOUND"]);
});

test.each([
  ["/api/jobs/j/cancel", undefined],
  ["/api/interrupt", { prompt_id: "j" }],
])("doesn't mark POST %s missing after a 404 for an ended job", async (path, json) => {
  for (const status of ["completed", "failed", "cancelled", "lost", "unknown"]) {
    bodies = { "/api/jobs/j": { id: "j", status } };
    expect(await request("POST", path, json)).toEqual([404, "NOT_FOUND"]);
  }
});

test("returns 404 for lost content whose asset still exists", async () => {
  bodies = { "/api/assets/a": { id: "a" }, "/api/userdata": ["/y.json"] };
  for (const [list, item] of [
    ["/api/assets", "/a/content"],
    ["/api/userdata", "/y.json"],
  ] as const) {
    expect(await request("GET", list + item)).toEqual([404, "NOT_FOUND"]);
    expect(countRequests(list)).toBe(1);
  }
});

test("doesn't mark an operation missing after a 404 for an unknown id", async () => {
  const { post } = createConnectionClient(harness, "embedded", "operator");
  const prompt = { "1": { class_type: "Wait", inputs: { seconds: 600 } }, "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } } };
  const submit = async () => (await (await post("/api/prompt", { prompt })).json()).prompt_id;
  expect((await post("/api/jobs/cancel", { job_ids: ["unknown"] })).status).toBe(404);
  expect((await post("/api/interrupt", { prompt_id: "unknown" })).status).toBe(404);
  expect(await (await post(`/api/jobs/${await submit()}/cancel`)).json()).toEqual({ cancelled: true });
  expect((await post("/api/interrupt", { prompt_id: await submit() })).status).toBe(200);
});

test("caches a missing read", async () => {
  for (const _ of ["first", "repeated"]) {
    expect(await request("GET", "/api/queue")).toEqual([501, "NOT_IMPLEMENTED"]);
    expect(countRequests("/api/queue")).toBe(1);
  }
});
