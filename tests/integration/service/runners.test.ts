// Jobs that run on local servers, from submission to results.
import { describe, expect, it } from "vitest";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { until } from "@/tests/support/until";
import { createModelGraph, createModelImage, startRunnerService, waitUntilRunning } from "./runner-service";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createLoadGraph,
  fetchBytes,
  getRecord,
  type Json,
  listJobs,
  readJob,
  runGraph,
  submitGraph,
  waitForEnd,
  waitForStart,
} from "./support";

describe("jobs on runners", () => {
  const getLabel = (job: Json) => asRecord(job.runner).label;

  it("returns a runner's outputs with node, name and runner", async () => {
    const { client, addRunner, readRunner } = await startRunnerService();
    const server = await addRunner();
    const id = await submitGraph(client, createModelGraph(), { extra_data: { extra_pnginfo: { workflow: { id: "x" } } } });
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 }, outputs_count: 1 });
    const [image] = asRecords(asRecord(asRecord(job.outputs)["3"]).images);
    expect(image).toMatchObject({ display_name: "house_00001_.png", type: "output" });
    expect((await fetchBytes(client, `/api/view?filename=${asString(image?.filename)}`)).equals(createModelImage(1))).toBe(true);
    expect(Object.keys(asRecord(job.execution_meta))).toEqual(["1", "2", "3"]);
    // The runner receives the exact graph without any key.
    expect(server.seen.submissions).toHaveLength(1);
    expect(server.seen.submissions[0]).toMatchObject({
      prompt: createModelGraph(),
      extra_data: { extra_pnginfo: { workflow: { id: "x" } } },
    });
    const runner = await readRunner();
    expect(runner).toMatchObject({ state: "ready", done: 1, failed: 0, running: 0, version: "0.27.0", classes: 5 });
    expect(runner?.devices).toEqual([{ name: "gpu 0", type: "cuda", vramTotal: 8e9, vramFree: 4e9 }]);
    // The built-in runner runs the jobs that it supports.
    const ownJob = await runGraph(client, createColorGraph(3));
    expect(ownJob).toMatchObject({ status: "completed", runner: { id: "built-in", label: "Built-in", attempt: 1 } });
  });

  it("merges classes and models of all runners and reports missing ones", async () => {
    const { client, service, addRunner } = await startRunnerService();
    expect((await client.post("/api/prompt", { prompt: createModelGraph() })).body).toMatchObject({ error: { type: "missing_node_type" } });
    await addRunner("A");
    await addRunner("B", { models: ["two.safetensors"] });
    const info = await getRecord(client, "/api/object_info");
    expect(asRecord(asRecord(asRecord(info.LoadModel).input).required).model).toEqual([["one.safetensors", "two.safetensors"], {}]);
    // Files on a runner aren't offered as inputs.
    expect(JSON.stringify(info.LoadImage)).not.toContain("on-the-runner");
    const catalogueRows = await service.queryRows<{ text: string }>("SELECT text FROM runner_catalogues");
    expect(catalogueRows).toHaveLength(2);
    expect(JSON.stringify(catalogueRows)).not.toContain("on-the-runner");
    const combinedGraph = {
      ...createModelGraph("one.safetensors"),
      "4": { class_type: "LoadModel", inputs: { model: "two.safetensors" } },
      "5": { class_type: "Sample", inputs: { model: ["4", 0], seed: 1, prompt: "" } },
      "6": { class_type: "SaveImage", inputs: { images: ["5", 0], filename_prefix: "x" } },
    };
    const error = asRecord(asRecord((await client.post("/api/prompt", { prompt: combinedGraph })).body).error);
    expect(error.type).toBe("no_runner");
    expect(error.details).toContain("A lacks two.safetensors for model of LoadModel");
    expect(error.details).toContain("B lacks one.safetensors for model of LoadModel");
    expect(getLabel(await runGraph(client, createModelGraph("two.safetensors")))).toBe("B");
  });

  it("prefers the runner with the model loaded, then the least busy one", async () => {
    const { client, addRunner } = await startRunnerService();
    const models = ["one.safetensors", "two.safetensors"];
    const a = await addRunner("A", { models });
    await addRunner("B", { models });
    a.setMode("hold");
    const blockingId = await submitGraph(client, createModelGraph("one.safetensors", 1));
    await waitUntilRunning(a);
    expect(getLabel(await runGraph(client, createModelGraph("two.safetensors", 2)))).toBe("B");
    a.release();
    a.setMode("run");
    expect(getLabel(await waitForEnd(client, blockingId))).toBe("A");
    // Both are free, so the model decides.
    expect(getLabel(await runGraph(client, createModelGraph("two.safetensors", 3)))).toBe("B");
    expect(getLabel(await runGraph(client, createModelGraph("one.safetensors", 4)))).toBe("A");
  });

  it("sends an input once by hash and reports it by its own name", async () => {
    const { client, addRunner, changeRunner } = await startRunnerService();
    const server = await addRunner();
    await changeRunner("Built-in", "paused");
    await client.upload(new Uint8Array(createModelImage(5)), "cat.png", { tags: '["input"]' });
    expect(await runGraph(client, createLoadGraph("cat.png", "a"))).toMatchObject({
      status: "completed",
      runner: { label: "GPU" },
    });
    server.setMode("fail");
    const failedJob = await runGraph(client, createLoadGraph("cat.png", "b"));
    expect(server.seen.uploads).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.png$/)]);
    const [name] = server.seen.uploads;
    expect(server.seen.submissions[0]).toMatchObject({ prompt: { "1": { inputs: { image: name } } } });
    expect(failedJob).toMatchObject({
      status: "failed",
      execution_error: { node_id: "2", node_type: "SaveImage", exception_type: "RuntimeError", traceback: ["line 1\n"] },
      workflow: { prompt: createLoadGraph("cat.png", "b") },
    });
    expect(asRecord(failedJob.execution_error).exception_message).toContain('"image":"cat.png"');
  });

  it("accepts inputs with matched types, growing lists and exact numbers", async () => {
    const { client, addRunner } = await startRunnerService();
    const createClass = (required: Json, output: string[]) => ({ input: { required }, output, output_name: output, output_node: false });
    const batchImages = { template: { input: { required: { image: ["IMAGE", {}] } }, prefix: "image" } };
    const batchKinds = ["COMBO", { options: ["a", "b", "c"], multiselect: true }];
    const server = await addRunner("GPU", {
      objectInfo: {
        ...createGpuClasses(["one.safetensors"]),
        Resize: createClass({ input: ["COMFY_MATCHTYPE_V3", {}], factor: ["FLOAT", { max: "endless" }] }, ["COMFY_MATCHTYPE_V3"]),
        Batch: createClass({ images: ["COMFY_AUTOGROW_V3", batchImages], kinds: batchKinds }, ["IMAGE"]),
      },
      prepare: ({ faults }) =>
        faults.set("GET /object_info", async (_request, response, real) => {
          const end = response.end.bind(response);
          response.end = ((text: string) => end(text.replace('"endless"', "Infinity"))) as never;
          await real();
        }),
    });
    await client.upload(new Uint8Array(createModelImage(5)), "cat.png", { tags: '["input"]' });
    const graph = {
      "1": { class_type: "LoadImage", inputs: { image: "cat.png" } },
      "2": { class_type: "Resize", inputs: { input: ["1", 0], factor: 1e9 } },
      "3": { class_type: "Batch", inputs: { "images.image0": ["2", 0], kinds: { __value__: ["a", "c"] } } },
      "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "x" } },
    };
    expect(await runGraph(client, graph)).toMatchObject({ status: "completed", runner: { label: "GPU" } });
    expect(server.seen.submissions[0]).toMatchObject({ prompt: { "1": { inputs: { image: server.seen.uploads[0] } } } });
  });

  it("starts a job on a free runner while another accepts one", async () => {
    const { client, addRunner } = await startRunnerService({ runnerCheckMs: 3_600_000 });
    const servers = [await addRunner("A"), await addRunner("B", { models: ["two.safetensors"] })];
    for (const server of servers) server.setMode("hold");
    const ids = await Promise.all(["one.safetensors", "two.safetensors"].map((model) => submitGraph(client, createModelGraph(model))));
    for (const id of ids) await waitForStart(client, id);
    for (const server of servers) await waitUntilRunning(server);
    for (const server of servers) server.release();
    for (const id of ids) expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
  });

  it("reports progress, previews and a node's outputs while others still run", async () => {
    const { client, key, service, addRunner } = await startRunnerService();
    const server = await addRunner("GPU", {
      makeOutput: (_node, nodeId) => ({ files: [{ name: `of-${nodeId}.png`, bytes: createModelImage(Number(nodeId)) }] }),
    });
    const received: { type: string; data: Json }[] = [];
    const feed = await service.service.subscribe(key, "me", (item) => {
      const message = typeof item === "string" ? asRecord(JSON.parse(item)) : { type: "preview", data: {} };
      received.push({ type: asString(message.type), data: asRecord(message.data ?? {}) });
    });
    const listExecuted = () => received.flatMap(({ type, data }) => (type === "executed" ? [data] : []));
    server.setMode("hold the last");
    const lateSaveNode = { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "late" } };
    const id = await submitGraph(client, { ...createModelGraph(), "4": lateSaveNode }, { client_id: "me" });
    await until("the first image is reported", () => listExecuted().length > 0);
    const [firstReport] = listExecuted();
    expect(firstReport).toMatchObject({ node: "3", prompt_id: id });
    const [image] = asRecords(asRecord(firstReport?.output).images);
    const earlyImage = await fetchBytes(client, `/api/view?filename=${asString(image?.filename)}&type=output`);
    expect(earlyImage.equals(createModelImage(3))).toBe(true);
    const progress = await until("the progress is reported", async () => {
      const { progress } = await readJob(client, id);
      return progress !== undefined && asRecord(progress).current_node === "4" && asRecord(progress).step === 1 && progress;
    });
    expect(progress).toMatchObject({ current_node: "4", step: 1, steps: 2, nodes_total: 4 });
    await until("a preview has arrived", () => received.some(({ type }) => type === "preview"));
    server.release();
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", outputs_count: 2, outputs: { "3": firstReport?.output } });
    expect(received.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["execution_start", "execution_cached", "executing", "progress", "preview", "executed", "execution_success"]),
    );
    expect(listExecuted().map(({ node }) => node)).toEqual(["3", "4"]);
    expect(server.seen.views.filter((name) => name === "of-3.png")).toHaveLength(1);
    feed?.stop();
  });

  it("interrupts a running job and dequeues a pending one separately", async () => {
    const { client, addRunner } = await startRunnerService();
    const server = await addRunner("GPU", { slots: 2 });
    server.setMode("hold");
    const first = await submitGraph(client, createModelGraph("one.safetensors", 1));
    await waitForStart(client, first);
    const second = await submitGraph(client, createModelGraph("one.safetensors", 2));
    await until("both jobs are at the runner", () => server.queue().running !== undefined && server.queue().pending.length === 1);
    const [runningId, pendingId] = [server.queue().running, server.queue().pending[0]];
    await client.post(`/api/job/${second}/cancel`);
    await until("the second job is removed", () => server.queue().pending.length === 0);
    expect(new Set(server.seen.deletes)).toEqual(new Set([pendingId]));
    expect(server.queue().running).toBe(runningId);
    await client.post("/api/interrupt", { prompt_id: first });
    await until("the first job is removed", () => server.queue().running === undefined);
    expect(server.seen.interrupts).toEqual([runningId]);
    for (const id of [first, second]) expect(await readJob(client, id)).toMatchObject({ status: "cancelled", outputs_count: 0 });
  });

  it("never interrupts other clients' jobs on servers without ids", async () => {
    const { client, addRunner } = await startRunnerService();
    const server = await addRunner("GPU", { isOld: true });
    server.setMode("hold");
    server.submitAsOtherClient(createModelGraph() as never);
    await waitUntilRunning(server);
    const id = await submitGraph(client, createModelGraph());
    await until("the job is queued behind it", () => server.queue().pending.length === 1);
    await client.post(`/api/job/${id}/cancel`);
    await until("the job is removed", () => server.queue().pending.length === 0);
    expect(server.seen.interrupts).toEqual([]);
    server.release();
  });

  it("waits for a paused or unreachable runner and reports it", async () => {
    const { client, addRunner, changeRunner, readRunner, removeRunner } = await startRunnerService();
    const server = await addRunner();
    await addRunner("B");
    for (const label of ["GPU", "B"]) await changeRunner(label, "paused");
    const jobId = await submitGraph(client, createModelGraph());
    expect(await readJob(client, jobId)).toMatchObject({
      status: "pending",
      waits: { state: "paused", runners: ["GPU", "B"], message: "Waits for GPU, B, which are paused." },
    });
    expect((await listJobs(client))[0]).toMatchObject({ waits: { state: "paused" } });
    await server.disconnect();
    await changeRunner("GPU", "ready");
    const getWaits = async () => asRecord((await readJob(client, jobId)).waits ?? { state: "" });
    await until("the runner is unreachable", async () => (await getWaits()).state === "unreachable");
    expect(await readRunner()).toMatchObject({ state: "unreachable", reason: { code: "not_reachable" } });
    expect((await getWaits()).message).toBe("Waits for GPU, B, which aren't accepting jobs.");
    await server.reconnect();
    expect(await waitForEnd(client, jobId)).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 } });
    expect(await removeRunner("GPU")).toEqual({ ok: true, value: undefined });
    expect(getLabel(await readJob(client, jobId))).toBe("GPU");
  });
});
