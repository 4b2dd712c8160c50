// Pages and handlers read data through the same functions, which return failures as values.
import { expect, test } from "vitest";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { getLayoutData } from "@/lib/server/connections/connection-views";
import { getJob, getQueue, listJobs, toQueueView } from "@/lib/server/queries/jobs";
import { createHarness } from "@/tests/support/harness";

const harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });

test("builds the queue from jobs when the extension is missing", () => {
  const jobs = [
    { id: "a", status: "in_progress", create_time: 1 },
    { id: "b", status: "waiting_to_dispatch", create_time: 2 },
    { id: "c", status: "completed", create_time: 3 },
  ] as const;
  const fullJobs = jobs.map((job) => ({
    ...job,
    execution_error: undefined,
    preview_output: undefined,
    outputs_count: undefined,
    workflow_id: undefined,
    execution_start_time: undefined,
    execution_end_time: undefined,
    progress: undefined,
  }));
  const view = toQueueView(fullJobs, undefined);
  expect([view.source, view.running.map(({ id }) => id), view.pending.map(({ id }) => id)]).toEqual(["jobs", ["a"], ["b"]]);
});

test("returns layout data when a service is down", async () => {
  const downConnectionId = await harness.connect("http://127.0.0.1:9", "k");
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
