// Jobs that run on local servers, from submission to results.
import { afterEach, describe, expect, it } from "vitest";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerOptions, type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { createClient, startService, type TestService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { createModelGraph, createModelImage, createModelOutput } from "./model-job";
import { asRecord, asRecords, asString, createColorGraph, type Json, readJob, submitGraph, waitForEnd, waitForStart } from "./support";

describe("jobs on runners", () => {
  let testService: TestService | undefined;
  const servers: RunnerServer[] = [];
  afterEach(async () => {
    await testService?.dispose();
    testService = undefined;
    for (const server of servers.splice(0)) await server.close();
  });

  async function startRunner(models = ["one.safetensors"], options: Partial<RunnerOptions> = {}): Promise<RunnerServer> {
    const server = await startRunnerServer({ objectInfo: createGpuClasses(models), makeOutput: createModelOutput, ...options });
    servers.push(server);
    return server;
  }

  async function startTestService(settings: Parameters<typeof startService>[0] = {}): Promise<TestService> {
    testService = await startService({ runnerCheckMs: 100, runnerLeaseMs: 700, runnerUnresponsiveMs: 60_000, concurrency: 1, ...settings });
    return testService;
  }

  async function addRunner(server: RunnerServer, label: string, options: { slots?: number } = {}): Promise<string> {
    const outcome = await testService?.service.runners.add({ address: server.address, label, ...options });
    if (!outcome?.ok) throw new Error(`Runner not added: ${outcome?.failure.message ?? ""}`);
    return outcome.value.id;
  }

  async function createClientWithKey(service: TestService["service"]) {
    const { key } = await service.keys.createKey("ada");
    return { key, client: createClient((request) => service.fetch(request), key) };
  }

  const getLabel = (job: Json) => asRecord(job.runner).label;
  const readRunner = async (label: string) => (await testService?.service.runners.list())?.find((runner) => runner.label === label);

  it("returns a runner's outputs with node, name and runner", async () => {
    const { client: getClient } = await startTestService();
    const server = await startRunner();
    await addRunner(server, "GPU");
    const client = getClient();
    const id = await submitGraph(client, createModelGraph(), { extra_data: { extra_pnginfo: { workflow: { id: "x" } } } });
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 }, outputs_count: 1 });
    const [image] = asRecords(asRecord(asRecord(job.outputs)["3"]).images);
    expect(image).toMatchObject({ display_name: "house_00001_.png", type: "output" });
    const bytes = await (await client.raw("GET", `/api/view?filename=${asString(image?.filename)}`)).arrayBuffer();
    expect(Buffer.from(bytes).equals(createModelImage(1))).toBe(true);
    expect(Object.keys(asRecord(job.execution_meta))).toEqual(["1", "2", "3"]);
    // The runner receives the exact graph without any key.
    expect(server.seen.submissions).toHaveLength(1);
    expect(server.seen.submissions[0]).toMatchObject({
      prompt: createModelGraph(),
      extra_data: { extra_pnginfo: { workflow: { id: "x" } } },
    });
    expect(await readRunner("GPU")).toMatchObject({ state: "ready", done: 1, failed: 0, running: 0, version: "0.27.0", classes: 5 });
    expect((await readRunner("GPU"))?.devices).toEqual([{ name: "gpu 0", type: "cuda", vramTotal: 8e9, vramFree: 4e9 }]);
    // The built-in runner runs the jobs that it supports.
    const ownJob = await waitForEnd(client, await submitGraph(client, createColorGraph(3)));
    expect(ownJob).toMatchObject({ status: "completed", runner: { id: "built-in", label: "Built-in", attempt: 1 } });
  });

  it("merges classes and models of all runners and reports missing ones", async () => {
    const { client: getClient } = await startTestService();
    const client = getClient();
    expect((await client.post("/api/prompt", { prompt: createModelGraph() })).body).toMatchObject({ error: { type: "missing_node_type" } });
    await addRunner(await startRunner(["one.safetensors"]), "A");
    await addRunner(await startRunner(["two.safetensors"]), "B");
    const info = asRecord((await client.get("/api/object_info")).body);
    expect(asRecord(asRecord(asRecord(info.LoadModel).input).required).model).toEqual([["one.safetensors", "two.safetensors"], {}]);
    // Files on a runner aren't offered as inputs.
    expect(JSON.stringify(info.LoadImage)).not.toContain("on-the-runner");
    const catalogueRows = await testService?.queryRows<{ text: string }>("SELECT text FROM runner_catalogues");
    expect(catalogueRows).toHaveLength(2);
    expect(JSON.stringify(catalogueRows)).not.toContain("on-the-runner");
    const combinedGraph = { ...createModelGraph("one.safetensors"), "4": { class_type: "LoadModel", inputs: { model: "two.safetensors" } }, "5": { class_type: "Sample", inputs: { model: ["4", 0], seed: 1, prompt: "" } }, "6": { class_type: "SaveImage", inputs: { images: ["5", 0], filename_prefix: "x" } } }; // prettier-ignore
    const error = asRecord(asRecord((await client.post("/api/prompt", { prompt: combinedGraph })).body).error);
    expect(error.type).toBe("no_runner");
    expect(error.details).toContain("A lacks two.safetensors for model of LoadModel");
    expect(error.details).toContain("B lacks one.safetensors for model of LoadModel");
    expect(getLabel(await waitForEnd(client, await submitGraph(client, createModelGraph("two.safetensors"))))).toBe("B");
  });

  it("prefers the runner with the model loaded, then the least busy one", async () => {
    const { client: getClient } = await startTestService();
    const models = ["one.safetensors", "two.safetensors"];
    const [a, b] = [await startRunner(models), await startRunner(models)];
    await addRunner(a, "A");
    await addRunner(b, "B");
    const client = getClient();
    a.setMode("hold");
    const blockingId = await submitGraph(client, createModelGraph("one.safetensors", 1));
    await until("the job runs on A", async () => a.queue().running !== undefined);
    expect(getLabel(await waitForEnd(client, await submitGraph(client, createModelGraph("two.safetensors", 2))))).toBe("B");
    a.release();
    a.setMode("run");
    expect(getLabel(await waitForEnd(client, blockingId))).toBe("A");
    // Both are free, so the model decides.
    expect(getLabel(await waitForEnd(client, await submitGraph(client, createModelGraph("two.safetensors", 3))))).toBe("B");
    expect(getLabel(await waitForEnd(client, await submitGraph(client, createModelGraph("one.safetensors", 4))))).toBe("A");
  });

  it("sends an input once by hash and reports it by its own name", async () => {
    const { client: getClient } = await startTestService();
    const server = await startRunner();
    await addRunner(server, "GPU");
    const client = getClient();
    await testService?.service.runners.change("built-in", { state: "paused" });
    await client.upload(new Uint8Array(createModelImage(5)), "cat.png", { tags: '["input"]' });
    const createGraph = (prefix: string) => ({
      "1": { class_type: "LoadImage", inputs: { image: "cat.png" } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: prefix } },
    });
    expect(await waitForEnd(client, await submitGraph(client, createGraph("a")))).toMatchObject({
      status: "completed",
      runner: { label: "GPU" },
    });
    server.setMode("fail");
    const failedJob = await waitForEnd(client, await submitGraph(client, createGraph("b")));
    expect(server.seen.uploads).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.png$/)]);
    const [name] = server.seen.uploads;
    expect(asRecord(asRecord(asRecord(server.seen.submissions[0]).prompt)["1"])).toMatchObject({ inputs: { image: name } });
    expect(failedJob).toMatchObject({
      status: "failed",
      execution_error: { node_id: "2", node_type: "SaveImage", exception_type: "RuntimeError", traceback: ["line 1\n"] },
    });
    expect(asRecord(failedJob.execution_error).exception_message).toContain('"image":"cat.png"');
    expect(failedJob.workflow).toMatchObject({ prompt: createGraph("b") });
  });

  it("accepts inputs with matched types, growing lists and exact numbers", async () => {
    const { client: getClient } = await startTestService();
    const createClass = (required: Json, output: string[]) => ({ input: { required }, output, output_name: output, output_node: false });
    const server = await startRunner(undefined, {
      objectInfo: {
        ...createGpuClasses(["one.safetensors"]),
        Resize: createClass({ input: ["COMFY_MATCHTYPE_V3", {}], factor: ["FLOAT", { max: "endless" }] }, ["COMFY_MATCHTYPE_V3"]),
        Batch: createClass(
          {
            images: ["COMFY_AUTOGROW_V3", { template: { input: { required: { image: ["IMAGE", {}] } }, prefix: "image" } }],
            kinds: ["COMBO", { options: ["a", "b", "c"], multiselect: true }],
          },
          ["IMAGE"],
        ),
      },
    });
    server.faults.set("GET /object_info", async (_request, response, real) => {
      const end = response.end.bind(response);
      response.end = ((text: string) => end(text.replace('"endless"', "Infinity"))) as never;
      await real();
    });
    await addRunner(server, "GPU");
    const client = getClient();
    await client.upload(new Uint8Array(createModelImage(5)), "cat.png", { tags: '["input"]' });
    const graph = {
      "1": { class_type: "LoadImage", inputs: { image: "cat.png" } },
      "2": { class_type: "Resize", inputs: { input: ["1", 0], factor: 1e9 } },
      "3": { class_type: "Batch", inputs: { "images.image0": ["2", 0], kinds: { __value__: ["a", "c"] } } },
      "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "x" } },
    };
    expect(await waitForEnd(client, await submitGraph(client, graph))).toMatchObject({ status: "completed", runner: { label: "GPU" } });
    expect(asRecord(asRecord(asRecord(server.seen.submissions[0]).prompt)["1"])).toMatchObject({
      inputs: { image: server.seen.uploads[0] },
    });
  });

  it("starts a job on a free runner while another accepts one", async () => {
    const { client: getClient } = await startTestService({ runnerCheckMs: 3_600_000 });
    const [a, b] = [await startRunner(["one.safetensors"]), await startRunner(["two.safetensors"])];
    await addRunner(a, "A");
    await addRunner(b, "B");
    for (const server of [a, b]) server.setMode("hold");
    const client = getClient();
    const ids = await Promise.all(["one.safetensors", "two.safetensors"].map((model) => submitGraph(client, createModelGraph(model))));
    for (const id of ids) await waitForStart(client, id);
    for (const server of [a, b]) await until("the job runs", async () => server.queue().running !== undefined);
    for (const server of [a, b]) server.release();
    for (const id of ids) expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
  });

  it("reports progress, nodes and previews like the built-in runner", async () => {
    const { service } = await startTestService();
    const server = await startRunner();
    await addRunner(server, "GPU");
    const { client, key } = await createClientWithKey(service);
    const received: (string | Uint8Array)[] = [];
    const feed = await service.subscribe(key, "me", (message) => received.push(message));
    server.setMode("hold");
    const id = await submitGraph(client, createModelGraph(), { client_id: "me" });
    const job = await until("the progress is reported", async () => {
      const currentJob = await readJob(client, id);
      return currentJob.progress !== undefined && asRecord(currentJob.progress).step === 1 && currentJob;
    });
    expect(job.progress).toMatchObject({ current_node: "1", step: 1, steps: 2, nodes_total: 3 });
    await until("a preview has arrived", async () => received.some((item) => typeof item !== "string"));
    server.release();
    await waitForEnd(client, id);
    const types = received.flatMap((item) => (typeof item === "string" ? [asString(asRecord(JSON.parse(item)).type)] : ["preview"]));
    expect(types).toEqual(
      expect.arrayContaining(["execution_start", "execution_cached", "executing", "progress", "preview", "executed", "execution_success"]),
    );
    const executed = received.flatMap((item) =>
      typeof item === "string" && item.includes('"executed"') ? [asRecord(asRecord(JSON.parse(item)).data)] : [],
    );
    expect(executed[0]).toMatchObject({ node: "3", prompt_id: id });
    feed?.stop();
  });

  it("shows a node's outputs once while the others still run", async () => {
    const { service } = await startTestService();
    const server = await startRunner(undefined, {
      makeOutput: (_node, nodeId) => ({ files: [{ name: `of-${nodeId}.png`, bytes: createModelImage(Number(nodeId)) }] }),
    });
    await addRunner(server, "GPU");
    const { client, key } = await createClientWithKey(service);
    const reports: Json[] = [];
    const feed = await service.subscribe(key, "me", (item) => {
      const message = typeof item === "string" ? asRecord(JSON.parse(item)) : {};
      if (message.type === "executed") reports.push(asRecord(message.data));
    });
    server.setMode("hold the last");
    const lateSaveNode = { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "late" } };
    const id = await submitGraph(client, { ...createModelGraph(), "4": lateSaveNode }, { client_id: "me" });
    await until("the first image is reported", async () => reports.length > 0);
    const [image] = asRecords(asRecord(reports[0]?.output).images);
    expect(reports[0]).toMatchObject({ node: "3", prompt_id: id });
    const earlyImage = await client.raw("GET", `/api/view?filename=${asString(image?.filename)}&type=output`);
    expect(Buffer.from(await earlyImage.arrayBuffer()).equals(createModelImage(3))).toBe(true);
    // The state is stored after the messages.
    await waitForStart(client, id);
    server.release();
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", outputs_count: 2, outputs: { "3": reports[0]?.output } });
    expect(reports.map(({ node }) => node)).toEqual(["3", "4"]);
    expect(server.seen.views.filter((name) => name === "of-3.png")).toHaveLength(1);
    feed?.stop();
  });

  it("interrupts a running job and dequeues a pending one separately", async () => {
    const { client: getClient } = await startTestService();
    const server = await startRunner();
    await addRunner(server, "GPU", { slots: 2 });
    const client = getClient();
    server.setMode("hold");
    const first = await submitGraph(client, createModelGraph("one.safetensors", 1));
    await waitForStart(client, first);
    const second = await submitGraph(client, createModelGraph("one.safetensors", 2));
    await until("both jobs are at the runner", async () => server.queue().running !== undefined && server.queue().pending.length === 1);
    const [runningId, pendingId] = [server.queue().running, server.queue().pending[0]];
    await client.post(`/api/job/${second}/cancel`);
    await until("the second job is removed", async () => server.queue().pending.length === 0);
    expect(new Set(server.seen.deletes)).toEqual(new Set([pendingId]));
    expect(server.queue().running).toBe(runningId);
    await client.post("/api/interrupt", { prompt_id: first });
    await until("the first job is removed", async () => server.queue().running === undefined);
    expect(server.seen.interrupts).toEqual([runningId]);
    for (const id of [first, second]) expect(await readJob(client, id)).toMatchObject({ status: "cancelled", outputs_count: 0 });
  });

  it("never interrupts other clients' jobs on servers without ids", async () => {
    const { client: getClient } = await startTestService();
    const server = await startRunner(undefined, { isOld: true });
    server.setMode("hold");
    server.submitAsOtherClient(createModelGraph() as never);
    await until("the other client's job runs", async () => server.queue().running !== undefined);
    await addRunner(server, "GPU");
    const client = getClient();
    const id = await submitGraph(client, createModelGraph());
    await until("the job is queued behind it", async () => server.queue().pending.length === 1);
    await client.post(`/api/job/${id}/cancel`);
    await until("the job is removed", async () => server.queue().pending.length === 0);
    expect(server.seen.interrupts).toEqual([]);
    server.release();
  });

  it("waits for a paused or unreachable runner and reports it", async () => {
    const { client: getClient } = await startTestService();
    const server = await startRunner();
    const id = await addRunner(server, "GPU");
    const client = getClient();
    await testService?.service.runners.change(id, { state: "paused" });
    const jobId = await submitGraph(client, createModelGraph());
    expect(await readJob(client, jobId)).toMatchObject({
      status: "pending",
      waits: { state: "paused", runners: ["GPU"], message: "Waits for GPU, which is paused." },
    });
    expect(asRecords(asRecord((await client.get("/api/jobs")).body).jobs)[0]).toMatchObject({ waits: { state: "paused" } });
    await server.disconnect();
    await testService?.service.runners.change(id, { state: "ready" });
    await until(
      "the runner is unreachable",
      async () => asRecord((await readJob(client, jobId)).waits ?? { state: "" }).state === "unreachable",
    );
    expect(await readRunner("GPU")).toMatchObject({ state: "unreachable", reason: { code: "not_reachable" } });
    await server.reconnect();
    expect(await waitForEnd(client, jobId)).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 } });
    expect(await testService?.service.runners.remove(id)).toEqual({ ok: true, value: undefined });
    expect(getLabel(await readJob(client, jobId))).toBe("GPU");
  });
});
