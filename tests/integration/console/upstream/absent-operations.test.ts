// One place tells a missing operation from a missing item, and every route answers it alike: 501 NOT_IMPLEMENTED.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
let server: LittleServer;
let connection: string;
/** The existing paths. All others answer 404 in words that do not say what is missing. */
let there: Record<string, unknown>;
/** The one change that works. */
let takes: string | undefined;
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
  server = await startLittleServer(({ method, url }, response) => {
    if (method === "DELETE" && url === takes) return void response.writeHead(204).end();
    const found = method === "GET" ? there[url.split("?")[0] ?? ""] : undefined;
    answerJson(response, found ?? { code: "NOT_FOUND", message: "404" }, found === undefined ? 404 : 200);
  });
});
afterAll(async () => {
  await server.close();
  await harness.dispose();
});
beforeEach(async () => {
  there = {};
  takes = undefined;
  server.seen.length = 0;
  connection = await harness.connect(server.url, "k");
});

const jobs = { jobs: [], pagination: { offset: 0, limit: 1, total: 0, has_more: false } };
const cases: [string, string, unknown, Record<string, unknown>][] = [
  ["POST", "/api/jobs/j/cancel", undefined, { "/api/jobs/j": { id: "j", status: "pending" } }],
  ["POST", "/api/interrupt", { prompt_id: "j" }, { "/api/jobs/j": { id: "j", status: "in_progress" } }],
  ["GET", "/api/jobs/j/assets", undefined, { "/api/jobs/j": { id: "j", status: "completed" } }],
  ["DELETE", "/api/tasks/t", undefined, { "/api/tasks/t": { id: "t", status: "running" } }],
];

async function ask(method: string, path: string, json?: unknown) {
  const answer = await harness.request(`${path}?connection=${connection}`, { as: "operator", method, json });
  const { code }: { code?: string } = await answer.json();
  return [answer.status, code];
}

test.each(cases)("%s %s of what is there is an operation that is not; of what is gone it is a 404", async (method, path, json, items) => {
  expect(await ask(method, path, json)).toEqual([404, "NOT_FOUND"]);
  there = items;
  expect(await ask(method, path, json)).toEqual([501, "NOT_IMPLEMENTED"]);
});

const asked = (path: string) => server.seen.filter(({ url }) => url.startsWith(path)).length;

test("a change that was found to be absent is not sent again", async () => {
  there = { "/api/jobs/a": { id: "a", status: "pending" }, "/api/jobs/b": { id: "b", status: "pending" }, "/api/jobs": jobs };
  for (const id of ["a", "b"]) expect(await ask("POST", `/api/jobs/${id}/cancel`)).toEqual([501, "NOT_IMPLEMENTED"]);
  expect(asked("/api/jobs/b")).toBe(0);
});

const changes: [string, string, unknown][] = [
  ["DELETE", "", undefined],
  ["PUT", "", { name: "b" }],
  ["DELETE", "/tags", { tags: ["x"] }],
];
test.each(changes)("%s of an asset%s is absent once two assets were refused that are there and may change", async (method, under, json) => {
  const change = (id: string) => ask(method, `/api/assets/${id}${under}`, json);
  there = Object.fromEntries(["a", "b"].map((id) => [`/api/assets/${id}`, { id }]));
  // The asset may belong to another user, which the answer does not tell.
  for (const _ of ["once", "again"]) expect(await change("a")).toEqual([404, "NOT_FOUND"]);
  expect(await change("b")).toEqual([501, "NOT_IMPLEMENTED"]);
  const before = asked("/api/assets");
  expect([await change("a"), asked("/api/assets")]).toEqual([[501, "NOT_IMPLEMENTED"], before]);
});

test.each([
  ["DELETE", ""],
  ["POST", "/move/z.json"],
])("%s of a file%s is absent once two files were refused that are listed", async (method, under) => {
  const change = (file: string) => ask(method, `/api/userdata/${encodeURIComponent(file)}${under}`);
  there = { "/api/userdata": ["x/a.json", { path: "b.json" }] };
  for (const file of ["x/a.json", "x/gone.json", "x/a.json"]) expect(await change(file)).toEqual([404, "NOT_FOUND"]);
  expect(await change("x/b.json")).toEqual([501, "NOT_IMPLEMENTED"]);
});

test.each(changes)("%s of an asset%s that may not change, and of one that is gone, says nothing of others", async (method, under, json) => {
  there = Object.fromEntries(["a", "b", "c"].map((id) => [`/api/assets/${id}`, { id, is_immutable: true }]));
  for (const id of ["a", "b", "c", "gone", "gone too"])
    expect(await ask(method, `/api/assets/${encodeURIComponent(id)}${under}`, json)).toEqual([404, "NOT_FOUND"]);
});

test("an operation that went through once is not taken for absent by what it refuses afterwards", async () => {
  there = Object.fromEntries(["a", "b"].map((id) => [`/api/assets/${id}`, { id }]));
  takes = "/api/assets/mine";
  expect((await harness.request(`/api/assets/mine?connection=${connection}`, { as: "operator", method: "DELETE" })).status).toBe(204);
  for (const id of ["a", "b"]) expect(await ask("DELETE", `/api/assets/${id}`)).toEqual([404, "NOT_FOUND"]);
});

test.each([
  ["/api/jobs/j/cancel", undefined],
  ["/api/interrupt", { prompt_id: "j" }],
])("POST %s of a job that has just ended is a 404, and others are asked for afterwards", async (path, json) => {
  for (const status of ["completed", "failed", "cancelled", "lost", "dreaming"]) {
    there = { "/api/jobs/j": { id: "j", status } };
    expect(await ask("POST", path, json)).toEqual([404, "NOT_FOUND"]);
  }
});

test("content that is gone is a 404 as it came, though its asset or its row in the list is there", async () => {
  there = { "/api/assets/a": { id: "a" }, "/api/userdata": ["/y.json"] };
  for (const [list, item] of [
    ["/api/assets", "/a/content"],
    ["/api/userdata", "/y.json"],
  ] as const) {
    expect(await ask("GET", list + item)).toEqual([404, "NOT_FOUND"]);
    expect(asked(list)).toBe(1);
  }
});

test("ids that a service does not know are no missing operation: others are cancelled afterwards", async () => {
  const submit = async () => {
    const prompt = {
      "1": { class_type: "Wait", inputs: { seconds: 600 } },
      "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
    };
    const answer = await harness.request("/api/prompt", { as: "operator", method: "POST", json: { prompt } });
    return String((await answer.json()).prompt_id);
  };
  const post = (path: string, json?: unknown) => harness.request(path, { as: "operator", method: "POST", json });
  expect((await post("/api/jobs/cancel", { job_ids: ["unknown"] })).status).toBe(404);
  expect((await post("/api/interrupt", { prompt_id: "unknown" })).status).toBe(404);
  expect(await (await post(`/api/jobs/${await submit()}/cancel`)).json()).toEqual({ cancelled: true });
  expect((await post("/api/interrupt", { prompt_id: await submit() })).status).toBe(200);
});
