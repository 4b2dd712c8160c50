// That a service lacks an operation is told from an item that is gone in one place, and every route answers it alike: 501 NOT_IMPLEMENTED.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
let server: LittleServer;
let connection: string;
/** What is there, by path. Everything else is a 404 in words that say nothing of what is missing. */
let there: Record<string, unknown>;
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
  server = await startLittleServer(({ method, url }, response) => {
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
  server.seen.length = 0;
  connection = await harness.connect(server.url, "k");
});

const jobs = { jobs: [], pagination: { offset: 0, limit: 1, total: 0, has_more: false } };
const cases: [string, string, unknown, Record<string, unknown>][] = [
  ["DELETE", "/api/assets/a", undefined, { "/api/assets/a": { id: "a" } }],
  ["PUT", "/api/assets/a", { name: "b" }, { "/api/assets/a": { id: "a" } }],
  ["DELETE", "/api/assets/a/tags", { tags: ["x"] }, { "/api/assets/a": { id: "a" } }],
  ["GET", "/api/assets/a/content", undefined, { "/api/assets/a": { id: "a" } }],
  ["POST", "/api/jobs/j/cancel", undefined, { "/api/jobs/j": { id: "j", status: "pending" } }],
  ["POST", "/api/interrupt", { prompt_id: "j" }, { "/api/jobs/j": { id: "j", status: "in_progress" } }],
  ["GET", "/api/jobs/j/assets", undefined, { "/api/jobs/j": { id: "j", status: "completed" } }],
  ["DELETE", "/api/tasks/t", undefined, { "/api/tasks/t": { id: "t", status: "running" } }],
  ["DELETE", "/api/userdata/x%2Fy.json", undefined, { "/api/userdata": [{ path: "y.json" }] }],
  ["GET", "/api/userdata/y.json", undefined, { "/api/userdata": ["/y.json"] }],
  ["POST", "/api/userdata/x%2Fy.json/move/z.json", undefined, { "/api/userdata": ["x/y.json"] }],
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

test("a change that was found to be absent is not sent again, and a read of one item says nothing of others", async () => {
  there = { "/api/assets/a": { id: "a" }, "/api/jobs": jobs };
  const asked = (path: string) => server.seen.filter(({ url }) => url.startsWith(path)).length;
  for (const id of ["a", "b"]) expect(await ask("DELETE", `/api/assets/${id}`)).toEqual([501, "NOT_IMPLEMENTED"]);
  expect(asked("/api/assets/b")).toBe(0);
  expect(await ask("GET", "/api/assets/a/content")).toEqual([501, "NOT_IMPLEMENTED"]);
  expect(await ask("GET", "/api/assets/b/content")).toEqual([404, "NOT_FOUND"]);
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
