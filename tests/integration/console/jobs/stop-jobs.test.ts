// Stopping running jobs on services with different stop operations.
import { expect, test, vi } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const WRITE_MS = 60_000;
const harness = await createHarness({ upstreamLimits: { writeMs: WRITE_MS } });

const post = (path: string, json: unknown, as: "operator" | "viewer" = "operator") => harness.request(path, { as, method: "POST", json });

/** "silent": never responds. */
async function connect(operations: Record<string, [number, unknown] | "silent">, running: string[]) {
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
  const saveResponse = await post("/api/console/connections", { name: "Cloud", baseUrl: server.url, key: "k" });
  const { connection } = await saveResponse.json();
  const getBodies = (path: string) =>
    server.requests.filter(({ method, url }) => method === "POST" && url.startsWith(path)).map(({ body }) => body.toString());
  return {
    server,
    getBodies,
    canStop: async () =>
      (
        await harness.request(`/api/console/capabilities?of=jobs.stop&connection=${connection.id}`, { as: "operator" })
      ).json() as Promise<unknown>,
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
  expect([await older.canStop(), await core.canStop()]).toEqual([{ "jobs.stop": true }, { "jobs.stop": false }]);
  // The service listed the operation, but then refused it.
  expect(await older.stop(["a"])).toMatchObject({ unable: ["a"] });
  expect(await older.canStop()).toEqual({ "jobs.stop": false });
  expect([...core.getBodies("/api/interrupt"), ...core.getBodies("/api/jobs")]).toEqual([]);
});

test("interrupts a job when the service has no cancel operation", async () => {
  const { getBodies, stop } = await connect({ "POST /api/interrupt": [200, {}] }, ["a"]);
  expect(await stop(["a"])).toMatchObject({ stopped: [], stopping: ["a"], together: 0 });
  expect(getBodies("/api/interrupt")).toHaveLength(1);
});

test("doesn't interrupt while other jobs run", async () => {
  const { getBodies, stop } = await connect({ "POST /api/interrupt": [200, {}] }, ["a", "b"]);
  expect(await stop(["a"])).toMatchObject({ stopped: [], stopping: [], unable: ["a"], together: 2 });
  expect(getBodies("/api/interrupt")).toEqual([]);
});

test("skips the remaining jobs after one unanswered stop", async () => {
  const { server, getBodies, stop } = await connect(
    { "POST /api/jobs/a/cancel": [200, { cancelled: false }], "POST /api/jobs/b/cancel": "silent" },
    ["a", "b", "c", "d"],
  );
  server.requests.length = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const stopResponse = stop(["a", "b", "c", "d"]);
  while (getBodies("/api/jobs/").length < 2) await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(WRITE_MS);
  vi.useRealTimers();
  // The response about "a" arrived in time and is reported.
  expect(await stopResponse).toEqual({
    stopped: [],
    stopping: [],
    over: ["a"],
    unable: ["c", "d"],
    unsure: ["b"],
    together: 0,
  });
  expect(getBodies("/api/jobs/")).toHaveLength(2);
});

const notFound: [number, unknown] = [404, { code: "NOT_FOUND", message: "no" }];
const cancelNotFound = { "POST /api/jobs/a/cancel": notFound };
const jobA = (status: number, body: unknown = {}) => ({ ...cancelNotFound, "GET /api/jobs/a": [status, body] as [number, unknown] });

test("reports a job as over when it has ended or is missing", async () => {
  for (const operations of [jobA(404), jobA(200, { id: "a", status: "completed" }), jobA(200, { id: "a", status: "lost" })]) {
    const { server, stop } = await connect(operations, ["a"]);
    expect(await stop(["a"])).toMatchObject({ stopped: [], over: ["a"], unable: [] });
    await server.close();
  }
});

test("reports an unknown result when a job's state cannot be read", async () => {
  for (const status of [403, 429, 500, 503]) {
    const { server, getBodies, stop } = await connect(jobA(status, { code: "NO", message: "no" }), ["a"]);
    expect([status, await stop(["a"])]).toEqual([status, { stopped: [], stopping: [], over: [], unable: [], unsure: ["a"], together: 0 }]);
    expect(getBodies("/api/interrupt")).toEqual([]);
    await server.close();
  }
});

test("shows an already cancelling job as stopping, without an interrupt", async () => {
  for (const status of ["cancel_requested", "cancel_pending"]) {
    const { server, getBodies, stop } = await connect({ ...jobA(200, { id: "a", status }), "POST /api/interrupt": [200, {}] }, ["a"]);
    expect(await stop(["a"])).toMatchObject({ stopping: ["a"], over: [], unable: [] });
    expect(getBodies("/api/interrupt")).toEqual([]);
    await server.close();
  }
});

test("reports a job that ended before the interrupt as over", async () => {
  let reads = 0;
  const job = { id: "a", toJSON: () => ({ id: "a", status: ++reads === 1 ? "in_progress" : "completed" }) };
  const { getBodies, stop } = await connect({ ...jobA(200, job), "POST /api/interrupt": notFound }, ["a"]);
  expect(await stop(["a"])).toMatchObject({ over: ["a"], unable: [] });
  expect(getBodies("/api/interrupt")).toHaveLength(1);
});

test("reports jobs that the service cannot stop", async () => {
  const { stop } = await connect({}, ["a"]);
  expect(await stop(["a"])).toMatchObject({ stopped: [], stopping: [], unable: ["a"], together: 0 });
});

test("refuses a viewer's stop", async () => {
  expect((await post("/api/console/jobs/stop", { ids: ["a"] }, "viewer")).status).toBe(403);
});
