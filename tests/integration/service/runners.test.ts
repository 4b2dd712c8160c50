// Jobs that run on local servers, from the submission to their results.
import { afterEach, describe, expect, it } from "vitest";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerOptions, type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { createClient, startService, type TestService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { makes, modelGraph, picture } from "./built-in-job";
import { asRecord, asRecords, asString, canvas, type Json, readJob, submit, waitForEnd, waitForStart } from "./support";

describe("jobs on runners", () => {
  let testService: TestService | undefined;
  const servers: RunnerServer[] = [];
  afterEach(async () => {
    await testService?.dispose();
    testService = undefined;
    for (const server of servers.splice(0)) await server.close();
  });

  async function runner(models = ["one.safetensors"], options: Partial<RunnerOptions> = {}): Promise<RunnerServer> {
    const server = await startRunnerServer({ objectInfo: gpuClasses(models), makeOutput: makes, ...options });
    servers.push(server);
    return server;
  }

  async function start(settings: Parameters<typeof startService>[0] = {}): Promise<TestService> {
    testService = await startService({ runnerCheckMs: 100, runnerLeaseMs: 700, runnerUnresponsiveMs: 60_000, concurrency: 1, ...settings });
    return testService;
  }

  async function add(server: RunnerServer, label: string, rest: { slots?: number } = {}): Promise<string> {
    const outcome = await testService?.service.runners.add({ address: server.address, label, ...rest });
    if (!outcome?.ok) throw new Error(`not added: ${outcome?.failure.message ?? ""}`);
    return outcome.value.id;
  }

  async function clientWithKey(service: TestService["service"]) {
    const { key } = await service.keys.createKey("ada");
    return { key, client: createClient((request) => service.fetch(request), key) };
  }

  const getLabel = (job: Json) => asRecord(job.runner).label;
  const readRunner = async (label: string) => (await testService?.service.runners.list())?.find((runner) => runner.label === label);

  it("returns a runner's outputs with node, name and runner", async () => {
    const { client: clientOf } = await start();
    const server = await runner();
    await add(server, "GPU");
    const client = clientOf();
    const id = await submit(client, modelGraph(), { extra_data: { extra_pnginfo: { workflow: { id: "x" } } } });
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 }, outputs_count: 1 });
    const [image] = asRecords(asRecord(asRecord(job.outputs)["3"]).images);
    expect(image).toMatchObject({ display_name: "house_00001_.png", type: "output" });
    const bytes = await (await client.raw("GET", `/api/view?filename=${asString(image?.filename)}`)).arrayBuffer();
    expect(Buffer.from(bytes).equals(picture(1))).toBe(true);
    expect(Object.keys(asRecord(job.execution_meta))).toEqual(["1", "2", "3"]);
    // The runner got the exact graph, with the attempt's own ids and without any key.
    expect(server.seen.submissions).toHaveLength(1);
    expect(server.seen.submissions[0]).toMatchObject({ prompt: modelGraph(), extra_data: { extra_pnginfo: { workflow: { id: "x" } } } });
    expect(await readRunner("GPU")).toMatchObject({ state: "ready", done: 1, failed: 0, running: 0, version: "0.27.0", classes: 5 });
    expect((await readRunner("GPU"))?.devices).toEqual([{ name: "gpu 0", type: "cuda", vramTotal: 8e9, vramFree: 4e9 }]);
    // The built-in runner takes the jobs that it can run.
    const ownJob = await waitForEnd(client, await submit(client, canvas(3)));
    expect(ownJob).toMatchObject({ status: "completed", runner: { id: "built-in", label: "Built-in", attempt: 1 } });
  });

  it("merges classes and models of all runners and names missing ones", async () => {
    const { client: clientOf } = await start();
    const client = clientOf();
    expect((await client.post("/api/prompt", { prompt: modelGraph() })).body).toMatchObject({ error: { type: "missing_node_type" } });
    await add(await runner(["one.safetensors"]), "A");
    await add(await runner(["two.safetensors"]), "B");
    const info = asRecord((await client.get("/api/object_info")).body);
    expect(asRecord(asRecord(asRecord(info.LoadModel).input).required).model).toEqual([["one.safetensors", "two.safetensors"], {}]);
    // Files on a runner cannot be chosen.
    expect(JSON.stringify(info.LoadImage)).not.toContain("on-the-runner");
    const catalogueRows = await testService?.rows<{ text: string }>("SELECT text FROM runner_catalogues");
    expect(catalogueRows).toHaveLength(2);
    expect(JSON.stringify(catalogueRows)).not.toContain("on-the-runner");
    const both = { ...modelGraph("one.safetensors"), "4": { class_type: "LoadModel", inputs: { model: "two.safetensors" } }, "5": { class_type: "Sample", inputs: { model: ["4", 0], seed: 1, prompt: "" } }, "6": { class_type: "SaveImage", inputs: { images: ["5", 0], filename_prefix: "x" } } }; // prettier-ignore
    const refused = asRecord(asRecord((await client.post("/api/prompt", { prompt: both })).body).error);
    expect(refused.type).toBe("no_runner");
    expect(refused.details).toContain("A lacks two.safetensors for model of LoadModel");
    expect(refused.details).toContain("B lacks one.safetensors for model of LoadModel");
    expect(getLabel(await waitForEnd(client, await submit(client, modelGraph("two.safetensors"))))).toBe("B");
  });

  it("prefers the runner with the model loaded, then the least busy one", async () => {
    const { client: clientOf } = await start();
    const models = ["one.safetensors", "two.safetensors"];
    const [a, b] = [await runner(models), await runner(models)];
    await add(a, "A");
    await add(b, "B");
    const client = clientOf();
    a.does("hold");
    const blocking = await submit(client, modelGraph("one.safetensors", 1));
    await until("it runs on A", async () => a.queue().running !== undefined);
    expect(getLabel(await waitForEnd(client, await submit(client, modelGraph("two.safetensors", 2))))).toBe("B");
    a.release();
    a.does("run");
    expect(getLabel(await waitForEnd(client, blocking))).toBe("A");
    // Both are free, so the model decides.
    expect(getLabel(await waitForEnd(client, await submit(client, modelGraph("two.safetensors", 3))))).toBe("B");
    expect(getLabel(await waitForEnd(client, await submit(client, modelGraph("one.safetensors", 4))))).toBe("A");
  });

  it("sends an input once by hash and reports it by its own name", async () => {
    const { client: clientOf } = await start();
    const server = await runner();
    await add(server, "GPU");
    const client = clientOf();
    await testService?.service.runners.change("built-in", { state: "paused" });
    await client.upload(new Uint8Array(picture(5)), "cat.png", { tags: '["input"]' });
    const graph = (prefix: string) => ({
      "1": { class_type: "LoadImage", inputs: { image: "cat.png" } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: prefix } },
    });
    expect(await waitForEnd(client, await submit(client, graph("a")))).toMatchObject({ status: "completed", runner: { label: "GPU" } });
    server.does("fail");
    const failed = await waitForEnd(client, await submit(client, graph("b")));
    expect(server.seen.uploads).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.png$/)]);
    const [name] = server.seen.uploads;
    expect(asRecord(asRecord(asRecord(server.seen.submissions[0]).prompt)["1"])).toMatchObject({ inputs: { image: name } });
    expect(failed).toMatchObject({
      status: "failed",
      execution_error: { node_id: "2", node_type: "SaveImage", exception_type: "RuntimeError", traceback: ["line 1\n"] },
    });
    expect(asRecord(failed.execution_error).exception_message).toContain('"image":"cat.png"');
    expect(failed.workflow).toMatchObject({ prompt: graph("b") });
  });

  it("accepts newer inputs: matched types, growing lists and exact numbers", async () => {
    const { client: clientOf } = await start();
    const createClass = (required: Json, output: string[]) => ({ input: { required }, output, output_name: output, output_node: false });
    const server = await runner(undefined, {
      objectInfo: {
        ...gpuClasses(["one.safetensors"]),
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
    await add(server, "GPU");
    const client = clientOf();
    await client.upload(new Uint8Array(picture(5)), "cat.png", { tags: '["input"]' });
    const graph = {
      "1": { class_type: "LoadImage", inputs: { image: "cat.png" } },
      "2": { class_type: "Resize", inputs: { input: ["1", 0], factor: 1e9 } },
      "3": { class_type: "Batch", inputs: { "images.image0": ["2", 0], kinds: { __value__: ["a", "c"] } } },
      "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "x" } },
    };
    expect(await waitForEnd(client, await submit(client, graph))).toMatchObject({ status: "completed", runner: { label: "GPU" } });
    expect(asRecord(asRecord(asRecord(server.seen.submissions[0]).prompt)["1"])).toMatchObject({
      inputs: { image: server.seen.uploads[0] },
    });
  });

  it("starts a job on a free runner while another accepts one", async () => {
    const { client: clientOf } = await start({ runnerCheckMs: 3_600_000 });
    const [a, b] = [await runner(["one.safetensors"]), await runner(["two.safetensors"])];
    await add(a, "A");
    await add(b, "B");
    for (const server of [a, b]) server.does("hold");
    const client = clientOf();
    const ids = await Promise.all(["one.safetensors", "two.safetensors"].map((model) => submit(client, modelGraph(model))));
    for (const id of ids) await waitForStart(client, id);
    for (const server of [a, b]) await until("it runs there", async () => server.queue().running !== undefined);
    for (const server of [a, b]) server.release();
    for (const id of ids) expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
  });

  it("reports progress, nodes and previews like the built-in runner", async () => {
    const { service } = await start();
    const server = await runner();
    await add(server, "GPU");
    const { client, key } = await clientWithKey(service);
    const received: (string | Uint8Array)[] = [];
    const feed = await service.listen(key, "me", (message) => received.push(message));
    server.does("hold");
    const id = await submit(client, modelGraph(), { client_id: "me" });
    const job = await until("its progress is told", async () => {
      const now = await readJob(client, id);
      return now.progress !== undefined && asRecord(now.progress).step === 1 && now;
    });
    expect(job.progress).toMatchObject({ current_node: "1", step: 1, steps: 2, nodes_total: 3 });
    await until("the preview is told", async () => received.some((item) => typeof item !== "string"));
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
    const { service } = await start();
    const server = await runner(undefined, {
      makeOutput: (_node, nodeId) => ({ files: [{ name: `of-${nodeId}.png`, bytes: picture(Number(nodeId)) }] }),
    });
    await add(server, "GPU");
    const { client, key } = await clientWithKey(service);
    const reports: Json[] = [];
    const feed = await service.listen(key, "me", (item) => {
      const message = typeof item === "string" ? asRecord(JSON.parse(item)) : {};
      if (message.type === "executed") reports.push(asRecord(message.data));
    });
    server.does("hold the last");
    const another = { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "late" } };
    const id = await submit(client, { ...modelGraph(), "4": another }, { client_id: "me" });
    await until("the first picture is told", async () => reports.length > 0);
    const [image] = asRecords(asRecord(reports[0]?.output).images);
    expect(reports[0]).toMatchObject({ node: "3", prompt_id: id });
    const early = await client.raw("GET", `/api/view?filename=${asString(image?.filename)}&type=output`);
    expect(Buffer.from(await early.arrayBuffer()).equals(picture(3))).toBe(true);
    // The state is stored after the messages.
    await waitForStart(client, id);
    server.release();
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", outputs_count: 2, outputs: { "3": reports[0]?.output } });
    expect(reports.map(({ node }) => node)).toEqual(["3", "4"]);
    expect(server.seen.views.filter((name) => name === "of-3.png")).toHaveLength(1);
    feed?.stop();
  });

  it("interrupts only that job and removes its pending ones", async () => {
    const { client: clientOf } = await start();
    const server = await runner();
    await add(server, "GPU", { slots: 2 });
    const client = clientOf();
    server.does("hold");
    const first = await submit(client, modelGraph("one.safetensors", 1));
    await waitForStart(client, first);
    const second = await submit(client, modelGraph("one.safetensors", 2));
    await until("both are there", async () => server.queue().running !== undefined && server.queue().pending.length === 1);
    const [left, two] = [server.queue().running, server.queue().pending[0]];
    await client.post(`/api/job/${second}/cancel`);
    await until("the second is gone", async () => server.queue().pending.length === 0);
    expect(new Set(server.seen.deletes)).toEqual(new Set([two]));
    expect(server.queue().running).toBe(left);
    await client.post("/api/interrupt", { prompt_id: first });
    await until("the first is gone", async () => server.queue().running === undefined);
    expect(server.seen.interrupts).toEqual([left]);
    for (const id of [first, second]) expect(await readJob(client, id)).toMatchObject({ status: "cancelled", outputs_count: 0 });
  });

  it("never interrupts foreign jobs, also on servers without ids", async () => {
    const { client: clientOf } = await start();
    const server = await runner(undefined, { isOld: true });
    server.does("hold");
    server.strange(modelGraph() as never);
    await until("the stranger's job runs", async () => server.queue().running !== undefined);
    await add(server, "GPU");
    const client = clientOf();
    const id = await submit(client, modelGraph());
    await until("it waits behind it", async () => server.queue().pending.length === 1);
    await client.post(`/api/job/${id}/cancel`);
    await until("it is gone", async () => server.queue().pending.length === 0);
    expect(server.seen.interrupts).toEqual([]);
    server.release();
  });

  it("waits for a paused or unreachable runner and reports it", async () => {
    const { client: clientOf } = await start();
    const server = await runner();
    const id = await add(server, "GPU");
    const client = clientOf();
    await testService?.service.runners.change(id, { state: "paused" });
    const job = await submit(client, modelGraph());
    expect(await readJob(client, job)).toMatchObject({
      status: "pending",
      waits: { state: "paused", runners: ["GPU"], message: "Waits for GPU, which is paused." },
    });
    expect(asRecords(asRecord((await client.get("/api/jobs")).body).jobs)[0]).toMatchObject({ waits: { state: "paused" } });
    await server.goDark();
    await testService?.service.runners.change(id, { state: "ready" });
    await until("it is out of reach", async () => asRecord((await readJob(client, job)).waits ?? { state: "" }).state === "unreachable");
    expect(await readRunner("GPU")).toMatchObject({ state: "unreachable", reason: { code: "not_reachable" } });
    await server.comeBack();
    expect(await waitForEnd(client, job)).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 } });
    expect(await testService?.service.runners.remove(id)).toEqual({ ok: true, value: undefined });
    expect(getLabel(await readJob(client, job))).toBe("GPU");
  });
});
