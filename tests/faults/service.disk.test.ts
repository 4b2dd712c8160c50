// The disk fills up or becomes read-only while the service runs, and later has space again.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readJob, submitGraph, waitForEnd, waitForStart } from "../integration/service/support";
import { type Client } from "../support/service";
import { createHttpClient, createKey, startServiceProcess } from "../support/service-process";
import { runProcess } from "../support/start-process";
import { until } from "../support/until";
import { createSimulatedDisk, disks, type SmallDisk } from "./disk/small-disk";
import { auditStore, installTrace } from "./kill/audit-store";

const createGraph = (seconds: number, color: number, title = "") => ({
  "1": { class_type: "EmptyImage", inputs: { width: 512, height: 512, batch_size: 1, color } },
  "2": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" }, _meta: { title } },
});

async function start(disk: SmallDisk) {
  const key = await createKey(disk.path, "ada");
  installTrace(join(disk.path, "service", "service.sqlite"));
  return { key, ...(await startOn(disk, key)) };
}

async function startOn(disk: SmallDisk, key: string) {
  const service = await startServiceProcess(disk.path, { LIGHTDESK_CONCURRENCY: "1", ...disk.env });
  return { service, client: createHttpClient(service.url, key) };
}

const writeUserFile = (client: Client, text: string) =>
  client.call("POST", "/api/userdata/a.json?overwrite=true&full_info=true", text, { "content-type": "application/octet-stream" });
const submit = (client: Client, seconds: number, color: number) => submitGraph(client, createGraph(seconds, color));
const submitLarge = (client: Client, color: number, title: string) => client.post("/api/prompt", { prompt: createGraph(0, color, title) });

describe.each(disks)("on a full $name", ({ createDisk }) => {
  it("rejects writes with 507, serves reads and recovers when there is space", async () => {
    const disk = createDisk();
    const { service, client } = await start(disk);
    expect((await writeUserFile(client, "old ".repeat(5000))).status).toBe(200);
    const storedAsset = (await client.upload("kept ".repeat(100), "kept.txt")).body as { id: string };
    const runningId = await submit(client, 1, 1);
    const waitingId = await submit(client, 0, 2);
    await waitForStart(client, runningId);

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
      const response = await submitLarge(client, 100 + acceptedIds.length, "n".repeat(20_000));
      if (response.status === 200) acceptedIds.push((response.body as { prompt_id: string }).prompt_id);
      return response.status !== 200 && response;
    });
    expect(refused).toMatchObject({ status: 507 });
    const lists = ["/api/jobs", "/api/assets", "/api/assets?sort=last_access_time", "/api/history_v2?max_items=5", "/api/queue"];
    for (const path of [...lists, "/api/health"]) expect((await client.get(path)).status, path).toBe(200);
    expect((await client.get(`/api/assets/${storedAsset.id}/content`)).text).toBe("kept ".repeat(100));
    expect((await client.get("/api/userdata/a.json")).text).toBe("old ".repeat(5000));

    disk.free();
    await until("all jobs have ended", async () => {
      const { jobs } = (await client.get("/api/jobs?status=pending,in_progress")).body as { jobs: unknown[] };
      return jobs.length === 0;
    });
    const failure = { exception_type: "InsufficientStorage", exception_message: expect.stringContaining("The operator must free space") };
    for (const id of [runningId, waitingId, ...acceptedIds]) {
      const job = await readJob(client, id);
      if (job.status !== "completed") expect(job).toMatchObject({ status: "failed", execution_error: failure });
    }
    expect((await waitForEnd(client, await submit(client, 0, 3))).status).toBe("completed");
    expect((await client.upload("x".repeat(3_000_000), "big.bin")).status).toBe(201);
    expect((await writeUserFile(client, "new ".repeat(5000))).status).toBe(200);
    expect(service.output()).toMatch(/ENOSPC|SQLITE_FULL/);
    expect(await service.stop()).toBe(0);
    auditStore(join(disk.path, "service"), []);
  });

  it("deletes assets, cancels jobs, ends running jobs and restarts", async () => {
    const disk = createDisk();
    const { service, key, client } = await start(disk);
    const storedAsset = (await client.upload("kept", "kept.txt")).body as { id: string };
    const deletedAsset = (await client.upload("gone", "gone.txt")).body as { id: string };
    const runningId = await submit(client, 1, 1);
    const waitingId = await submit(client, 0, 2);
    const queuedId = await submit(client, 0, 3);
    await waitForStart(client, runningId);
    disk.fill();
    expect((await client.call("DELETE", `/api/assets/${deletedAsset.id}`)).status).toBe(204);
    expect((await client.post(`/api/jobs/${waitingId}/cancel`)).status).toBe(200);
    expect((await client.post("/api/queue", { delete: [queuedId] })).status).toBe(200);
    expect(["completed", "failed"]).toContain((await waitForEnd(client, runningId, 45_000)).status);
    expect((await readJob(client, waitingId)).status).toBe("cancelled");
    expect(await service.stop()).toBe(0);

    const { service: restarted, client: restartedClient } = await startOn(disk, key);
    expect(restarted.output()).toContain("service disk full");
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
    const refused = await runProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: disk.path, ...disk.env });
    expect(refused).toEqual({ code: 1, output: expect.stringContaining("LIGHTDESK_DATA_DIR must be a writable folder") });
    expect(refused.output).not.toContain("    at ");
  });
});

describe.each(disks)("on a $name without free space", ({ createDisk, isReal }) => {
  it("restarts after a kill without its reserve and resumes when there is space", async () => {
    const disk = createDisk();
    const { service, key, client } = await start(disk);
    const storedAsset = (await client.upload("kept", "kept.txt")).body as { id: string };
    const interruptedId = await submit(client, 1, 7);
    await waitForStart(client, interruptedId);
    await service.stop("SIGKILL");
    rmSync(join(disk.path, "service", "reserve"), { force: true });
    disk.fill();

    const { service: restarted, client: restartedClient } = await startOn(disk, key);
    expect(restarted.output()).toContain("service disk full");
    expect((await restartedClient.get(`/api/assets/${storedAsset.id}/content`)).text).toBe("kept");
    for (const path of ["/api/jobs", "/api/assets", "/api/history_v2", "/api/queue", "/api/user"])
      expect((await restartedClient.get(path)).status, path).toBe(200);
    expect((await submitLarge(restartedClient, 1, "n".repeat(50_000))).status).toBe(507);
    disk.free();
    const { status } = await waitForEnd(restartedClient, interruptedId, 45_000);
    // With space at the start, the job restarts at once and may then run out of space.
    expect(isReal ? ["completed"] : ["completed", "failed"]).toContain(status);
    expect((await waitForEnd(restartedClient, await submit(restartedClient, 0, 1))).status).toBe("completed");
    expect(await restarted.stop()).toBe(0);
  });
});
