// Expected durations of running and waiting jobs, from earlier runs of the same workflow.
import { expect, it } from "vitest";
import { createRunKey, createRunKeyCache, findExpectedRuns, toExpectedRun } from "@/lib/server/job-index/expected-runs";
import { createConnectionClient } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { until } from "@/tests/support/until";

const harness = await createHarness();
const { store, runKeys } = harness.console;
const { getJson, post } = createConnectionClient(harness, "embedded");

const START_MS = Date.UTC(2026, 2, 1);
const createGraph = (color: number, seconds: number) => ({
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color } },
  "2": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: `colour-${color}` } },
});
const getJob = (id: string) => getJson(`/api/jobs/${id}`);
const submit = async (color: number, seconds = 0.02): Promise<string> =>
  (await (await post("/api/prompt", { prompt: createGraph(color, seconds) }, { as: "operator" })).json()).prompt_id;

type RunFields = { status?: string; runner_id?: string; workflow_id?: string };
/** Creates a job index update for a run of this duration. */
const createRun = (jobId: string, runMs: number, { status = "completed", ...fields }: RunFields) => ({
  jobId,
  createdMs: Number(jobId),
  item: { status, ...fields, execution_start_time: START_MS, execution_end_time: START_MS + runMs },
});
const connect = () => harness.connect("http://127.0.0.1:9", "sk-key");

it("expects a job to take as long as its workflow's earlier runs", async () => {
  for (const color of [1, 2, 3]) {
    const id = await submit(color);
    await until("the run has ended", async () => (await getJob(id)).status === "completed");
  }
  await harness.console.jobIndex.flush();
  const { jobs } = await getJson("/api/jobs");
  const runsMs = jobs.map((job: Record<string, number>) => job.execution_end_time! - job.execution_start_time!);
  expect(runsMs).toHaveLength(3);
  expect(jobs.some((job: object) => "expected_run" in job)).toBe(false);
  const blockingId = await submit(4, 600);
  await until("the blocking job runs", async () => (await getJob(blockingId)).status === "in_progress");
  const fourthId = await submit(5);
  expect((await getJob(fourthId)).expected_run).toEqual(toExpectedRun(runsMs));
  const queue = await getJson("/api/console/queue");
  expect(queue.pending.map((job: Record<string, unknown>) => job.expected_run)).toEqual([toExpectedRun(runsMs)]);
  // A workflow with another duration has no earlier runs.
  expect(queue.running).toMatchObject([{ id: blockingId, runner_id: "built-in" }]);
  expect(queue.running[0]).not.toHaveProperty("expected_run");
});

it("compares completed runs on the job's runner, and on all runners until it has one", async () => {
  const connection = await connect();
  const runs = [
    createRun("1", 10_000, { runner_id: "fast" }),
    createRun("2", 20_000, { runner_id: "fast" }),
    createRun("3", 60_000, { runner_id: "slow" }),
    createRun("4", 80_000, { runner_id: "slow" }),
    createRun("5", 70_000, { runner_id: "slow", status: "failed" }),
    createRun("6", 90_000, { runner_id: "rare" }),
  ];
  for (const jobId of ["1", "2", "3", "4", "5", "6", "7"]) runKeys.recordGraph(connection, jobId, createGraph(Number(jobId), 1));
  await store.jobIndexStore.recordJobs(connection, runKeys.addRunKeys(connection, runs), 100);
  const findExpected = async (runner_id?: string) => {
    const job = { id: "7", status: runner_id ? "in_progress" : "pending", runner_id };
    return (await findExpectedRuns(harness.console, connection, [job])).get(job.id);
  };
  expect(await findExpected("fast")).toEqual(toExpectedRun([10_000, 20_000]));
  expect(await findExpected("slow")).toEqual(toExpectedRun([60_000, 80_000]));
  expect(await findExpected("rare")).toBeUndefined();
  expect(await findExpected()).toEqual(toExpectedRun([10_000, 20_000, 60_000, 80_000, 90_000]));
  // After a restart, the keys are read from the job index.
  const afterRestart = { store, runKeys: createRunKeyCache() };
  const running = { jobId: "8", runKey: runKeys.find(connection, "7"), createdMs: 8, item: { status: "in_progress" } };
  await store.jobIndexStore.recordJobs(connection, [running], 100);
  const expectedRuns = await findExpectedRuns(afterRestart, connection, [{ id: "8", status: "in_progress", runner_id: "fast" }]);
  expect(expectedRuns.get("8")).toEqual(toExpectedRun([10_000, 20_000]));
});

it("compares runs of a workflow whose graphs are unknown by its id", async () => {
  const connection = await connect();
  const runs = [
    createRun("1", 10_000, { workflow_id: "w" }),
    createRun("2", 20_000, { workflow_id: "w" }),
    createRun("3", 50_000, { workflow_id: "w", status: "cancelled" }),
    createRun("4", 90_000, { workflow_id: "v" }),
  ];
  await store.jobIndexStore.recordJobs(connection, runs, 100);
  const findExpected = async (job: object) =>
    (await findExpectedRuns(harness.console, connection, [{ id: "9", status: "pending", ...job }])).get("9");
  expect(await findExpected({ workflow_id: "w" })).toEqual(toExpectedRun([10_000, 20_000]));
  expect(await findExpected({ workflow_id: "v" })).toBeUndefined();
  expect(await findExpected({})).toBeUndefined();
  // Runs of the same graph take precedence.
  runKeys.recordGraph(connection, "9", createGraph(9, 1));
  expect(await findExpected({ workflow_id: "w" })).toEqual(toExpectedRun([10_000, 20_000]));
  const submitted = [createRun("5", 70_000, { workflow_id: "w" }), createRun("6", 80_000, { workflow_id: "w" })];
  for (const { jobId } of submitted) runKeys.recordGraph(connection, jobId, createGraph(5, 1));
  await store.jobIndexStore.recordJobs(connection, runKeys.addRunKeys(connection, submitted), 100);
  expect(await findExpected({ workflow_id: "w" })).toEqual(toExpectedRun([70_000, 80_000]));
});

it("treats graphs as one workflow unless nodes, links or costly values differ", () => {
  const node = (class_type: string, inputs: object) => ({ class_type, inputs });
  const sampler = { model: ["1", 0], latent_image: ["2", 0], seed: 1, cfg: 7, steps: 20, sampler_name: "euler" };
  const graph = {
    "1": node("CheckpointLoaderSimple", { ckpt_name: "small.safetensors" }),
    "2": node("EmptyLatentImage", { width: ["4", 0], height: 512, batch_size: 1 }),
    "3": node("KSampler", sampler),
    "4": node("PrimitiveInt", { value: 512, seed: 1 }),
    "5": node("CLIPTextEncode", { text: "a fjord", clip: ["1", 1] }),
    "6": node("PrimitiveInt", { value: 7 }),
  };
  const getKeyWith = (change: object) => createRunKey({ ...graph, ...change });
  const key = getKeyWith({});
  expect(key).toMatch(/^[\w-]{22}$/);
  const sameGraphs = [
    { "3": node("KSampler", { ...sampler, seed: 2 ** 53, cfg: 8, guidance_scale: 3 }) },
    { "5": node("CLIPTextEncode", { text: "a harbour at night", clip: ["1", 1] }) },
    { "4": node("PrimitiveInt", { value: 512, seed: 2 }) },
    { "6": node("PrimitiveInt", { value: 8 }) },
    { "3": { inputs: Object.fromEntries(Object.entries(sampler).reverse()), class_type: "KSampler", _meta: { title: "Mine" } } },
  ];
  expect(sameGraphs.map(getKeyWith)).toEqual(sameGraphs.map(() => key));
  const otherGraphs = [
    { "1": node("CheckpointLoaderSimple", { ckpt_name: "large.safetensors" }) },
    { "2": node("EmptyLatentImage", { width: ["4", 0], height: 1024, batch_size: 1 }) },
    { "2": node("EmptyLatentImage", { width: ["4", 0], height: 512, batch_size: 4 }) },
    { "3": node("KSampler", { ...sampler, steps: 40 }) },
    { "3": node("KSampler", { ...sampler, model: ["5", 0] }) },
    { "3": node("KSamplerAdvanced", sampler) },
    { "4": node("PrimitiveInt", { value: 1024, seed: 1 }) },
    { "7": node("SaveImage", {}) },
    { "7": node("ImageScaleBy", { scale_by: 2 }) },
    { "7": node("ImageScaleBy", { scale_by: 4 }) },
  ];
  expect(new Set([key, ...otherGraphs.map(getKeyWith)]).size).toBe(otherGraphs.length + 1);
  for (const invalidGraph of [undefined, null, "graph", []]) expect(createRunKey(invalidGraph)).toBeUndefined();
  expect(createRunKey({ "1": null, "2": { inputs: [1] }, "3": { inputs: { width: ["1"] } } })).toBeDefined();
});
