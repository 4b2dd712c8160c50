// Jobs that wait in a runner's own queue, behind the work of others.
import { afterEach, describe, expect, it } from "vitest";
import { type RunnerServer } from "@/tests/support/runner-server";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { addRunner, made } from "./built-in-job";
import { detail, ended, list, record, running, string, submit } from "./support";

const foreign = { "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } }, "2": { class_type: "SaveImage", inputs: { images: ["1", 0] } } }; // prettier-ignore

const ownSubmissions = (server: RunnerServer) => server.seen.submissions.filter(({ client_id }) => client_id !== undefined);

describe("jobs in a runner's own queue", () => {
  let bench: ServiceBench;
  let lateMs = 0;
  const servers: RunnerServer[] = [];
  afterEach(async () => {
    await bench.dispose();
    for (const server of servers.splice(0)) await server.close();
    lateMs = 0;
  });

  async function start(settings: Parameters<typeof startService>[0] = {}): Promise<Client> {
    const now = () => Date.now() + lateMs;
    bench = await startService({ runnerCheckMs: 100, runnerLeaseMs: 5000, runnerSilenceMs: 60_000, concurrency: 1, now, ...settings });
    return bench.client();
  }
  async function add(label: string): Promise<RunnerServer> {
    const server = await addRunner(bench, label);
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
  const isQueued = (client: Client, id: string) => until("it is queued there", async () => { const job = await detail(client, id); return job.waits !== undefined && job; }); // prettier-ignore

  it("stay pending until the runner begins them, and their times begin then", async () => {
    const client = await start();
    const server = await addBusy("GPU 1");
    const id = await submit(client, made());
    const waits = { state: "queued", runners: ["GPU 1"], ahead: 1, message: "Queued on GPU 1, behind 1 job." };
    expect(await isQueued(client, id)).toMatchObject({ status: "pending", waits, runner: { label: "GPU 1", attempt: 1 } });
    expect(list(record((await client.get("/api/jobs?status=pending")).body).jobs)).toEqual([expect.objectContaining({ id, waits })]);
    expect((await bench.service.runners.list())[1]).toMatchObject({ running: 0 });
    lateMs = 3_600_000;
    const other = server.queue().running;
    server.letGo();
    await until("the runner begins it", () => server.queue().running !== other);
    expect(await running(client, id)).not.toHaveProperty("waits");
    server.letGo();
    const job = await ended(client, id);
    expect(job).toMatchObject({ status: "completed", runner: { label: "GPU 1", attempt: 1 } });
    expect(Number(job.execution_start_time) - Number(job.create_time) * 1000).toBeGreaterThanOrEqual(3_590_000);
    expect(Number(job.execution_end_time) - Number(job.execution_start_time)).toBeLessThan(3_000_000);
    expect((await bench.service.runners.list())[1]?.meanRunMs).toBeLessThan(3_000_000);
  });

  it.each<[string, (client: Client, id: string) => Promise<unknown>]>([
    ["by its id", (client, id) => client.post("/api/queue", { delete: [id] })],
    ["with the whole queue", (client) => client.post("/api/queue", { clear: true })],
    ["as a job", (client, id) => client.post(`/api/jobs/${id}/cancel`)],
  ])("leave that queue when they are cancelled %s", async (_name, cancel) => {
    const client = await start();
    const server = await addBusy("GPU 1");
    const id = await submit(client, made());
    await isQueued(client, id);
    await cancel(client, id);
    expect(await detail(client, id)).toMatchObject({ status: "cancelled" });
    await until("it left the queue there", () => server.queue().pending.length === 0);
    expect(server.seen.interrupts).toEqual([]);
    // The slot is free again.
    const next = await submit(client, made("one.safetensors", 2));
    server.letGo();
    await until("the next one begins", () => server.seen.ran.length === 2);
    server.letGo();
    expect(await ended(client, next)).toMatchObject({ status: "completed" });
  });

  it("are not stopped with the running jobs", async () => {
    const client = await start();
    await addBusy("GPU 1");
    const id = await submit(client, made());
    await isQueued(client, id);
    await client.post("/api/interrupt");
    expect(await detail(client, id)).toMatchObject({ status: "pending" });
  });

  it("are not sent to a busy runner while another one is free", async () => {
    const client = await start({ runnerCheckMs: 60_000 });
    const busy = await add("A");
    await ended(client, await submit(client, made()));
    await add("B");
    busy.does("hold");
    busy.strange(foreign);
    await until("the other job runs", () => busy.queue().running !== undefined);
    expect(await ended(client, await submit(client, made("one.safetensors", 2)))).toMatchObject({ runner: { label: "B", attempt: 1 } });
    expect(ownSubmissions(busy)).toHaveLength(1);
  });

  it("move to a runner that becomes free", async () => {
    const client = await start();
    const busy = await addBusy("A");
    const id = await submit(client, made());
    await isQueued(client, id);
    await add("B");
    expect(await ended(client, id)).toMatchObject({ status: "completed", runner: { label: "B", attempt: 1 } });
    expect([busy.queue().pending, busy.seen.interrupts]).toEqual([[], []]);
  });

  it("stay there while the service restarts", async () => {
    const client = await start();
    const server = await addBusy("GPU 1");
    const id = await submit(client, made());
    await isQueued(client, id);
    await bench.service.stop();
    const { folder } = bench;
    bench = await startService({ ...bench.settings, dataDir: folder });
    const again = bench.client();
    expect(string((await isQueued(again, id)).status)).toBe("pending");
    server.letGo();
    await running(again, id);
    server.letGo();
    expect(await ended(again, id)).toMatchObject({ status: "completed", runner: { label: "GPU 1", attempt: 1 } });
    expect(ownSubmissions(server)).toHaveLength(1);
  });
});
