// The disk fills up or becomes read-only while the service runs, and later has space again.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Client } from "../support/service";
import { createHttpClient, createKey, startServiceProcess } from "../support/service-process";
import { startProcess } from "../support/start-process";
import { until } from "../support/until";
import { createSimulatedDisk, disks, type SmallDisk } from "./disk/small-disk";
import { auditStore } from "./kill/audit-store";
import { installTrace } from "./kill/trace";

const createdDisks: SmallDisk[] = [];
afterEach(() => createdDisks.splice(0).forEach((disk) => disk.dispose()));

const createGraph = (seconds: number, color: number, title = "") => ({
  "1": { class_type: "EmptyImage", inputs: { width: 512, height: 512, batch_size: 1, color } },
  "2": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" }, _meta: { title } },
});

async function start(disk: SmallDisk) {
  createdDisks.push(disk);
  const key = await createKey(disk.path, "ada");
  installTrace(join(disk.path, "service", "service.sqlite"));
  const service = await startServiceProcess(disk.path, { LIGHTDESK_CONCURRENCY: "1", ...disk.env });
  return { service, key, client: createHttpClient(service.url, key) };
}

const writeUserFile = (client: Client, text: string) =>
  client.call("POST", "/api/userdata/a.json?overwrite=true&full_info=true", text, { "content-type": "application/octet-stream" });
const submit = async (client: Client, seconds: number, color: number, title?: string) => {
  const response = await client.post("/api/prompt", { prompt: createGraph(seconds, color, title) });
  return { ...response, id: String((response.body as { prompt_id?: string }).prompt_id) };
};
const getJob = async (client: Client, id: string) => (await client.get(`/api/jobs/${id}`)).body as Record<string, unknown>;
const getState = async (client: Client, id: string) => (await getJob(client, id)).status;

describe.each(disks)("on a full $name", ({ createDisk }) => {
  it("rejects writes with 507, serves reads and recovers when there is space", async () => {
    const disk = createDisk();
    const { service, client } = await start(disk);
    expect((await writeUserFile(client, "old ".repeat(5000))).status).toBe(200);
    const storedAsset = (await client.upload("kept ".repeat(100), "kept.txt")).body as { id: string };
    const running = await submit(client, 1, 1);
    const waiting = await submit(client, 0, 2);
    await until("the first job runs", async () => (await getState(client, running.id)) === "in_progress");

    disk.fill();
    const upload = await client.upload("x".repeat(3_000_000), "big.bin");
    expect(upload).toMatchObject({
      status: 507,
      body: { code: "INSUFFICIENT_STORAGE", message: expect.stringMatching(/disk .* full.*The operator/) },
    });
    expect(await writeUserFile(client, "new ".repeat(500_000))).toMatchObject({ status: 507, text: expect.stringContaining("full") });
    // A truncated log may accept a few more. Submissions with status 200 are kept, and later ones are refused.
    const acceptedIds: string[] = [];
    const refused = await until("a submission is refused", async () => {
      const response = await submit(client, 0, 100 + acceptedIds.length, "n".repeat(20_000));
      if (response.status === 200) acceptedIds.push(response.id);
      return response.status !== 200 && response;
    });
    expect(refused).toMatchObject({ status: 507 });
    for (const path of [
      "/api/jobs",
      "/api/assets",
      "/api/assets?sort=last_access_time",
      "/api/history_v2?max_items=5",
      "/api/queue",
      "/api/health",
    ])
      expect((await client.get(path)).status, path).toBe(200);
    expect((await client.get(`/api/assets/${storedAsset.id}/content`)).text).toBe("kept ".repeat(100));
    expect((await client.get("/api/userdata/a.json")).text).toBe("old ".repeat(5000));

    disk.free();
    await until("all jobs have ended", async () => {
      const { jobs } = (await client.get("/api/jobs?status=pending,in_progress")).body as { jobs: unknown[] };
      return jobs.length === 0;
    });
    for (const id of [waiting.id, ...acceptedIds]) expect(["completed", "failed"], id).toContain(await getState(client, id));
    for (const id of [running.id, waiting.id, ...acceptedIds]) {
      const job = await getJob(client, id);
      if (job.status === "completed") continue;
      const failure = {
        exception_type: "InsufficientStorage",
        exception_message: expect.stringContaining("The operator must free space"),
      };
      expect(job).toMatchObject({ status: "failed", execution_error: failure });
    }
    const resubmitted = await submit(client, 0, 3);
    await until("a new job runs", async () => (await getState(client, resubmitted.id)) === "completed");
    expect((await client.upload("x".repeat(3_000_000), "big.bin")).status).toBe(201);
    expect((await writeUserFile(client, "new ".repeat(5000))).status).toBe(200);
    expect(service.output()).toMatch(/ENOSPC|SQLITE_FULL/);
    expect(await service.stop()).toBe(0);
    auditStore(join(disk.path, "service"), []);
  });
});

describe.each(disks)("on a full $name", ({ createDisk }) => {
  it("deletes assets, cancels jobs, ends running jobs and restarts", async () => {
    const disk = createDisk();
    const { service, key, client } = await start(disk);
    const storedAsset = (await client.upload("kept", "kept.txt")).body as { id: string };
    const deletedAsset = (await client.upload("gone", "gone.txt")).body as { id: string };
    const running = await submit(client, 1, 1);
    const waiting = await submit(client, 0, 2);
    const queuedJob = await submit(client, 0, 3);
    await until("the first job runs", async () => (await getState(client, running.id)) === "in_progress");
    disk.fill();
    expect((await client.call("DELETE", `/api/assets/${deletedAsset.id}`)).status).toBe(204);
    expect((await client.post(`/api/jobs/${waiting.id}/cancel`)).status).toBe(200);
    expect((await client.post("/api/queue", { delete: [queuedJob.id] })).status).toBe(200);
    await until("the running job has ended", async () => ["completed", "failed"].includes(String(await getState(client, running.id))));
    expect(await getState(client, waiting.id)).toBe("cancelled");
    expect(await service.stop()).toBe(0);

    const restarted = await startServiceProcess(disk.path, { LIGHTDESK_CONCURRENCY: "1", ...disk.env });
    expect(restarted.output()).toContain("service disk full");
    const restartedClient = createHttpClient(restarted.url, key);
    expect((await restartedClient.get(`/api/assets/${storedAsset.id}/content`)).text).toBe("kept");
    expect((await restartedClient.get("/api/jobs")).status).toBe(200);
    expect((await restartedClient.upload("x".repeat(3_000_000), "big.bin")).status).toBe(507);
    disk.free();
    expect((await restartedClient.upload("x".repeat(3_000_000), "big.bin")).status).toBe(201);
    expect(await restarted.stop()).toBe(0);
  });
});

describe("on a read-only disk", () => {
  it("rejects writes with 503, serves reads and explains a failed start", async () => {
    const disk = createSimulatedDisk();
    const { service, client } = await start(disk);
    const storedAsset = (await client.upload("kept", "kept.txt")).body as { id: string };
    disk.makeReadOnly();
    const failure = {
      status: 503,
      body: { code: "SERVICE_UNAVAILABLE", message: expect.stringMatching(/not writable.*The operator/) },
    };
    expect(await client.upload("more", "more.txt")).toMatchObject(failure);
    expect(await client.post("/api/prompt", { prompt: createGraph(0, 1) })).toMatchObject(failure);
    expect(await client.post(`/api/assets/${storedAsset.id}/tags`, { tags: ["more"] })).toMatchObject(failure);
    expect(await client.call("DELETE", `/api/assets/${storedAsset.id}`)).toMatchObject(failure);
    expect(await writeUserFile(client, "x")).toMatchObject({ status: 503, text: expect.stringContaining("not writable") });
    expect((await client.get(`/api/assets/${storedAsset.id}/content`)).text).toBe("kept");
    disk.makeWritable();
    expect((await client.upload("more", "more.txt")).status).toBe(201);
    expect(service.output()).toContain("EROFS");
    expect(await service.stop()).toBe(0);

    disk.makeReadOnly();
    const refused = startProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: disk.path, ...disk.env });
    expect(await refused.exitCode).toBe(1);
    expect(refused.output()).toContain("LIGHTDESK_DATA_DIR must be a writable folder");
    expect(refused.output()).not.toContain("    at ");
  });
});

describe.each(disks)("on a $name without free space", ({ createDisk, isReal }) => {
  it("restarts after a kill without its reserve and resumes when there is space", async () => {
    const disk = createDisk();
    const { service, key, client } = await start(disk);
    const storedAsset = (await client.upload("kept", "kept.txt")).body as { id: string };
    const interruptedJob = await submit(client, 1, 7);
    await until("the job runs", async () => (await getState(client, interruptedJob.id)) === "in_progress");
    await service.stop("SIGKILL");
    rmSync(join(disk.path, "service", "reserve"), { force: true });
    disk.fill();

    const restarted = await startServiceProcess(disk.path, { LIGHTDESK_CONCURRENCY: "1", ...disk.env });
    expect(restarted.output()).toContain("service disk full");
    const restartedClient = createHttpClient(restarted.url, key);
    expect((await restartedClient.get(`/api/assets/${storedAsset.id}/content`)).text).toBe("kept");
    for (const path of ["/api/jobs", "/api/assets", "/api/history_v2", "/api/queue", "/api/user"])
      expect((await restartedClient.get(path)).status, path).toBe(200);
    expect((await submit(restartedClient, 0, 1, "n".repeat(50_000))).status).toBe(507);
    disk.free();
    const ended = await until("the interrupted job has ended", async () => {
      const currentState = await getState(restartedClient, interruptedJob.id);
      return (currentState === "completed" || currentState === "failed") && currentState;
    });
    // With space at the start, the job restarts at once and may then run out of space.
    if (isReal) expect(ended).toBe("completed");
    const newJob = await submit(restartedClient, 0, 1);
    expect(newJob.status).toBe(200);
    await until("the new job has completed", async () => (await getState(restartedClient, newJob.id)) === "completed");
    expect(await restarted.stop()).toBe(0);
  });
});
