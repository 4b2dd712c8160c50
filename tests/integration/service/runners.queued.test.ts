// Jobs that wait in a runner's own queue, behind jobs of other clients.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRunnerChores } from "@/lib/service/runners/runner-chores";
import { createRunners } from "@/lib/service/runners/store";
import { type Database, query } from "@/lib/service/store/database";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { type Client } from "@/tests/support/service";
import { createTestServiceStore } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";
import { createModelGraph, startRunnerService, waitUntilRunning } from "./runner-service";
import { createGate, createWaitGraph, listJobs, readJob, runGraph, silentLog, submitGraph, waitForEnd, waitForStart } from "./support";

const otherGraph = {
  "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0] } },
};

const listOwnSubmissions = (server: RunnerServer) => server.seen.submissions.filter(({ client_id }) => client_id !== undefined);
const waitUntilQueued = (client: Client, id: string) =>
  until("the job is queued at the runner", async () => {
    const job = await readJob(client, id);
    return job.waits !== undefined && job;
  });

/** Lets a runner run a job of another client. */
async function occupyRunner(server: RunnerServer): Promise<void> {
  server.setMode("hold");
  server.submitAsOtherClient(otherGraph);
  await waitUntilRunning(server);
}

/** Starts a service with one job, queued on its only runner A behind a job of another client. */
async function startWithQueuedJob(settings?: Parameters<typeof startRunnerService>[0]) {
  const testService = await startRunnerService({ runnerLeaseMs: 5000, ...settings });
  const a = await testService.addRunner("A");
  await occupyRunner(a);
  const id = await submitGraph(testService.client, createModelGraph());
  const queuedJob = await waitUntilQueued(testService.client, id);
  return { ...testService, a, id, queuedJob };
}

describe("jobs in a runner's own queue", () => {
  it("stay pending until the runner starts them", async () => {
    let clockOffsetMs = 0;
    const { client, a, id, queuedJob, readRunner } = await startWithQueuedJob({ now: () => Date.now() + clockOffsetMs });
    const waits = { state: "queued", runners: ["A"], ahead: 1, message: "Queued on A, behind 1 job." };
    expect(queuedJob).toMatchObject({ status: "pending", waits, runner: { label: "A", attempt: 1 } });
    expect(await listJobs(client, "status=pending")).toEqual([expect.objectContaining({ id, waits })]);
    expect(await readRunner("A")).toMatchObject({ running: 0 });
    clockOffsetMs = 3_600_000;
    const runningId = a.queue().running;
    a.release();
    await until("the runner starts the job", () => a.queue().running !== runningId);
    expect(await waitForStart(client, id)).not.toHaveProperty("waits");
    a.release();
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 } });
    expect(Number(job.execution_start_time) - Number(job.create_time) * 1000).toBeGreaterThanOrEqual(3_590_000);
    expect(Number(job.execution_end_time) - Number(job.execution_start_time)).toBeLessThan(3_000_000);
    expect((await readRunner("A"))?.meanRunMs).toBeLessThan(3_000_000);
  });

  it.each<[string, (client: Client, id: string) => Promise<unknown>]>([
    ["by its id", (client, id) => client.post("/api/queue", { delete: [id] })],
    ["with the whole queue", (client) => client.post("/api/queue", { clear: true })],
    ["as a job", (client, id) => client.post(`/api/jobs/${id}/cancel`)],
  ])("leave the runner's queue when they are cancelled %s", async (_name, cancel) => {
    const { client, a, id } = await startWithQueuedJob();
    await cancel(client, id);
    expect(await readJob(client, id)).toMatchObject({ status: "cancelled" });
    await until("the job has left the runner's queue", () => a.queue().pending.length === 0);
    expect(a.seen.interrupts).toEqual([]);
    // The slot is free again.
    const nextId = await submitGraph(client, createModelGraph("one.safetensors", 2));
    a.release();
    await until("the next job starts", () => a.seen.ran.length === 2);
    a.release();
    expect(await waitForEnd(client, nextId)).toMatchObject({ status: "completed" });
  });

  it("are not interrupted with the running jobs and move to a runner that is free", async () => {
    const { client, a, id, addRunner } = await startWithQueuedJob();
    await client.post("/api/interrupt");
    expect(await readJob(client, id)).toMatchObject({ status: "pending" });
    await addRunner("B");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 1 } });
    expect([a.queue().pending, a.seen.interrupts]).toEqual([[], []]);
  });

  it("are not sent to a busy runner while another one is free", async () => {
    const { client, addRunner } = await startRunnerService({ runnerCheckMs: 60_000, runnerLeaseMs: 5000 });
    const a = await addRunner("A");
    await runGraph(client, createModelGraph());
    await addRunner("B");
    await occupyRunner(a);
    expect(await runGraph(client, createModelGraph("one.safetensors", 2))).toMatchObject({ runner: { label: "B", attempt: 1 } });
    expect(listOwnSubmissions(a)).toHaveLength(1);
  });

  it("stay queued while the service restarts", async () => {
    const { client, service, a, id } = await startWithQueuedJob();
    await service.service.stop();
    await service.service.start();
    expect(await waitUntilQueued(client, id)).toMatchObject({ status: "pending" });
    a.release();
    await waitForStart(client, id);
    a.release();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "A", attempt: 1 } });
    expect(listOwnSubmissions(a)).toHaveLength(1);
  });
});

describe("draining runners", () => {
  it("finish their jobs and are then paused until resumed", async () => {
    const { client, addRunner, changeRunner, readRunner } = await startRunnerService();
    const server = await addRunner("GPU", { slots: 2 });
    server.setMode("hold");
    const first = await submitGraph(client, createModelGraph("one.safetensors", 1));
    await waitForStart(client, first);
    await changeRunner("GPU", "draining");
    const second = await submitGraph(client, createModelGraph("one.safetensors", 2));
    expect(await readRunner()).toMatchObject({ state: "draining", running: 1 });
    expect(await readJob(client, second)).toMatchObject({
      status: "pending",
      waits: { state: "draining", runners: ["GPU"], message: "Waits for GPU, which is draining and takes no new jobs." },
    });
    server.setMode("run");
    server.release();
    expect(await waitForEnd(client, first)).toMatchObject({ status: "completed", runner: { label: "GPU" } });
    await until("the runner is paused", async () => (await readRunner())?.state === "paused");
    expect(await readJob(client, second)).toMatchObject({ status: "pending", waits: { state: "paused", runners: ["GPU"] } });
    expect(server.seen.submissions).toHaveLength(1);
    await changeRunner("GPU", "ready");
    expect(await waitForEnd(client, second)).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 } });
  });

  it("include the built-in runner when it is the only one", async () => {
    const { client, changeRunner, readRunner } = await startRunnerService();
    const id = await submitGraph(client, createWaitGraph(1));
    await waitForStart(client, id);
    await changeRunner("Built-in", "draining");
    expect(await readRunner("Built-in")).toMatchObject({ state: "draining", running: 1 });
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
    await until("the runner is paused", async () => (await readRunner("Built-in"))?.state === "paused");
  });
});

describe("changed runners", () => {
  let database: Database;
  let server: RunnerServer;
  beforeEach(async () => {
    database = await (await createTestServiceStore()).open();
    server = await startRunnerServer({ objectInfo: createGpuClasses(["one.safetensors"]) });
    const values = { id: "r", label: "R", address: server.address, tags: "[]", slots: 1, devices: "[]", created_at: 1 };
    await database.commit((tx) => tx.run(query.insertInto("runners").values({ ...values, mode: "ready" })));
  });
  afterEach(() => database.close());

  /** Delays the response to a probe until `open` is called. */
  function holdProbe(probedServer: RunnerServer, mode: "fails" | "succeeds" = "succeeds") {
    const { open, opened } = createGate();
    let isRequested = false;
    probedServer.faults.set("GET /system_stats", async (_request, response, real) => {
      isRequested = true;
      await opened;
      if (mode === "succeeds") await real();
      else response.writeHead(500).end();
    });
    return { open, waitForProbe: () => until("the runner is probed", () => isRequested) };
  }

  function createCheck(checkIntervalMs: number): () => Promise<unknown> {
    const noop = () => Promise.resolve();
    const dependencies = {
      ...{ database, now: Date.now, log: silentLog, checkIntervalMs },
      ...{ notifyChange: noop, handlePeerChange: noop, signal: new AbortController().signal },
    };
    const chore = createRunnerChores(dependencies)[0];
    return async () => chore?.run(() => true);
  }

  it.each([
    ["fails", "address change", { address: "http://127.0.0.1:9" }],
    ["succeeds", "address change", { address: "http://127.0.0.1:9" }],
    ["succeeds", "removal", { removed_at: 2 }],
  ] as const)("ignores a probe that %s after the %s", async (mode, _event, change) => {
    const { open, waitForProbe } = holdProbe(server, mode);
    const choreRun = createCheck(120_000)();
    await waitForProbe();
    await database.commit((tx) => tx.run(query.updateTable("runners").set(change).where("id", "=", "r")));
    open();
    await choreRun;
    expect(await database.row(query.selectFrom("runners").selectAll().where("id", "=", "r"))).toMatchObject({
      problem: null,
      version: null,
      checked_at: null,
    });
    expect(await database.rows(query.selectFrom("runner_catalogues").select("runner_id"))).toEqual([]);
  });

  it("checks and drains a runner while another one responds slowly", { timeout: 20_000 }, async () => {
    const { open, waitForProbe } = holdProbe(server);
    const otherServer = await startRunnerServer({ objectInfo: createGpuClasses(["two.safetensors"]) });
    const values = { label: "S", address: otherServer.address, tags: "[]", slots: 1, devices: "[]", created_at: 1 };
    await database.commit((tx) => tx.run(query.insertInto("runners").values({ ...values, id: "s", mode: "draining" })));
    const check = createCheck(2);
    const readRunner = () => database.row(query.selectFrom("runners").select(["checked_at", "mode"]).where("id", "=", "s"));
    await check();
    await waitForProbe();
    await until("the other runner is checked", async () => (await readRunner())?.checked_at !== null);
    await check();
    expect(await readRunner()).toMatchObject({ mode: "paused" });
    open();
  });

  it("discards a probe when the runner was removed meanwhile", async () => {
    const newServer = await startRunnerServer({ objectInfo: createGpuClasses(["two.safetensors"]) });
    const { open, waitForProbe } = holdProbe(newServer);
    const runners = createRunners({ database, now: Date.now, builtIn: { slots: () => Promise.resolve(1), classes: 1 } });
    const pendingChange = runners.change("r", { address: newServer.address });
    await waitForProbe();
    expect((await runners.remove("r")).ok).toBe(true);
    open();
    expect(await pendingChange).toMatchObject({ ok: false, failure: { code: "not_found" } });
    expect(await database.rows(query.selectFrom("runner_catalogues").select("runner_id"))).toEqual([]);
  });
});
