// Faults of runners and their effect on jobs: each job ends once, on another runner if needed, with a reason.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerOptions, type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { startService, type TestService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { asRecord, asString, type Json, png, readJob, submit, waitForEnd, waitForStart } from "./support";

const modelGraph = (seed: number): Json => ({
  "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } },
  "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt: "" } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
});

describe("faults of runners", () => {
  let service: TestService;
  const servers: RunnerServer[] = [];
  afterEach(async () => {
    await service.dispose();
    for (const server of servers.splice(0)) await server.close();
  });

  const makes: RunnerOptions["makeOutput"] = (node) =>
    node.class_type === "SaveImage" ? { files: [{ name: "x_00001_.png", bytes: Buffer.from(png(16, 8)) }] } : undefined;

  async function start(settings: Parameters<typeof startService>[0] = {}) {
    service = await startService({ runnerCheckMs: 100, runnerLeaseMs: 500, runnerUnresponsiveMs: 60_000, concurrency: 1, ...settings });
    return service.client();
  }
  async function add(label: string, options: Partial<RunnerOptions> = {}): Promise<RunnerServer> {
    const server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]), makeOutput: makes, ...options });
    servers.push(server);
    const outcome = await service.service.runners.add({ address: server.address, label });
    if (!outcome.ok) throw new Error(outcome.failure.message);
    return server;
  }
  /** The job is on this runner, paused in its first node. */
  const isRunning = (server: RunnerServer) => until("the job runs there", async () => server.queue().running !== undefined);
  /** A service whose one job is paused on its one runner, A. */
  async function startPaused(settings?: Parameters<typeof start>[0]) {
    const client = await start(settings);
    const a = await add("A");
    a.does("hold");
    const id = await submit(client, modelGraph(1));
    await isRunning(a);
    return { client, a, id };
  }
  const runCounts = () => servers.map((server) => server.seen.submissions.length);

  it("fails without a file folder and frees the runner for the next", async () => {
    const client = await start();
    const a = await add("A");
    await rm(join(service.folder, "work"), { recursive: true });
    const id = await submit(client, modelGraph(1));
    expect(await waitForEnd(client, id)).toMatchObject({ status: "failed", execution_error: { exception_type: "ServiceError" } });
    await mkdir(join(service.folder, "work"));
    expect(await waitForEnd(client, await submit(client, modelGraph(2)))).toMatchObject({
      status: "completed",
      runner: { label: "A", attempt: 1 },
    });
    expect(a.seen.submissions).toHaveLength(1);
  });

  it("moves to another runner when its own lost its queue in a restart", async () => {
    const { client, a, id } = await startPaused();
    await add("B");
    a.restart();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 }, outputs_count: 1 });
    expect(runCounts()).toEqual([1, 1]);
  });

  it("moves to another runner after an outage and discards its late work", async () => {
    const { client, a, id } = await startPaused();
    await add("B");
    await a.goDark();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 } });
    await a.comeBack();
    await until("it is interrupted there", async () => a.queue().running === undefined && a.seen.interrupts.length === 1);
    expect(await readJob(client, id)).toMatchObject({ status: "completed", runner: { label: "B" }, outputs_count: 1 });
  });

  it("takes the result from history after a short network loss", async () => {
    const { client, a, id } = await startPaused({ runnerLeaseMs: 30_000 });
    await a.goDark();
    a.release();
    await until("it has ended there", async () => a.queue().running === undefined);
    await a.comeBack();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 }, outputs_count: 1 });
    expect(runCounts()).toEqual([1]);
  });

  it("receives a job's events again after a short network loss", async () => {
    const { client, a, id } = await startPaused({ runnerLeaseMs: 30_000 });
    await a.goDark();
    await until("nobody listens", async () => !a.hasListeners());
    await a.comeBack();
    await until("it is listened to again", async () => a.hasListeners());
    a.release();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 } });
  });

  it("is looked up without the queue while its runner reports", async () => {
    const { client, a, id } = await startPaused({ runnerCheckMs: 60_000 });
    let looks = 0;
    let queues = 0;
    a.faults.set("GET /history/*", (_request, _response, real) => ((looks += 1), real()));
    a.faults.set("GET /queue", (_request, _response, real) => ((queues += 1), real()));
    await until("it was looked for again and again", async () => looks > 3);
    expect(queues).toBeLessThanOrEqual(1);
    a.release();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
  });

  it("reruns once when the runner's cached files are missing", async () => {
    const client = await start();
    const a = await add("A");
    await waitForEnd(client, await submit(client, modelGraph(1)));
    a.clean();
    const job = await waitForEnd(client, await submit(client, modelGraph(1)));
    expect(job).toMatchObject({ status: "completed", outputs_count: 1, runner: { label: "A", attempt: 2 } });
    expect(asRecord(job.execution_status).messages).toContainEqual(["note", expect.objectContaining({ code: "cache_cleared" })]);
    expect(a.seen.frees).toEqual([{ unload_models: true, free_memory: true }]);
    a.clean();
    a.faults.set("POST /free", (_request, response) => response.end());
    const failed = await waitForEnd(client, await submit(client, modelGraph(1)));
    expect(failed).toMatchObject({ status: "failed", execution_error: { exception_type: "OutputMissing" } });
    expect(asRecord(failed.execution_error).exception_message).toContain("A reports output files that it does not have");
    expect(await waitForEnd(client, await submit(client, modelGraph(2)))).toMatchObject({ status: "completed", runner: { attempt: 1 } });
  });

  it("is interrupted and moved when its runner is silent too long", async () => {
    const { client, a, id } = await startPaused({ runnerUnresponsiveMs: 300 });
    await add("B");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 } });
    expect(a.seen.interrupts).toHaveLength(1);
  });

  it("is not submitted twice when the submission's response is lost", async () => {
    const client = await start();
    for (const isOld of [false, true]) {
      const server = await add(isOld ? "old" : "new", { isOld });
      server.faults.set("POST /prompt", async (request, response, real) => {
        // The submission arrives, but its response is lost.
        response.writeHead = (() => response) as never;
        response.end = (() => request.socket.destroy()) as never;
        await real();
      });
      const id = await submit(client, modelGraph(isOld ? 1 : 2));
      expect(await waitForEnd(client, id)).toMatchObject({
        status: "completed",
        runner: { label: isOld ? "old" : "new", attempt: 1 },
        outputs_count: 1,
      });
      expect(server.seen.submissions).toHaveLength(1);
      await service.service.runners.change((await service.service.runners.list())[1]?.id ?? "", { state: "paused" });
    }
  });

  it("fails after three attempts, naming the last cause", async () => {
    const client = await start();
    const server = await add("A");
    server.faults.set("GET /view", (_request, response) => void response.writeHead(403).end());
    const job = await waitForEnd(client, await submit(client, modelGraph(1)));
    expect(job).toMatchObject({
      status: "failed",
      execution_error: { exception_type: "WorkerLost" },
      runner: { attempt: 3 },
      outputs_count: 0,
    });
    expect(asString(asRecord(job.execution_error).exception_message)).toContain("A: It responds with status 403");
    expect(runCounts()).toEqual([3]);
  });

  it("rejects truncated files and unreadable results", async () => {
    const client = await start();
    const a = await add("A");
    const first = await (async () => {
      a.faults.set("GET /view", (request, response) => {
        response.writeHead(200, { "content-length": 100 });
        response.write("too little", () => request.socket.destroy());
      });
      return submit(client, modelGraph(1));
    })();
    await until("it was tried there", async () => a.seen.submissions.length > 0);
    await add("B");
    expect(await waitForEnd(client, first)).toMatchObject({ status: "completed", runner: { label: "B" } });
    a.faults.clear();
    // Waits until B takes jobs again, since A alone would be tried three times at once.
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    a.faults.set("GET /history/*", async (request, response) => {
      await gate;
      response.writeHead(200).end(`{"${request.url?.split("/").at(-1) ?? ""}":{"status":"fine"}}`);
    });
    await service.service.runners.change((await service.service.runners.list()).find(({ label }) => label === "B")?.id ?? "", {
      state: "paused",
    });
    const second = await submit(client, modelGraph(2));
    await until("it was tried on A", async () => a.seen.submissions.length > 1);
    await service.service.runners.change((await service.service.runners.list()).find(({ label }) => label === "B")?.id ?? "", {
      state: "ready",
    });
    open();
    expect(await waitForEnd(client, second)).toMatchObject({ status: "completed", runner: { label: "B" } });
  });

  it("refetches a file after a disconnect without rerunning the job", async () => {
    const client = await start();
    const server = await add("A");
    let isCut = false;
    server.faults.set("GET /view", (request, _response, real) => {
      if (isCut) return real();
      isCut = true;
      request.socket.destroy();
    });
    expect(await waitForEnd(client, await submit(client, modelGraph(1)))).toMatchObject({
      status: "completed",
      runner: { attempt: 1 },
      outputs_count: 1,
    });
    expect(runCounts()).toEqual([1]);
  });

  it("fails immediately when a job's input is too large for every runner", async () => {
    const client = await start();
    const server = await add("A");
    await service.service.runners.change("built-in", { state: "paused" });
    await client.upload(new Uint8Array(png(16, 8)), "cat.png", { tags: '["input"]' });
    server.faults.set("POST /upload/image", (_request, response) => void response.writeHead(413).end());
    const graph = {
      "1": { class_type: "LoadImage", inputs: { image: "cat.png" } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    expect(await waitForEnd(client, await submit(client, graph))).toMatchObject({
      status: "failed",
      execution_error: { exception_type: "InputTooLarge", exception_message: expect.stringContaining("as large as cat.png") },
      runner: { attempt: 1 },
    });
  });

  it("reports a runner's refusal and interruption as workflow errors", async () => {
    const client = await start();
    const server = await add("A");
    server.faults.set(
      "POST /prompt",
      (_request, response) =>
        void response
          .writeHead(400, { "content-type": "application/json" })
          .end(
            '{"error":{"type":"prompt_outputs_failed_validation","message":"bad","details":"","extra_info":{}},"node_errors":{"2":{"errors":[],"dependent_outputs":[],"class_type":"Sample"}}}',
          ),
    );
    const refused = await waitForEnd(client, await submit(client, modelGraph(1)));
    expect(refused).toMatchObject({ status: "failed", execution_error: { exception_type: "ValidationError" } });
    expect(asString(asRecord(refused.execution_error).exception_message)).toContain('"node_errors":{"2"');
    server.faults.clear();
    server.does("hold");
    const id = await submit(client, modelGraph(2));
    await isRunning(server);
    server.interrupt();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "failed", execution_error: { exception_type: "Interrupted" } });
  });

  it("sets a runner aside after failures of three users until resumed", async () => {
    await start();
    const server = await add("A");
    server.does("fail");
    for (const user of ["ada", "ada", "bob"]) {
      const client = service.client(user);
      await waitForEnd(client, await submit(client, modelGraph(1)));
    }
    const readRunner = async () => (await service.service.runners.list())[1];
    expect(await readRunner()).toMatchObject({ state: "ready", failed: 3 });
    const cy = service.client("cy");
    await waitForEnd(cy, await submit(cy, modelGraph(1)));
    expect(await readRunner()).toMatchObject({ state: "set_aside", reason: { code: "failures" } });
    server.does("run");
    const waits = await submit(cy, modelGraph(2));
    expect(await readJob(cy, waits)).toMatchObject({ status: "pending", waits: { state: "set_aside" } });
    await service.service.runners.change((await readRunner())?.id ?? "", { state: "ready" });
    expect(await waitForEnd(cy, waits)).toMatchObject({ status: "completed" });
  });

  it("finds the job after a service restart and submits it once", async () => {
    const { a, id } = await startPaused();
    await service.service.stop();
    a.release();
    await service.service.start();
    const secondClient = service.client();
    expect(await waitForEnd(secondClient, id)).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 }, outputs_count: 1 });
    expect(runCounts()).toEqual([1]);
  });

  it("doesn't wait for or blame runners when stopping", async () => {
    await start();
    const server = await add("A");
    let isRequested = false;
    server.faults.set("GET /system_stats", () => (isRequested = true)); // and never answers
    await until("it is asked how it is", async () => isRequested);
    await service.service.stop();
    await service.service.start();
    expect((await service.service.runners.list())[1]).toMatchObject({ label: "A", state: "ready" });
  });

  it("requeues a removed runner's jobs without counting the attempt", async () => {
    const { client, a, id } = await startPaused();
    await waitForStart(client, id);
    await add("B");
    await service.service.runners.remove((await service.service.runners.list())[1]?.id ?? "");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 1 } });
    expect(a.queue().running).toBeUndefined();
  });
});
