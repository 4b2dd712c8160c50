// Runner failures and their effect on jobs. Each job ends once, on another runner if needed, with a reason.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "@/tests/support/until";
import { createModelGraph as createGraph, createModelImage, startRunnerService, waitUntilRunning } from "./runner-service";
import { asRecord, asString, createGate, createLoadGraph, readJob, runGraph, submitGraph, waitForEnd, waitForStart } from "./support";

const createModelGraph = (seed: number) => createGraph("one.safetensors", seed);

/** Starts a service with one job, paused in its first node on its only runner A. */
async function startWithPausedJob(settings?: Parameters<typeof startRunnerService>[0]) {
  const testService = await startRunnerService(settings);
  const a = await testService.addRunner("A");
  a.setMode("hold");
  const id = await submitGraph(testService.client, createModelGraph(1));
  await waitUntilRunning(a);
  return { ...testService, a, id };
}

describe("runner failures", () => {
  it("fails a job without a work folder but frees the runner", async () => {
    const { client, service, addRunner } = await startRunnerService();
    const a = await addRunner("A");
    await rm(join(service.folder, "work"), { recursive: true });
    const id = await submitGraph(client, createModelGraph(1));
    expect(await waitForEnd(client, id)).toMatchObject({ status: "failed", execution_error: { exception_type: "ServiceError" } });
    await mkdir(join(service.folder, "work"));
    expect(await runGraph(client, createModelGraph(2))).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 } });
    expect(a.seen.submissions).toHaveLength(1);
  });

  it("moves a job to another runner when a restart clears the queue", async () => {
    const { client, a, id, addRunner } = await startWithPausedJob();
    const b = await addRunner("B");
    a.restart();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 }, outputs_count: 1 });
    expect([a, b].map(({ seen }) => seen.submissions.length)).toEqual([1, 1]);
  });

  it("moves a job to another runner after an outage and discards late work", async () => {
    const { client, a, id, addRunner } = await startWithPausedJob();
    await addRunner("B");
    await a.disconnect();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 } });
    await a.reconnect();
    await until("the job is interrupted on A", () => a.queue().running === undefined && a.seen.interrupts.length === 1);
    expect(await readJob(client, id)).toMatchObject({ status: "completed", runner: { label: "B" }, outputs_count: 1 });
  });

  it("resumes a job's events and reads its result after short network losses", async () => {
    const { client, a, id } = await startWithPausedJob({ runnerLeaseMs: 30_000 });
    await a.disconnect();
    await until("A has no listeners", () => !a.hasListeners());
    await a.reconnect();
    await until("A has listeners again", () => a.hasListeners());
    await a.disconnect();
    a.release();
    await until("the job has ended on A", () => a.queue().running === undefined);
    await a.reconnect();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 }, outputs_count: 1 });
    expect(a.seen.submissions).toHaveLength(1);
  });

  it("reruns a job once when the runner's cached files are missing", async () => {
    const { client, addRunner } = await startRunnerService();
    const a = await addRunner("A");
    await runGraph(client, createModelGraph(1));
    a.deleteOutputs();
    const job = await runGraph(client, createModelGraph(1));
    expect(job).toMatchObject({ status: "completed", outputs_count: 1, runner: { label: "A", attempt: 2 } });
    expect(asRecord(job.execution_status).messages).toContainEqual(["note", expect.objectContaining({ code: "cache_cleared" })]);
    expect(a.seen.frees).toEqual([{ unload_models: true, free_memory: true }]);
    a.deleteOutputs();
    a.faults.set("POST /free", (_request, response) => response.end());
    const failedJob = await runGraph(client, createModelGraph(1));
    expect(failedJob).toMatchObject({ status: "failed", execution_error: { exception_type: "OutputMissing" } });
    expect(asRecord(failedJob.execution_error).exception_message).toContain("A reports output files that it does not have");
    expect(await runGraph(client, createModelGraph(2))).toMatchObject({ status: "completed", runner: { attempt: 1 } });
  });

  it("interrupts and moves a job when its runner is unresponsive", async () => {
    const { client, a, id, addRunner } = await startWithPausedJob({ runnerUnresponsiveMs: 300 });
    await addRunner("B");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 2 } });
    expect(a.seen.interrupts).toHaveLength(1);
  });

  it.each([false, true])("doesn't resubmit a job when the submission's response is lost (old server: %s)", async (isOld) => {
    const { client, addRunner } = await startRunnerService();
    const server = await addRunner("A", { isOld });
    server.faults.set("POST /prompt", async (request, response, real) => {
      // The submission arrives, but its response is lost.
      response.writeHead = (() => response) as never;
      response.end = (() => request.socket.destroy()) as never;
      await real();
    });
    expect(await runGraph(client, createModelGraph(1))).toMatchObject({
      status: "completed",
      runner: { label: "A", attempt: 1 },
      outputs_count: 1,
    });
    expect(server.seen.submissions).toHaveLength(1);
  });

  it("fails a job after three attempts and names the last cause", async () => {
    const { client, addRunner } = await startRunnerService();
    const server = await addRunner("A");
    server.faults.set("GET /view", (_request, response) => void response.writeHead(403).end());
    const job = await runGraph(client, createModelGraph(1));
    expect(job).toMatchObject({
      status: "failed",
      execution_error: { exception_type: "WorkerLost" },
      runner: { attempt: 3 },
      outputs_count: 0,
    });
    expect(asString(asRecord(job.execution_error).exception_message)).toContain("A: It responds with status 403");
    expect(server.seen.submissions).toHaveLength(3);
  });

  it("moves a job when files are truncated or results unreadable", async () => {
    const { client, addRunner, changeRunner } = await startRunnerService();
    const a = await addRunner("A");
    a.faults.set("GET /view", (request, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("partial", () => request.socket.destroy());
    });
    const first = await submitGraph(client, createModelGraph(1));
    await until("A has received the job", () => a.seen.submissions.length > 0);
    await addRunner("B");
    expect(await waitForEnd(client, first)).toMatchObject({ status: "completed", runner: { label: "B" } });
    a.faults.clear();
    // Waits until B is ready again, since A alone would use all three attempts.
    const { open, opened } = createGate();
    a.faults.set("GET /history/*", async (request, response) => {
      await opened;
      response.writeHead(200).end(`{"${request.url?.split("/").at(-1) ?? ""}":{"status":"fine"}}`);
    });
    await changeRunner("B", "paused");
    const second = await submitGraph(client, createModelGraph(2));
    await until("A has received the second job", () => a.seen.submissions.length > 1);
    await changeRunner("B", "ready");
    open();
    expect(await waitForEnd(client, second)).toMatchObject({ status: "completed", runner: { label: "B" } });
  });

  it("refetches a file after a disconnect without rerunning the job", async () => {
    const { client, addRunner } = await startRunnerService();
    const server = await addRunner("A");
    let isCut = false;
    server.faults.set("GET /view", (request, _response, real) => {
      if (isCut) return real();
      isCut = true;
      request.socket.destroy();
    });
    expect(await runGraph(client, createModelGraph(1))).toMatchObject({
      status: "completed",
      runner: { attempt: 1 },
      outputs_count: 1,
    });
    expect(server.seen.submissions).toHaveLength(1);
  });

  it("fails a job immediately when its input is too large for every runner", async () => {
    const { client, addRunner, changeRunner } = await startRunnerService();
    const server = await addRunner("A");
    await changeRunner("Built-in", "paused");
    await client.upload(new Uint8Array(createModelImage(1)), "cat.png", { tags: '["input"]' });
    server.faults.set("POST /upload/image", (_request, response) => void response.writeHead(413).end());
    expect(await runGraph(client, createLoadGraph("cat.png"))).toMatchObject({
      status: "failed",
      execution_error: { exception_type: "InputTooLarge", exception_message: expect.stringContaining("as large as cat.png") },
      runner: { attempt: 1 },
    });
  });

  it("reports a runner's rejection and interruption as workflow errors", async () => {
    const { client, addRunner } = await startRunnerService();
    const server = await addRunner("A");
    const nodeErrors = '{"2":{"errors":[],"dependent_outputs":[],"class_type":"Sample"}}';
    const error = '{"type":"prompt_outputs_failed_validation","message":"bad","details":"","extra_info":{}}';
    server.faults.set("POST /prompt", (_request, response) => {
      response.writeHead(400, { "content-type": "application/json" }).end(`{"error":${error},"node_errors":${nodeErrors}}`);
    });
    const rejectedJob = await runGraph(client, createModelGraph(1));
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
    const { service, addRunner, changeRunner, readRunner } = await startRunnerService();
    const server = await addRunner("A");
    server.setMode("fail");
    for (const user of ["ada", "ada", "bob"]) {
      const client = service.client(user);
      await runGraph(client, createModelGraph(1));
    }
    expect(await readRunner("A")).toMatchObject({ state: "ready", failed: 3 });
    const cy = service.client("cy");
    await runGraph(cy, createModelGraph(1));
    expect(await readRunner("A")).toMatchObject({ state: "set_aside", reason: { code: "failures" } });
    server.setMode("run");
    const waitingId = await submitGraph(cy, createModelGraph(2));
    expect(await readJob(cy, waitingId)).toMatchObject({ status: "pending", waits: { state: "set_aside" } });
    await changeRunner("A", "ready");
    expect(await waitForEnd(cy, waitingId)).toMatchObject({ status: "completed" });
  });

  it("doesn't resubmit a job after a service restart", async () => {
    const { client, service, a, id } = await startWithPausedJob();
    await service.service.stop();
    a.release();
    await service.service.start();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 }, outputs_count: 1 });
    expect(a.seen.submissions).toHaveLength(1);
  });

  it("doesn't delay a stop or mark runners as failed", async () => {
    const { service, addRunner, readRunner } = await startRunnerService();
    const server = await addRunner("A");
    let isRequested = false;
    server.faults.set("GET /system_stats", () => (isRequested = true)); // Never responds.
    await until("the runner is probed", () => isRequested);
    await service.service.stop();
    await service.service.start();
    expect(await readRunner("A")).toMatchObject({ label: "A", state: "ready" });
  });

  it("requeues a removed runner's jobs without counting the attempt", async () => {
    const { client, a, id, addRunner, removeRunner } = await startWithPausedJob();
    await waitForStart(client, id);
    await addRunner("B");
    await removeRunner("A");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 1 } });
    expect(a.queue().running).toBeUndefined();
  });
});
