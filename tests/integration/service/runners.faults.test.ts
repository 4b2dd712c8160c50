// Runner failures and their effect on jobs. Each job ends once, on another runner if needed, with a reason.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerOptions, type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { startService, type TestService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { asRecord, asString, createPng, type Json, readJob, submitGraph, waitForEnd, waitForStart } from "./support";

const createModelGraph = (seed: number): Json => ({
  "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } },
  "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt: "" } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
});

describe("runner failures", () => {
  let service: TestService;
  const servers: RunnerServer[] = [];
  afterEach(async () => {
    await service.dispose();
    for (const server of servers.splice(0)) await server.close();
  });

  const createOutput: RunnerOptions["makeOutput"] = (node) =>
    node.class_type === "SaveImage" ? { files: [{ name: "x_00001_.png", bytes: Buffer.from(createPng(16, 8)) }] } : undefined;

  async function startTestService(settings: Parameters<typeof startService>[0] = {}) {
    service = await startService({ runnerCheckMs: 100, runnerLeaseMs: 500, runnerUnresponsiveMs: 60_000, concurrency: 1, ...settings });
    return service.client();
  }
  async function addRunner(label: string, options: Partial<RunnerOptions> = {}): Promise<RunnerServer> {
    const server = await startRunnerServer({ objectInfo: createGpuClasses(["one.safetensors"]), makeOutput: createOutput, ...options });
    servers.push(server);
    const outcome = await service.service.runners.add({ address: server.address, label });
    if (!outcome.ok) throw new Error(outcome.failure.message);
    return server;
  }
  /** Waits until the job is paused in its first node on this runner. */
  const waitUntilRunning = (server: RunnerServer) => until("the job runs on the runner", async () => server.queue().running !== undefined);
  /** Starts a service with one job, paused on its only runner A. */
  async function startWithPausedJob(settings?: Parameters<typeof startTestService>[0]) {
    const client = await startTestService(settings);
    const a = await addRunner("A");
    a.setMode("hold");
    const id = await submitGraph(client, createModelGraph(1));
    await waitUntilRunning(a);
    return { client, a, id };
  }
  const countSubmissions = () => servers.map((server) => server.seen.submissions.length);

  it("fails a job without a work folder but frees the runner", async () => {
    const client = await startTestService();
    const a = await addRunner("A");
    await rm(join(service.folder, "work"), { recursive: true });
    const id = await submitGraph(client, createModelGraph(1));
    expect(await waitForEnd(client, id)).toMatchObject({ status: "failed", execution_error: { exception_type: "ServiceError" } });
    await mkdir(join(service.folder, "work"));
    expect(await waitForEnd(client, await submitGraph(client, createModelGraph(2)))).toMatchObject({
      status: "completed",
      runner: { label: "A", attempt: 1 },
    });
    expect(a.seen.submissions).toHaveLength(1);
  });

  it("moves a job to another runner when a restart clears the queue", async () => {
    const { client, a, id } = await startWithPausedJob();
    await addRunner("B");
    a.restart();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 }, outputs_count: 1 });
    expect(countSubmissions()).toEqual([1, 1]);
  });

  it("moves a job to another runner after an outage and discards late work", async () => {
    const { client, a, id } = await startWithPausedJob();
    await addRunner("B");
    await a.disconnect();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 } });
    await a.reconnect();
    await until("the job is interrupted on A", async () => a.queue().running === undefined && a.seen.interrupts.length === 1);
    expect(await readJob(client, id)).toMatchObject({ status: "completed", runner: { label: "B" }, outputs_count: 1 });
  });

  it("reads the result from the history after a short network loss", async () => {
    const { client, a, id } = await startWithPausedJob({ runnerLeaseMs: 30_000 });
    await a.disconnect();
    a.release();
    await until("the job has ended on A", async () => a.queue().running === undefined);
    await a.reconnect();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 }, outputs_count: 1 });
    expect(countSubmissions()).toEqual([1]);
  });

  it("resumes a job's events after a short network loss", async () => {
    const { client, a, id } = await startWithPausedJob({ runnerLeaseMs: 30_000 });
    await a.disconnect();
    await until("A has no listeners", async () => !a.hasListeners());
    await a.reconnect();
    await until("A has listeners again", async () => a.hasListeners());
    a.release();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 } });
  });

  it("reads no queue while the runner reports progress", async () => {
    const { client, a, id } = await startWithPausedJob({ runnerCheckMs: 60_000 });
    let historyReads = 0;
    let queueReads = 0;
    a.faults.set("GET /history/*", (_request, _response, real) => ((historyReads += 1), real()));
    a.faults.set("GET /queue", (_request, _response, real) => ((queueReads += 1), real()));
    await until("the history was read repeatedly", async () => historyReads > 3);
    expect(queueReads).toBeLessThanOrEqual(1);
    a.release();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
  });

  it("reruns a job once when the runner's cached files are missing", async () => {
    const client = await startTestService();
    const a = await addRunner("A");
    await waitForEnd(client, await submitGraph(client, createModelGraph(1)));
    a.deleteOutputs();
    const job = await waitForEnd(client, await submitGraph(client, createModelGraph(1)));
    expect(job).toMatchObject({ status: "completed", outputs_count: 1, runner: { label: "A", attempt: 2 } });
    expect(asRecord(job.execution_status).messages).toContainEqual(["note", expect.objectContaining({ code: "cache_cleared" })]);
    expect(a.seen.frees).toEqual([{ unload_models: true, free_memory: true }]);
    a.deleteOutputs();
    a.faults.set("POST /free", (_request, response) => response.end());
    const failedJob = await waitForEnd(client, await submitGraph(client, createModelGraph(1)));
    expect(failedJob).toMatchObject({ status: "failed", execution_error: { exception_type: "OutputMissing" } });
    expect(asRecord(failedJob.execution_error).exception_message).toContain("A reports output files that it does not have");
    expect(await waitForEnd(client, await submitGraph(client, createModelGraph(2)))).toMatchObject({
      status: "completed",
      runner: { attempt: 1 },
    });
  });

  it("interrupts and moves a job when its runner is unresponsive", async () => {
    const { client, a, id } = await startWithPausedJob({ runnerUnresponsiveMs: 300 });
    await addRunner("B");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 } });
    expect(a.seen.interrupts).toHaveLength(1);
  });

  it("doesn't resubmit a job when the submission's response is lost", async () => {
    const client = await startTestService();
    for (const isOld of [false, true]) {
      const server = await addRunner(isOld ? "old" : "new", { isOld });
      server.faults.set("POST /prompt", async (request, response, real) => {
        // The submission arrives, but its response is lost.
        response.writeHead = (() => response) as never;
        response.end = (() => request.socket.destroy()) as never;
        await real();
      });
      const id = await submitGraph(client, createModelGraph(isOld ? 1 : 2));
      expect(await waitForEnd(client, id)).toMatchObject({
        status: "completed",
        runner: { label: isOld ? "old" : "new", attempt: 1 },
        outputs_count: 1,
      });
      expect(server.seen.submissions).toHaveLength(1);
      await service.service.runners.change((await service.service.runners.list())[1]?.id ?? "", { state: "paused" });
    }
  });

  it("fails a job after three attempts and names the last cause", async () => {
    const client = await startTestService();
    const server = await addRunner("A");
    server.faults.set("GET /view", (_request, response) => void response.writeHead(403).end());
    const job = await waitForEnd(client, await submitGraph(client, createModelGraph(1)));
    expect(job).toMatchObject({
      status: "failed",
      execution_error: { exception_type: "WorkerLost" },
      runner: { attempt: 3 },
      outputs_count: 0,
    });
    expect(asString(asRecord(job.execution_error).exception_message)).toContain("A: It responds with status 403");
    expect(countSubmissions()).toEqual([3]);
  });

  it("moves a job when files are truncated or results unreadable", async () => {
    const client = await startTestService();
    const a = await addRunner("A");
    const first = await (async () => {
      a.faults.set("GET /view", (request, response) => {
        response.writeHead(200, { "content-length": 100 });
        response.write("partial", () => request.socket.destroy());
      });
      return submitGraph(client, createModelGraph(1));
    })();
    await until("A has received the job", async () => a.seen.submissions.length > 0);
    await addRunner("B");
    expect(await waitForEnd(client, first)).toMatchObject({ status: "completed", runner: { label: "B" } });
    a.faults.clear();
    // Waits until B is ready again, since A alone would use all three attempts.
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    a.faults.set("GET /history/*", async (request, response) => {
      await gate;
      response.writeHead(200).end(`{"${request.url?.split("/").at(-1) ?? ""}":{"status":"fine"}}`);
    });
    await service.service.runners.change((await service.service.runners.list()).find(({ label }) => label === "B")?.id ?? "", {
      state: "paused",
    });
    const second = await submitGraph(client, createModelGraph(2));
    await until("A has received the second job", async () => a.seen.submissions.length > 1);
    await service.service.runners.change((await service.service.runners.list()).find(({ label }) => label === "B")?.id ?? "", {
      state: "ready",
    });
    open();
    expect(await waitForEnd(client, second)).toMatchObject({ status: "completed", runner: { label: "B" } });
  });

  it("refetches a file after a disconnect without rerunning the job", async () => {
    const client = await startTestService();
    const server = await addRunner("A");
    let isCut = false;
    server.faults.set("GET /view", (request, _response, real) => {
      if (isCut) return real();
      isCut = true;
      request.socket.destroy();
    });
    expect(await waitForEnd(client, await submitGraph(client, createModelGraph(1)))).toMatchObject({
      status: "completed",
      runner: { attempt: 1 },
      outputs_count: 1,
    });
    expect(countSubmissions()).toEqual([1]);
  });

  it("fails a job immediately when its input is too large for every runner", async () => {
    const client = await startTestService();
    const server = await addRunner("A");
    await service.service.runners.change("built-in", { state: "paused" });
    await client.upload(new Uint8Array(createPng(16, 8)), "cat.png", { tags: '["input"]' });
    server.faults.set("POST /upload/image", (_request, response) => void response.writeHead(413).end());
    const graph = {
      "1": { class_type: "LoadImage", inputs: { image: "cat.png" } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    expect(await waitForEnd(client, await submitGraph(client, graph))).toMatchObject({
      status: "failed",
      execution_error: { exception_type: "InputTooLarge", exception_message: expect.stringContaining("as large as cat.png") },
      runner: { attempt: 1 },
    });
  });

  it("reports a runner's rejection and interruption as workflow errors", async () => {
    const client = await startTestService();
    const server = await addRunner("A");
    server.faults.set(
      "POST /prompt",
      (_request, response) =>
        void response
          .writeHead(400, { "content-type": "application/json" })
          .end(
            '{"error":{"type":"prompt_outputs_failed_validation","message":"bad","details":"","extra_info":{}},"node_errors":{"2":{"errors":[],"dependent_outputs":[],"class_type":"Sample"}}}',
          ),
    );
    const rejectedJob = await waitForEnd(client, await submitGraph(client, createModelGraph(1)));
    expect(rejectedJob).toMatchObject({ status: "failed", execution_error: { exception_type: "ValidationError" } });
    expect(asString(asRecord(rejectedJob.execution_error).exception_message)).toContain('"node_errors":{"2"');
    server.faults.clear();
    server.setMode("hold");
    const id = await submitGraph(client, createModelGraph(2));
    await waitUntilRunning(server);
    server.interrupt();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "failed", execution_error: { exception_type: "Interrupted" } });
  });

  it("sets a runner aside after failures of three users until it is resumed", async () => {
    await startTestService();
    const server = await addRunner("A");
    server.setMode("fail");
    for (const user of ["ada", "ada", "bob"]) {
      const client = service.client(user);
      await waitForEnd(client, await submitGraph(client, createModelGraph(1)));
    }
    const readRunner = async () => (await service.service.runners.list())[1];
    expect(await readRunner()).toMatchObject({ state: "ready", failed: 3 });
    const cy = service.client("cy");
    await waitForEnd(cy, await submitGraph(cy, createModelGraph(1)));
    expect(await readRunner()).toMatchObject({ state: "set_aside", reason: { code: "failures" } });
    server.setMode("run");
    const waitingId = await submitGraph(cy, createModelGraph(2));
    expect(await readJob(cy, waitingId)).toMatchObject({ status: "pending", waits: { state: "set_aside" } });
    await service.service.runners.change((await readRunner())?.id ?? "", { state: "ready" });
    expect(await waitForEnd(cy, waitingId)).toMatchObject({ status: "completed" });
  });

  it("doesn't resubmit a job after a service restart", async () => {
    const { a, id } = await startWithPausedJob();
    await service.service.stop();
    a.release();
    await service.service.start();
    const secondClient = service.client();
    expect(await waitForEnd(secondClient, id)).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 }, outputs_count: 1 });
    expect(countSubmissions()).toEqual([1]);
  });

  it("doesn't delay a stop or mark runners as failed", async () => {
    await startTestService();
    const server = await addRunner("A");
    let isRequested = false;
    server.faults.set("GET /system_stats", () => (isRequested = true)); // Never responds.
    await until("the runner is probed", async () => isRequested);
    await service.service.stop();
    await service.service.start();
    expect((await service.service.runners.list())[1]).toMatchObject({ label: "A", state: "ready" });
  });

  it("requeues a removed runner's jobs without counting the attempt", async () => {
    const { client, a, id } = await startWithPausedJob();
    await waitForStart(client, id);
    await addRunner("B");
    await service.service.runners.remove((await service.service.runners.list())[1]?.id ?? "");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 1 } });
    expect(a.queue().running).toBeUndefined();
  });
});
