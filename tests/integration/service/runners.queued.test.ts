// Jobs that wait in a runner's own queue, behind jobs of other clients.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRunnerChores } from "@/lib/service/runners/runner-chores";
import { createRunners } from "@/lib/service/runners/store";
import { type Database, query } from "@/lib/service/store/database";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { createTestServiceStore, type TestServiceStore } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";
import { addRunner, createModelGraph, createModelOutput } from "./model-job";
import { asRecord, asRecords, asString, createWaitGraph, readJob, submitGraph, waitForEnd, waitForStart } from "./support";

const otherGraph = { "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } }, "2": { class_type: "SaveImage", inputs: { images: ["1", 0] } } }; // prettier-ignore

const listOwnSubmissions = (server: RunnerServer) => server.seen.submissions.filter(({ client_id }) => client_id !== undefined);

describe("jobs in a runner's own queue", () => {
  let service: TestService;
  let clockOffsetMs = 0;
  const servers: RunnerServer[] = [];
  afterEach(async () => {
    await service.dispose();
    for (const server of servers.splice(0)) await server.close();
    clockOffsetMs = 0;
  });

  async function startTestService(settings: Parameters<typeof startService>[0] = {}): Promise<Client> {
    const now = () => Date.now() + clockOffsetMs;
    service = await startService({
      runnerCheckMs: 100,
      runnerLeaseMs: 5000,
      runnerUnresponsiveMs: 60_000,
      concurrency: 1,
      now,
      ...settings,
    });
    return service.client();
  }
  async function addTestRunner(label: string): Promise<RunnerServer> {
    const server = await addRunner(service, label);
    servers.push(server);
    return server;
  }
  /** Adds a runner that is busy with another client's job. */
  async function addBusyRunner(label: string): Promise<RunnerServer> {
    const server = await addTestRunner(label);
    server.setMode("hold");
    server.submitAsOtherClient(otherGraph);
    await until("the other job runs", () => server.queue().running !== undefined);
    return server;
  }
  const waitUntilQueued = (client: Client, id: string) => until("the job is queued at the runner", async () => { const job = await readJob(client, id); return job.waits !== undefined && job; }); // prettier-ignore

  it("stay pending until the runner starts them", async () => {
    const client = await startTestService();
    const server = await addBusyRunner("GPU 1");
    const id = await submitGraph(client, createModelGraph());
    const waits = { state: "queued", runners: ["GPU 1"], ahead: 1, message: "Queued on GPU 1, behind 1 job." };
    expect(await waitUntilQueued(client, id)).toMatchObject({ status: "pending", waits, runner: { label: "GPU 1", attempt: 1 } });
    expect(asRecords(asRecord((await client.get("/api/jobs?status=pending")).body).jobs)).toEqual([expect.objectContaining({ id, waits })]);
    expect((await service.service.runners.list())[1]).toMatchObject({ running: 0 });
    clockOffsetMs = 3_600_000;
    const runningId = server.queue().running;
    server.release();
    await until("the runner starts the job", () => server.queue().running !== runningId);
    expect(await waitForStart(client, id)).not.toHaveProperty("waits");
    server.release();
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "completed", runner: { label: "GPU 1", attempt: 1 } });
    expect(Number(job.execution_start_time) - Number(job.create_time) * 1000).toBeGreaterThanOrEqual(3_590_000);
    expect(Number(job.execution_end_time) - Number(job.execution_start_time)).toBeLessThan(3_000_000);
    expect((await service.service.runners.list())[1]?.meanRunMs).toBeLessThan(3_000_000);
  });

  it.each<[string, (client: Client, id: string) => Promise<unknown>]>([
    ["by its id", (client, id) => client.post("/api/queue", { delete: [id] })],
    ["with the whole queue", (client) => client.post("/api/queue", { clear: true })],
    ["as a job", (client, id) => client.post(`/api/jobs/${id}/cancel`)],
  ])("leave the runner's queue when they are cancelled %s", async (_name, cancel) => {
    const client = await startTestService();
    const server = await addBusyRunner("GPU 1");
    const id = await submitGraph(client, createModelGraph());
    await waitUntilQueued(client, id);
    await cancel(client, id);
    expect(await readJob(client, id)).toMatchObject({ status: "cancelled" });
    await until("the job has left the runner's queue", () => server.queue().pending.length === 0);
    expect(server.seen.interrupts).toEqual([]);
    // The slot is free again.
    const nextId = await submitGraph(client, createModelGraph("one.safetensors", 2));
    server.release();
    await until("the next job starts", () => server.seen.ran.length === 2);
    server.release();
    expect(await waitForEnd(client, nextId)).toMatchObject({ status: "completed" });
  });

  it("are not interrupted with the running jobs", async () => {
    const client = await startTestService();
    await addBusyRunner("GPU 1");
    const id = await submitGraph(client, createModelGraph());
    await waitUntilQueued(client, id);
    await client.post("/api/interrupt");
    expect(await readJob(client, id)).toMatchObject({ status: "pending" });
  });

  it("are not sent to a busy runner while another one is free", async () => {
    const client = await startTestService({ runnerCheckMs: 60_000 });
    const busyRunner = await addTestRunner("A");
    await waitForEnd(client, await submitGraph(client, createModelGraph()));
    await addTestRunner("B");
    busyRunner.setMode("hold");
    busyRunner.submitAsOtherClient(otherGraph);
    await until("the other job runs", () => busyRunner.queue().running !== undefined);
    expect(await waitForEnd(client, await submitGraph(client, createModelGraph("one.safetensors", 2)))).toMatchObject({
      runner: { label: "B", attempt: 1 },
    });
    expect(listOwnSubmissions(busyRunner)).toHaveLength(1);
  });

  it("move to a runner that becomes free", async () => {
    const client = await startTestService();
    const busyRunner = await addBusyRunner("A");
    const id = await submitGraph(client, createModelGraph());
    await waitUntilQueued(client, id);
    await addTestRunner("B");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 1 } });
    expect([busyRunner.queue().pending, busyRunner.seen.interrupts]).toEqual([[], []]);
  });

  it("stay queued while the service restarts", async () => {
    const client = await startTestService();
    const server = await addBusyRunner("GPU 1");
    const id = await submitGraph(client, createModelGraph());
    await waitUntilQueued(client, id);
    await service.service.stop();
    const { folder } = service;
    service = await startService({ ...service.settings, dataDir: folder });
    const secondClient = service.client();
    expect(asString((await waitUntilQueued(secondClient, id)).status)).toBe("pending");
    server.release();
    await waitForStart(secondClient, id);
    server.release();
    expect(await waitForEnd(secondClient, id)).toMatchObject({ status: "completed", runner: { label: "GPU 1", attempt: 1 } });
    expect(listOwnSubmissions(server)).toHaveLength(1);
  });
});

describe("draining runners", () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService({ runnerCheckMs: 100 });
  });

  const readRunner = async (label: string) => (await service.service.runners.list()).find((runner) => runner.label === label);

  it("finish their jobs and are then paused until resumed", async () => {
    const server = await startRunnerServer({ objectInfo: createGpuClasses(["one.safetensors"]), makeOutput: createModelOutput });
    const outcome = await service.service.runners.add({ address: server.address, label: "GPU", slots: 2 });
    const id = outcome.ok ? outcome.value.id : "";
    const client = service.client();
    server.setMode("hold");
    const first = await submitGraph(client, createModelGraph("one.safetensors", 1));
    await waitForStart(client, first);
    await service.service.runners.change(id, { state: "draining" });
    const second = await submitGraph(client, createModelGraph("one.safetensors", 2));
    expect(await readRunner("GPU")).toMatchObject({ state: "draining", running: 1 });
    expect(await readJob(client, second)).toMatchObject({
      status: "pending",
      waits: { state: "draining", runners: ["GPU"], message: "Waits for GPU, which is draining and takes no new jobs." },
    });
    server.setMode("run");
    server.release();
    expect(await waitForEnd(client, first)).toMatchObject({ status: "completed", runner: { label: "GPU" } });
    await until("the runner is paused", async () => (await readRunner("GPU"))?.state === "paused");
    expect(await readJob(client, second)).toMatchObject({ status: "pending", waits: { state: "paused", runners: ["GPU"] } });
    expect(server.seen.submissions).toHaveLength(1);
    await service.service.runners.change(id, { state: "ready" });
    expect(await waitForEnd(client, second)).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 } });
  });

  it("include the built-in runner when it is the only one", async () => {
    const client = service.client();
    const readBuiltInRunner = () => readRunner("Built-in");
    const id = await submitGraph(client, createWaitGraph(1));
    await waitForStart(client, id);
    await service.service.runners.change("built-in", { state: "draining" });
    expect(await readBuiltInRunner()).toMatchObject({ state: "draining", running: 1 });
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
    await until("the runner is paused", async () => (await readBuiltInRunner())?.state === "paused");
  });
});

describe("changed runners", () => {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

  let storeHome: TestServiceStore;
  let database: Database;
  let server: RunnerServer;
  beforeEach(async () => {
    storeHome = await createTestServiceStore();
    database = await storeHome.open();
    server = await startRunnerServer({ objectInfo: createGpuClasses(["one.safetensors"]) });
    const values = { id: "r", label: "R", address: server.address, tags: "[]", slots: 1, devices: "[]", created_at: 1 };
    await database.commit((tx) => tx.run(query.insertInto("runners").values({ ...values, mode: "ready" })));
  });
  afterEach(async () => {
    await server.close();
    await database.close();
  });

  it.each([
    ["fails", "address change", { address: "http://127.0.0.1:9" }],
    ["succeeds", "address change", { address: "http://127.0.0.1:9" }],
    ["succeeds", "removal", { removed_at: 2 }],
  ] as const)("ignores a probe that %s after the %s", async (mode, _event, change) => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let isRequested = false;
    server.faults.set("GET /system_stats", async (_request, response, real) => {
      isRequested = true;
      await gate;
      if (mode === "succeeds") await real();
      else response.writeHead(500).end();
    });
    const noop = () => Promise.resolve();
    const dependencies = {
      ...{ database, now: Date.now, log, checkIntervalMs: 1000 },
      ...{ notifyChange: noop, handlePeerChange: noop, signal: new AbortController().signal },
    };
    const choreRun = createRunnerChores(dependencies)[0]?.run(() => true);
    await until("the runner is probed", () => isRequested);
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

  it("discards a probe when the runner was removed meanwhile", async () => {
    const newServer = await startRunnerServer({ objectInfo: createGpuClasses(["two.safetensors"]) });
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let isRequested = false;
    newServer.faults.set("GET /system_stats", async (_request, _response, real) => {
      isRequested = true;
      await gate;
      await real();
    });
    const runners = createRunners({ database, now: Date.now, builtIn: { slots: () => Promise.resolve(1), classes: 1 } });
    const pendingChange = runners.change("r", { address: newServer.address });
    await until("the runner is probed", () => isRequested);
    expect((await runners.remove("r")).ok).toBe(true);
    open();
    expect(await pendingChange).toMatchObject({ ok: false, failure: { code: "not_found" } });
    expect(await database.rows(query.selectFrom("runner_catalogues").select("runner_id"))).toEqual([]);
  });
});
