// Stopping running jobs on services with different stop operations.
import { expect, test, vi } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const WRITE_MS = 60_000;
const harness = await createHarness({ upstreamLimits: { writeMs: WRITE_MS } });

const post = (path: string, json: unknown) => harness.request(path, { as: "operator", method: "POST", json });

type StopResponse = [number, unknown] | "silent";

/** "silent": never responds. */
async function connect(operations: Record<string, StopResponse>, running: string[]) {
  const server = await openTestServer(({ method, url }, response) => {
    const path = url.split("?")[0] ?? "";
    if (path === "/api/user") return sendJsonResponse(response, { status: "active" });
    if (path === "/api/jobs" && method === "GET") {
      const jobs = running.map((id) => ({ id, status: "in_progress", create_time: 1_767_225_600_000 }));
      return sendJsonResponse(response, { jobs, pagination: { offset: 0, limit: 1000, total: jobs.length, has_more: false } });
    }
    const job = running.find((id) => path === `/api/jobs/${id}`);
    if (job && method === "GET" && !operations[`GET ${path}`]) return sendJsonResponse(response, { id: job, status: "in_progress" });
    const result = operations[`${method} ${path}`] ?? [404, { code: "NOT_FOUND", message: "no such path" }];
    if (result !== "silent") sendJsonResponse(response, result[1], result[0]);
  });
  const { connection } = await (await post("/api/console/connections", { name: "Cloud", baseUrl: server.url, key: "k" })).json();
  const capabilitiesPath = `/api/console/capabilities?of=jobs.stop&connection=${connection.id}`;
  return {
    server,
    countPosts: (path: string) => server.requests.filter(({ method, url }) => method === "POST" && url.startsWith(path)).length,
    canStop: async () => (await (await harness.request(capabilitiesPath, { as: "operator" })).json())["jobs.stop"],
    stop: async (ids: string[]) => (await post(`/api/console/jobs/stop?connection=${connection.id}`, { ids })).json(),
  };
}

test("stops one running job by id and reports it as cancelled", async () => {
  const prompt = { "1": { class_type: "Wait", inputs: { seconds: 600 } }, "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } } };
  const { prompt_id } = await (await post("/api/prompt", { prompt })).json();
  const getState = async () => (await (await harness.request(`/api/jobs/${prompt_id}`, { as: "viewer" })).json()).status;
  await until("the job runs", async () => (await getState()) === "in_progress");
  const queue = await (await harness.request("/api/console/queue", { as: "viewer" })).json();
  expect(queue).toMatchObject({ canStop: true, running: [{ id: prompt_id }] });
  const result = await (await post("/api/console/jobs/stop", { ids: [prompt_id, "unknown"] })).json();
  expect(result).toEqual({ stopped: [prompt_id], stopping: [], over: ["unknown"], unable: [], together: 0 });
  expect(await getState()).toBe("cancelled");
});

test("reports whether running jobs can be stopped before a stop is requested", async () => {
  const older = await connect({ "GET /api/prompt": [200, { exec_info: { queue_remaining: 0 } }] }, ["a"]);
  const core = await connect({}, ["a"]);
  expect([await older.canStop(), await core.canStop()]).toEqual([true, false]);
  // The service listed the operation, but then refused it.
  expect(await older.stop(["a"])).toMatchObject({ stopped: [], stopping: [], unable: ["a"], together: 0 });
  expect(await older.canStop()).toBe(false);
  expect(core.countPosts("/api/")).toBe(0);
});

test("skips the remaining jobs after one unanswered stop", async () => {
  const { server, countPosts, stop } = await connect(
    { "POST /api/jobs/a/cancel": [200, { cancelled: false }], "POST /api/jobs/b/cancel": "silent" },
    ["a", "b", "c", "d"],
  );
  server.requests.length = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const stopResponse = stop(["a", "b", "c", "d"]);
  while (countPosts("/api/jobs/") < 2) await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(WRITE_MS);
  vi.useRealTimers();
  // The response about "a" arrived in time and is reported.
  expect(await stopResponse).toEqual({ stopped: [], stopping: [], over: ["a"], unable: ["c", "d"], unsure: ["b"], together: 0 });
  expect(countPosts("/api/jobs/")).toBe(2);
});

const notFound: StopResponse = [404, { code: "NOT_FOUND", message: "no" }];
const interrupt: Record<string, StopResponse> = { "POST /api/interrupt": [200, {}] };
const cancelling = { id: "a", status: "cancel_requested" };
/** A service without a cancel operation that returns this for the job "a". */
const jobA = (status: number, body: unknown = {}): Record<string, StopResponse> => ({
  "POST /api/jobs/a/cancel": notFound,
  "GET /api/jobs/a": [status, body],
});
let reads = 0;
const endingJob = { toJSON: () => ({ id: "a", status: ++reads === 1 ? "in_progress" : "completed" }) };
const noResults = { stopped: [], stopping: [], over: [], unable: [], together: 0 };

test.each<[string, Record<string, StopResponse>, string[], object, number]>([
  ["stopping when only an interrupt exists", interrupt, ["a"], { stopping: ["a"] }, 1],
  ["unable while other jobs run", interrupt, ["a", "b"], { unable: ["a"], together: 2 }, 0],
  ["over when it is missing", jobA(404), ["a"], { over: ["a"] }, 0],
  ["over when it has ended", jobA(200, { id: "a", status: "completed" }), ["a"], { over: ["a"] }, 0],
  ["over when it ended before the interrupt", { ...jobA(200, endingJob), "POST /api/interrupt": notFound }, ["a"], { over: ["a"] }, 1],
  ["stopping when it is cancelling", { ...jobA(200, cancelling), ...interrupt }, ["a"], { stopping: ["a"] }, 0],
  ["unsure when its state is forbidden", jobA(403, { code: "NO", message: "no" }), ["a"], { unsure: ["a"] }, 0],
  ["unsure when its state can't be read", jobA(503, { code: "NO", message: "no" }), ["a"], { unsure: ["a"] }, 0],
])("reports a job as %s", async (_, operations, running, expected, interrupts) => {
  const { countPosts, stop } = await connect(operations, running);
  expect(await stop(["a"])).toEqual({ ...noResults, ...expected });
  expect(countPosts("/api/interrupt")).toBe(interrupts);
});
