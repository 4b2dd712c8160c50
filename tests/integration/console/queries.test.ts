// Pages and handlers read data through the same functions, which return failures as values. Also the account URLs of connections.
import { expect, test } from "vitest";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { getLayoutData } from "@/lib/server/connections/connection-views";
import { getJob, getQueue, listJobs, toQueueView } from "@/lib/server/queries/jobs";
import { createHarness } from "@/tests/support/harness";

const harness = await createHarness({ upstreamLimits: { readMs: 500, firstRetryMs: 1 } });
const UNREACHABLE_URL = "http://127.0.0.1:9";

test("builds the queue from jobs when the extension is missing", () => {
  const jobs = [
    { id: "a", status: "in_progress", create_time: 1 },
    { id: "b", status: "waiting_to_dispatch", create_time: 2 },
    { id: "c", status: "completed", create_time: 3 },
  ] as const;
  const texts = { execution_error: undefined, preview_output: undefined, workflow_id: undefined };
  const numbers = { outputs_count: undefined, execution_start_time: undefined, execution_end_time: undefined, progress: undefined };
  const fullJobs = jobs.map((job) => ({ ...job, ...texts, ...numbers }));
  const view = toQueueView(fullJobs, undefined);
  expect([view.source, view.running.map(({ id }) => id), view.pending.map(({ id }) => id)]).toEqual(["jobs", ["a"], ["b"]]);
});

test("returns layout data when a service is down", async () => {
  const downConnectionId = await harness.connect(UNREACHABLE_URL, "k");
  const context = harness.getContext("viewer");
  for (const result of [
    await listJobs(context, jobsQuerySchema.parse({}), downConnectionId),
    await getJob(context, "x", downConnectionId),
    await getQueue(context, downConnectionId),
  ]) {
    expect(result).toMatchObject({ ok: false, failure: { code: "UPSTREAM_UNREACHABLE" } });
  }
  const layout = await getLayoutData(context, downConnectionId);
  expect([layout.connection?.id, layout.connections.length]).toEqual([downConnectionId, 2]);
  expect((await getLayoutData(context, "unknown")).connection?.id).toBe("embedded");
  // Members who only run apps see connections by name only.
  for (const view of (await getLayoutData(harness.getContext("runner"), downConnectionId)).connections) {
    expect(view).toMatchObject({ id: expect.any(String), name: expect.any(String), baseUrl: "" });
    for (const field of ["fingerprint", "accountUrl", "seenBy"]) expect(view).not.toHaveProperty(field);
  }
  expect((await getLayoutData(context)).connections).toMatchObject([
    { id: "embedded", current: true, hasKey: true },
    { id: downConnectionId },
  ]);
});

async function saveConnection(method: "POST" | "PUT", path: string, json: object) {
  const response = await harness.request(`/api/console/connections${path}`, { as: "operator", method, json });
  return { status: response.status, body: await response.json() };
}
const createConnection = (accountUrl: string) =>
  saveConnection("POST", "", { name: "Cloud", keep: true, baseUrl: UNREACHABLE_URL, accountUrl });

test("keeps an account URL through a rename and removes it when set to empty", async () => {
  const { body } = await createConnection("https://account.example");
  const path = `/${body.connection.id}`;
  expect((await saveConnection("PUT", path, { name: "Renamed" })).body.connection.accountUrl).toBe("https://account.example");
  expect((await saveConnection("PUT", path, { accountUrl: "" })).body.connection).not.toHaveProperty("accountUrl");
  const { connections } = await (await harness.request("/api/console/connections", { as: "operator" })).json();
  expect(connections.find(({ id }: { id: string }) => id === body.connection.id)).not.toHaveProperty("accountUrl");
});

test("treats an empty account URL as none and names an invalid one", async () => {
  const response = await createConnection("");
  expect(response.status).toBe(201);
  expect(response.body.connection).not.toHaveProperty("accountUrl");
  const refusal = await createConnection("account.example");
  expect([refusal.status, refusal.body.details[0].path]).toEqual([400, "accountUrl"]);
  expect(refusal.body.message).toContain("http://");
});
