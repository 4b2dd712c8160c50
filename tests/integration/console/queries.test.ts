// The data of pages: read through the same functions as by the handlers, with outages as values.
import { afterAll, beforeAll, expect, test } from "vitest";
import { assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { readViewer } from "@/lib/server/auth/viewer";
import { getFrame } from "@/lib/server/connections/views";
import { getAsset, listAssets } from "@/lib/server/queries/assets";
import { getJob, getQueue, listJobs, toQueueView } from "@/lib/server/queries/jobs";
import { createHarness, type Harness } from "@/tests/support/harness";
import { until } from "@/tests/support/until";

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
});
afterAll(() => harness.dispose());

const submit = async (prompt: object) => {
  const answer = await harness.request("/api/prompt", {
    as: "operator",
    method: "POST",
    json: { prompt, extra_data: { api_key_comfy_org: "partner-secret" } },
  });
  expect(answer.status).toBe(200);
  const { prompt_id } = await answer.json();
  return String(prompt_id);
};
const picture = (width: number) => ({
  "1": { class_type: "EmptyImage", inputs: { width, height: 8, batch_size: 1, color: 255 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "made" } },
});

test("a session cookie is read as the member whom the store knows", async () => {
  expect(await readViewer(harness.console, new Headers({ cookie: `a=b; ${harness.cookieOf("admin")}; c=d` }))).toEqual(
    harness.viewerOf("admin"),
  );
  expect(await readViewer(harness.console, new Headers())).toBeUndefined();
});

test("a job is submitted, listed, read and has its picture among the assets; addresses are the console's own", async () => {
  const context = harness.contextOf("viewer");
  const id = await submit(picture(16));
  const detail = await until("the job is completed", async () => {
    const job = await getJob(context, id);
    return job.ok && job.value.detail.status === "completed" && job.value;
  });
  expect(detail.status).toMatchObject({ id, status: expect.any(String) });
  expect(JSON.stringify(detail)).not.toContain("partner-secret");
  const jobs = await listJobs(context, jobsQuerySchema.parse({ status: "completed" }));
  expect(jobs.ok && jobs.value.jobs.map((job) => job.id)).toContain(id);
  const assets = await listAssets(context, assetsQuerySchema.parse({ include_tags: "output" }));
  if (!assets.ok) throw new Error(assets.failure.message);
  const asset = assets.value.assets.find((one) => one.prompt_id === id);
  expect(asset?.preview_url).toMatch(/^\/api\/view\?.*connection=embedded/);
  expect(await getAsset(context, asset?.id ?? "")).toMatchObject({ ok: true, value: { id: asset?.id } });
  expect(JSON.stringify(assets)).not.toContain("embedded.invalid");
});

test("the queue says what runs and what waits, in order", async () => {
  const wait = (seconds: number) => ({
    ...picture(8),
    "3": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
    "4": { class_type: "PreviewAny", inputs: { source: ["3", 0] } },
  });
  const first = await submit(wait(30));
  const [second, third] = [await submit(wait(31)), await submit(wait(32))];
  const view = await until("one runs and two wait", async () => {
    const queue = await getQueue(harness.contextOf("viewer"));
    return queue.ok && queue.value.running.length === 1 && queue.value.pending.length === 2 && queue.value;
  });
  expect(view.source).toBe("queue");
  expect(view.running[0]?.id).toBe(first);
  expect(view.pending.map(({ id, position }) => [id, position])).toEqual([
    [second, 1],
    [third, 2],
  ]);
  expect(view.total).toBe(3);
  const polled = await harness.request("/api/console/queue?connection=embedded", { as: "viewer" });
  expect(await polled.json()).toMatchObject({
    source: "queue",
    total: 3,
    pending: [
      { id: second, position: 1 },
      { id: third, position: 2 },
    ],
  });
  const cancel = await harness.request("/api/queue", { as: "operator", method: "POST", json: { delete: [second, first, "unknown"] } });
  expect(await cancel.json()).toMatchObject({ deleted: [second] });
  await harness.request("/api/queue", { as: "operator", method: "POST", json: { clear: true } });
  await harness.request("/api/interrupt", { as: "operator", method: "POST", json: {} });
});

test("without the extension the queue is made from the jobs alone", () => {
  const jobs = [
    { id: "a", status: "in_progress", create_time: 1 },
    { id: "b", status: "waiting_to_dispatch", create_time: 2 },
    { id: "c", status: "completed", create_time: 3 },
  ] as const;
  const full = jobs.map((job) => ({
    ...job,
    execution_error: undefined,
    preview_output: undefined,
    outputs_count: undefined,
    workflow_id: undefined,
    execution_start_time: undefined,
    execution_end_time: undefined,
    progress: undefined,
  }));
  const view = toQueueView(full, undefined);
  expect([view.source, view.running.map(({ id }) => id), view.pending.map(({ id }) => id)]).toEqual(["jobs", ["a"], ["b"]]);
});

test("a service that is down is a value that says so, and the frame is shown all the same", async () => {
  const down = await harness.connect("http://127.0.0.1:9", "k");
  const context = harness.contextOf("viewer");
  for (const result of [
    await listJobs(context, jobsQuerySchema.parse({}), down),
    await getJob(context, "x", down),
    await getQueue(context, down),
  ]) {
    expect(result).toMatchObject({ ok: false, failure: { code: "UPSTREAM_UNREACHABLE" } });
  }
  const frame = await getFrame(context, down);
  expect([frame.connection?.id, frame.connections.length]).toEqual([down, 2]);
  expect((await getFrame(context, "unknown")).connection?.id).toBe("embedded");
  // Members who only run apps see connections by name only.
  for (const view of (await getFrame(harness.contextOf("runner"), down)).connections) {
    expect(view).toMatchObject({ id: expect.any(String), name: expect.any(String), baseUrl: "" });
    for (const field of ["fingerprint", "accountUrl", "seenBy"]) expect(view).not.toHaveProperty(field);
  }
  expect((await getFrame(context)).connections).toMatchObject([{ id: "embedded", current: true, hasKey: true }, { id: down }]);
});
