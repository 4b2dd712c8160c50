// Lists with some unreadable entries show the others and count the unreadable ones.
import fc from "fast-check";
import { expect, test } from "vitest";
import { connectLocalServer, connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { startLocalServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness({ upstreamLimits: { attempts: 1 } });

/** Responds to every read with `body()`; strings are sent unchanged. */
const connect = (body: () => unknown) =>
  connectService(harness, (_, response) => {
    const value = body();
    if (typeof value !== "string") return sendJsonResponse(response, value);
    response.writeHead(200, { "content-type": "application/json" }).end(value);
  });

const validEntry = { id: "job-1", status: "pending", create_time: 1_767_225_600_000 };
const pagination = { offset: 0, limit: 100, total: 5, has_more: false };
const asset = { id: "5f0c7a5e-0000-4000-8000-000000000001", name: "a.png", tags: [] };

type Lists = { path: string; validEntry: unknown; wrap(entries: unknown[]): unknown; read(body: never): unknown[] };
const lists: Lists[] = [
  { path: "/api/jobs", validEntry, wrap: (jobs) => ({ jobs, pagination }), read: ({ jobs }) => jobs },
  { path: "/api/console/queue", validEntry, wrap: (jobs) => ({ jobs, pagination }), read: ({ pending }) => pending },
  {
    path: "/api/history_v2?max_items=10",
    validEntry: { prompt_id: "job-1" },
    wrap: (history) => ({ history }),
    read: ({ history }) => history,
  },
  { path: "/api/assets", validEntry: asset, wrap: (assets) => ({ assets, total: 2, has_more: false }), read: ({ assets }) => assets },
  {
    path: "/api/queue",
    validEntry: [1, "job-1", {}, [], {}],
    wrap: (queue_pending) => ({ queue_running: [], queue_pending }),
    read: ({ queue_pending }) => queue_pending,
  },
  {
    path: "/api/tags",
    validEntry: { name: "cat", count: 2 },
    wrap: (tags) => ({ tags, total: 1, has_more: false }),
    read: ({ tags }) => tags,
  },
  { path: "/api/tasks", validEntry: { id: "task-1", status: "running" }, wrap: (tasks) => ({ tasks }), read: ({ tasks }) => tasks },
  { path: "/api/jobs/job-1/assets", validEntry: asset, wrap: (assets) => ({ assets }), read: ({ assets }) => assets },
];
const invalidEntries = [null, 7, true, []];

test.each(lists)("shows the readable rows of $path and counts the others", async ({ path, validEntry: entry, wrap, read }) => {
  const { send } = await connect(() => wrap([...invalidEntries, entry, ...invalidEntries]));
  const response = await send(path);
  expect(response.status).toBe(200);
  const body = await response.json();
  expect(read(body as never)).toHaveLength(1);
  expect(body).toMatchObject({ unreadable: 2 * invalidEntries.length });
});

test.each([
  ["/api/userdata?dir=workflows/", [{ path: "a.json" }, ...invalidEntries]],
  ["/api/history", { "job-1": {}, ...Object.fromEntries(invalidEntries.map((entry, index) => [`bad-${index}`, entry])) }],
])("counts the unreadable rows of %s in a header", async (path, body) => {
  const response = await (await connect(() => body)).send(path);
  expect(Object.keys(await response.json())).toHaveLength(1);
  expect(response.headers.get("x-lightdesk-unreadable")).toBe(String(invalidEntries.length));
});

test("counts unreadable rows in a list parsed by a worker", async () => {
  const files = Array.from({ length: 20_000 }, (_, index) => ({ path: `${index}-${"a".repeat(60)}.json`, size: 2 }));
  const response = await (await connect(() => [...files, null])).send("/api/userdata?dir=workflows/");
  expect(await response.json()).toHaveLength(files.length);
  expect(response.headers.get("x-lightdesk-unreadable")).toBe("1");
});

test("returns 200 for any content in a list of jobs", async () => {
  let entries: unknown[] = [];
  const { send } = await connect(() => ({ jobs: [validEntry, ...entries], history: [{ prompt_id: "job-1" }, ...entries], pagination }));
  const fields = ["create_time", "workflow_id", "outputs_count", "execution_start_time", "preview_output", "execution_error", "progress"];
  const row = fc
    .dictionary(fc.constantFrom(...fields), fc.jsonValue())
    .map((changes) => ({ ...validEntry, prompt_id: "job-1", ...changes }));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.jsonValue(), row), { maxLength: 5 }), async (rows) => {
      entries = rows;
      for (const path of ["/api/jobs", "/api/console/queue", "/api/history_v2?max_items=10"]) expect((await send(path)).status).toBe(200);
    }),
    { numRuns: 20 },
  );
});

test("lists a job without its damaged field", async () => {
  const fields = `"outputs_count":1e400,"create_time":99999999999999999999999,"workflow_id":{"a":[NaN,-Infinity]},"preview_output":[]`;
  const text = `{"jobs":[{"id":"job-1","status":"failed",${fields}}],"pagination":{"offset":NaN,"total":"many"}}`;
  const { getJson } = await connect(() => text);
  expect(await getJson("/api/jobs")).toMatchObject({ jobs: [{ id: "job-1", status: "failed" }], pagination: { offset: 0 } });
});

test("shows the readable parts of a damaged job", async () => {
  const messages = [null, ["execution_start"], ["execution_start", { timestamp: 1_767_225_600_000 }]];
  const job = { id: "job-1", status: 3, create_time: {}, workflow: "none", execution_status: { status_str: 1, messages }, progress: 7 };
  const { getJson } = await connect(() => ({ ...job, outputs: { "1": null, "2": { text: ["kept"] } }, execution_meta: { "1": 4 } }));
  const body = await getJson("/api/jobs/job-1");
  expect(body).toMatchObject({ id: "job-1", status: "unknown", outputs: { "2": { text: ["kept"] } } });
  expect(body.execution_status.messages).toEqual([messages[2]]);
});

test.each([{ isOld: true }, { isOld: false }])(
  "skips damaged entries of a local history and queue (older server: $isOld)",
  async ({ isOld }) => {
    const local = await startLocalServer(undefined, { isOld });
    const { connection, send, getJson } = await connectLocalServer(harness, local.url);
    const waiting = local.submit();
    const [prompt, damaged] = [[1, "x", {}, { extra_pnginfo: { workflow: null } }, []], 7];
    const readableEntry = {
      prompt,
      outputs: { "1": null, "2": { text: ["kept"] } },
      status: { status_str: "success", messages: [null, ["execution_start", {}]] },
    };
    const entries = {
      "job-1": readableEntry,
      "bad-1": null,
      "bad-2": "text",
      "bad-3": { outputs: {} },
      "bad-4": { ...readableEntry, prompt: "none" },
    };
    for (const [id, entry] of Object.entries(entries)) local.state.history.set(id, entry as never);
    local.state.pending.push(damaged as never);
    const history = await getJson("/api/history_v2?max_items=10");
    expect(history).toMatchObject({ history: [{ prompt_id: "job-1" }], unreadable: 4 });
    const { jobs, unreadable } = await getJson("/api/jobs");
    expect(jobs.map(({ id }: { id: string }) => id)).toEqual([waiting, "job-1"]);
    expect(unreadable).toBe(5);
    const queue = await getJson("/api/queue");
    expect([queue.queue_pending.length, queue.queue_pending[0][1], queue.unreadable]).toEqual([1, waiting, 1]);
    for (const status of ["completed", "pending"]) expect((await send(`/api/jobs?status=${status}&limit=1`)).status).toBe(200);
    expect(await getJson("/api/jobs/bad-4")).toMatchObject({
      id: "bad-4",
      status: "completed",
      outputs: { "2": readableEntry.outputs["2"] },
    });
    expect(await getJson("/api/jobs/bad-2")).toMatchObject({ id: "bad-2", status: "unknown" });
    const checkResponse = await harness.request(`/api/console/connections/${connection}/check`, { as: "owner", method: "POST" });
    expect(await checkResponse.json()).toMatchObject({ check: { outcome: "active" } });
  },
);

test("reports unreadable jobs in a list and at the end of an export", async () => {
  let jobs: object[] = [{ id: 7, status: "pending" }, { status: "completed" }];
  const { getJson, send } = await connect(() => ({ jobs, pagination }));
  expect(await getJson("/api/jobs")).toMatchObject({ jobs: [], unreadable: 2 });
  jobs = [validEntry, { status: "completed" }];
  const lines = (await (await send("/api/console/jobs/export?format=csv")).text()).trim().split("\r\n");
  expect(lines[1]).toMatch(/^job-1,/);
  expect(lines.at(-1)).toMatch(/^INCOMPLETE: 1 of 5 jobs\. UNPROCESSABLE: 1 job in the list could not be read/);
});

test("rejects a list that is invalid for another reason", async () => {
  const { send } = await connect(() => ({ jobs: [validEntry, null], pagination: "none" }));
  expect((await send("/api/jobs")).status).toBe(502);
});
