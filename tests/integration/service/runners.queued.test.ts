// Jobs that wait in a runner's own queue, behind jobs of other clients.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRunnerChores } from "@/lib/service/runners/runner-chores";
import { createRunners } from "@/lib/service/runners/store";
import { type Database, query } from "@/lib/service/store/database";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { createTestServiceStore, type TestServiceStore } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";
import { addRunner, makes, modelGraph } from "./built-in-job";
import { asRecord, asRecords, asString, readJob, submit, waitForEnd, waitForStart, waitGraph } from "./support";

const foreign = { "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } }, "2": { class_type: "SaveImage", inputs: { images: ["1", 0] } } }; // prettier-ignore

const ownSubmissions = (server: RunnerServer) => server.seen.submissions.filter(({ client_id }) => client_id !== undefined);

describe("jobs in a runner's own queue", () => {
  let service: TestService;
  let lateMs = 0;
  const servers: RunnerServer[] = [];
  afterEach(async () => {
    await service.dispose();
    for (const server of servers.splice(0)) await server.close();
    lateMs = 0;
  });

  async function start(settings: Parameters<typeof startService>[0] = {}): Promise<Client> {
    const now = () => Date.now() + lateMs;
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
  async function add(label: string): Promise<RunnerServer> {
    const server = await addRunner(service, label);
    servers.push(server);
    return server;
  }
  /** A runner that is busy with a job of someone else. */
  async function addBusy(label: string): Promise<RunnerServer> {
    const server = await add(label);
    server.does("hold");
    server.strange(foreign);
    await until("the other job runs", () => server.queue().running !== undefined);
    return server;
  }
  const isQueued = (client: Client, id: string) => until("it is queued there", async () => { const job = await readJob(client, id); return job.waits !== undefined && job; }); // prettier-ignore

  it("stay pending until the runner starts them", async () => {
    const client = await start();
    const server = await addBusy("GPU 1");
    const id = await submit(client, modelGraph());
    const waits = { state: "queued", runners: ["GPU 1"], ahead: 1, message: "Queued on GPU 1, behind 1 job." };
    expect(await isQueued(client, id)).toMatchObject({ status: "pending", waits, runner: { label: "GPU 1", attempt: 1 } });
    expect(asRecords(asRecord((await client.get("/api/jobs?status=pending")).body).jobs)).toEqual([expect.objectContaining({ id, waits })]);
    expect((await service.service.runners.list())[1]).toMatchObject({ running: 0 });
    lateMs = 3_600_000;
    const runningId = server.queue().running;
    server.release();
    await until("the runner begins it", () => server.queue().running !== runningId);
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
  ])("leave that queue when they are cancelled %s", async (_name, cancel) => {
    const client = await start();
    const server = await addBusy("GPU 1");
    const id = await submit(client, modelGraph());
    await isQueued(client, id);
    await cancel(client, id);
    expect(await readJob(client, id)).toMatchObject({ status: "cancelled" });
    await until("it left the queue there", () => server.queue().pending.length === 0);
    expect(server.seen.interrupts).toEqual([]);
    // The slot is free again.
    const next = await submit(client, modelGraph("one.safetensors", 2));
    server.release();
    await until("the next one begins", () => server.seen.ran.length === 2);
    server.release();
    expect(await waitForEnd(client, next)).toMatchObject({ status: "completed" });
  });

  it("are not stopped with the running jobs", async () => {
    const client = await start();
    await addBusy("GPU 1");
    const id = await submit(client, modelGraph());
    await isQueued(client, id);
    await client.post("/api/interrupt");
    expect(await readJob(client, id)).toMatchObject({ status: "pending" });
  });

  it("are not sent to a busy runner while another one is free", async () => {
    const client = await start({ runnerCheckMs: 60_000 });
    const busy = await add("A");
    await waitForEnd(client, await submit(client, modelGraph()));
    await add("B");
    busy.does("hold");
    busy.strange(foreign);
    await until("the other job runs", () => busy.queue().running !== undefined);
    expect(await waitForEnd(client, await submit(client, modelGraph("one.safetensors", 2)))).toMatchObject({
      runner: { label: "B", attempt: 1 },
    });
    expect(ownSubmissions(busy)).toHaveLength(1);
  });

  it("move to a runner that becomes free", async () => {
    const client = await start();
    const busy = await addBusy("A");
    const id = await submit(client, modelGraph());
    await isQueued(client, id);
    await add("B");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 1 } });
    expect([busy.queue().pending, busy.seen.interrupts]).toEqual([[], []]);
  });

  it("stay queued while the service restarts", async () => {
    const client = await start();
    const server = await addBusy("GPU 1");
    const id = await submit(client, modelGraph());
    await isQueued(client, id);
    await service.service.stop();
    const { folder } = service;
    service = await startService({ ...service.settings, dataDir: folder });
    const secondClient = service.client();
    expect(asString((await isQueued(secondClient, id)).status)).toBe("pending");
    server.release();
    await waitForStart(secondClient, id);
    server.release();
    expect(await waitForEnd(secondClient, id)).toMatchObject({ status: "completed", runner: { label: "GPU 1", attempt: 1 } });
    expect(ownSubmissions(server)).toHaveLength(1);
  });
});

describe("runners draining", () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService({ runnerCheckMs: 100 });
  });

  const readRunner = async (label: string) => (await service.service.runners.list()).find((runner) => runner.label === label);

  it("finishes a draining runner's jobs, then pauses it until resumed", async () => {
    const server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]), makeOutput: makes });
    const outcome = await service.service.runners.add({ address: server.address, label: "GPU", slots: 2 });
    const id = outcome.ok ? outcome.value.id : "";
    const client = service.client();
    server.does("hold");
    const first = await submit(client, modelGraph("one.safetensors", 1));
    await waitForStart(client, first);
    await service.service.runners.change(id, { state: "draining" });
    const second = await submit(client, modelGraph("one.safetensors", 2));
    expect(await readRunner("GPU")).toMatchObject({ state: "draining", running: 1 });
    expect(await readJob(client, second)).toMatchObject({
      status: "pending",
      waits: { state: "draining", runners: ["GPU"], message: "Waits for GPU, which is draining and takes no new jobs." },
    });
    server.does("run");
    server.release();
    expect(await waitForEnd(client, first)).toMatchObject({ status: "completed", runner: { label: "GPU" } });
    await until("it is paused", async () => (await readRunner("GPU"))?.state === "paused");
    expect(await readJob(client, second)).toMatchObject({ status: "pending", waits: { state: "paused", runners: ["GPU"] } });
    expect(server.seen.submissions).toHaveLength(1);
    await service.service.runners.change(id, { state: "ready" });
    expect(await waitForEnd(client, second)).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 } });
  });

  it("pauses the built-in runner once it has drained, also where there is no other", async () => {
    const client = service.client();
    const readBuiltInRunner = () => readRunner("Built-in");
    const id = await submit(client, waitGraph(1));
    await waitForStart(client, id);
    await service.service.runners.change("built-in", { state: "draining" });
    expect(await readBuiltInRunner()).toMatchObject({ state: "draining", running: 1 });
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
    await until("it is paused", async () => (await readBuiltInRunner())?.state === "paused");
  });
});

describe("runners moved", () => {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

  let storeHome: TestServiceStore;
  let database: Database;
  let server: RunnerServer;
  beforeEach(async () => {
    storeHome = await createTestServiceStore();
    database = await storeHome.open();
    server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]) });
    const values = { id: "r", label: "R", address: server.address, tags: "[]", slots: 1, devices: "[]", created_at: 1 };
    await database.commit((tx) => tx.run(query.insertInto("runners").values({ ...values, mode: "ready" })));
  });
  afterEach(async () => {
    await server.close();
    await database.close();
  });

  it.each([
    ["is not told as its own", "fails", { address: "http://127.0.0.1:9" }],
    ["is not told as its own", "answers", { address: "http://127.0.0.1:9" }],
    ["is not kept of one that was removed", "answers", { removed_at: 2 }],
  ] as const)("%s when the previous one %s late", async (_what, mode, change) => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let isRequested = false;
    server.faults.set("GET /system_stats", async (_request, response, real) => {
      isRequested = true;
      await gate;
      if (mode === "answers") await real();
      else response.writeHead(500).end();
    });
    const nothing = () => Promise.resolve();
    const stores = {
      ...{ database, now: Date.now, log, checkMs: 1000 },
      ...{ changed: nothing, changedElsewhere: nothing, signal: new AbortController().signal },
    };
    const round = createRunnerChores(stores)[0]?.round(() => true);
    await until("it is asked", () => isRequested);
    await database.commit((tx) => tx.run(query.updateTable("runners").set(change).where("id", "=", "r")));
    open();
    await round;
    expect(await database.row(query.selectFrom("runners").selectAll().where("id", "=", "r"))).toMatchObject({
      problem: null,
      version: null,
      checked_at: null,
    });
    expect(await database.rows(query.selectFrom("runner_catalogues").select("runner_id"))).toEqual([]);
  });

  it("forgets a probe of a runner removed meanwhile", async () => {
    const next = await startRunnerServer({ objectInfo: gpuClasses(["two.safetensors"]) });
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let isRequested = false;
    next.faults.set("GET /system_stats", async (_request, _response, real) => {
      isRequested = true;
      await gate;
      await real();
    });
    const runners = createRunners({ database, now: Date.now, builtIn: { slots: () => Promise.resolve(1), classes: 1 } });
    const pendingChange = runners.change("r", { address: next.address });
    await until("it is asked", () => isRequested);
    expect((await runners.remove("r")).ok).toBe(true);
    open();
    expect(await pendingChange).toMatchObject({ ok: false, failure: { code: "not_found" } });
    expect(await database.rows(query.selectFrom("runner_catalogues").select("runner_id"))).toEqual([]);
  });
});
