// The disk fills up or becomes read-only while the service works, and later has room again. The service is not restarted in between.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Client } from "../support/service";
import { createKey, httpClient, startServiceProcess } from "../support/service-process";
import { startProcess } from "../support/start-process";
import { until } from "../support/until";
import { disks, makeInjected, type SmallDisk } from "./disk/small-disk";
import { auditStore } from "./kill/audit-store";
import { installTrace } from "./kill/trace";

const ours: SmallDisk[] = [];
afterEach(() => ours.splice(0).forEach((disk) => disk.dispose()));

const graph = (seconds: number, color: number, note = "") => ({
  "1": { class_type: "EmptyImage", inputs: { width: 512, height: 512, batch_size: 1, color } },
  "2": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" }, _meta: { title: note } },
});

async function start(disk: SmallDisk) {
  ours.push(disk);
  const key = await createKey(disk.path, "ada");
  installTrace(join(disk.path, "service", "service.sqlite"));
  const service = await startServiceProcess(disk.path, { LIGHTDESK_CONCURRENCY: "1", ...disk.env });
  return { service, key, client: httpClient(service.url, key) };
}

const write = (client: Client, text: string) =>
  client.call("POST", "/api/userdata/a.json?overwrite=true&full_info=true", text, { "content-type": "application/octet-stream" });
const submit = async (client: Client, seconds: number, color: number, note?: string) => {
  const response = await client.post("/api/prompt", { prompt: graph(seconds, color, note) });
  return { ...response, id: String((response.body as { prompt_id?: string }).prompt_id) };
};
const getJob = async (client: Client, id: string) => (await client.get(`/api/jobs/${id}`)).body as Record<string, unknown>;
const state = async (client: Client, id: string) => (await getJob(client, id)).status;

describe.each(disks)("on a full $name", ({ make }) => {
  it("refuses writes with 507, keeps reads and recovers when there is room", async () => {
    const disk = make();
    const { service, client } = await start(disk);
    expect((await write(client, "old ".repeat(5000))).status).toBe(200);
    const storedAsset = (await client.upload("kept ".repeat(100), "kept.txt")).body as { id: string };
    const running = await submit(client, 1, 1);
    const waiting = await submit(client, 0, 2);
    await until("the first runs", async () => (await state(client, running.id)) === "in_progress");

    disk.fill();
    const upload = await client.upload("x".repeat(3_000_000), "big.bin");
    expect(upload).toMatchObject({
      status: 507,
      body: { code: "INSUFFICIENT_STORAGE", message: expect.stringMatching(/disk .* full.*The operator/) },
    });
    expect(await write(client, "new ".repeat(500_000))).toMatchObject({ status: 507, text: expect.stringContaining("full") });
    // A truncated log may still take a few: each submission answered 200 is kept, and later ones are refused.
    const uploadedIds: string[] = [];
    const refused = await until("a submission is refused", async () => {
      const response = await submit(client, 0, 100 + uploadedIds.length, "n".repeat(20_000));
      if (response.status === 200) uploadedIds.push(response.id);
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
    for (const id of [waiting.id, ...uploadedIds]) expect(["completed", "failed"], id).toContain(await state(client, id));
    for (const id of [running.id, waiting.id, ...uploadedIds]) {
      const job = await getJob(client, id);
      if (job.status === "completed") continue;
      const failure = {
        exception_type: "InsufficientStorage",
        exception_message: expect.stringContaining("The operator must free space"),
      };
      expect(job).toMatchObject({ status: "failed", execution_error: failure });
    }
    const resubmitted = await submit(client, 0, 3);
    await until("a new job runs", async () => (await state(client, resubmitted.id)) === "completed");
    expect((await client.upload("x".repeat(3_000_000), "big.bin")).status).toBe(201);
    expect((await write(client, "new ".repeat(5000))).status).toBe(200);
    expect(service.output()).toMatch(/ENOSPC|SQLITE_FULL/);
    expect(await service.stop()).toBe(0);
    auditStore(join(disk.path, "service"), []);
  });
});

describe.each(disks)("on a full $name", ({ make }) => {
  it("deletes, cancels, ends running jobs and restarts with a full disk", async () => {
    const disk = make();
    const { service, key, client } = await start(disk);
    const storedAsset = (await client.upload("kept", "kept.txt")).body as { id: string };
    const deletedAsset = (await client.upload("gone", "gone.txt")).body as { id: string };
    const running = await submit(client, 1, 1);
    const waiting = await submit(client, 0, 2);
    const laterUpload = await submit(client, 0, 3);
    await until("the first runs", async () => (await state(client, running.id)) === "in_progress");
    disk.fill();
    expect((await client.call("DELETE", `/api/assets/${deletedAsset.id}`)).status).toBe(204);
    expect((await client.post(`/api/jobs/${waiting.id}/cancel`)).status).toBe(200);
    expect((await client.post("/api/queue", { delete: [laterUpload.id] })).status).toBe(200);
    await until("what ran has ended", async () => ["completed", "failed"].includes(String(await state(client, running.id))));
    expect(await state(client, waiting.id)).toBe("cancelled");
    expect(await service.stop()).toBe(0);

    const restarted = await startServiceProcess(disk.path, { LIGHTDESK_CONCURRENCY: "1", ...disk.env });
    expect(restarted.output()).toContain("service disk full");
    const after = httpClient(restarted.url, key);
    expect((await after.get(`/api/assets/${storedAsset.id}/content`)).text).toBe("kept");
    expect((await after.get("/api/jobs")).status).toBe(200);
    expect((await after.upload("x".repeat(3_000_000), "big.bin")).status).toBe(507);
    disk.free();
    expect((await after.upload("x".repeat(3_000_000), "big.bin")).status).toBe(201);
    expect(await restarted.stop()).toBe(0);
  });
});

describe("on a read-only disk", () => {
  it("refuses writes with 503, serves reads and explains a failed start", async () => {
    const disk = makeInjected();
    const { service, client } = await start(disk);
    const storedAsset = (await client.upload("kept", "kept.txt")).body as { id: string };
    disk.makeReadOnly();
    const failure = {
      status: 503,
      body: { code: "SERVICE_UNAVAILABLE", message: expect.stringMatching(/not writable.*The operator/) },
    };
    expect(await client.upload("more", "more.txt")).toMatchObject(failure);
    expect(await client.post("/api/prompt", { prompt: graph(0, 1) })).toMatchObject(failure);
    expect(await client.post(`/api/assets/${storedAsset.id}/tags`, { tags: ["more"] })).toMatchObject(failure);
    expect(await client.call("DELETE", `/api/assets/${storedAsset.id}`)).toMatchObject(failure);
    expect(await write(client, "x")).toMatchObject({ status: 503, text: expect.stringContaining("not writable") });
    expect((await client.get(`/api/assets/${storedAsset.id}/content`)).text).toBe("kept");
    disk.makeWritable();
    expect((await client.upload("more", "more.txt")).status).toBe(201);
    expect(service.output()).toContain("EROFS");
    expect(await service.stop()).toBe(0);

    disk.makeReadOnly();
    const refused = startProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: disk.path, ...disk.env });
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toContain("LIGHTDESK_DATA_DIR must be a writable folder");
    expect(refused.output()).not.toContain("    at ");
  });
});

describe.each(disks)("on $name without a free byte", ({ make, isReal }) => {
  it("restarts after a kill without its reserve and resumes when there is room", async () => {
    const disk = make();
    const { service, key, client } = await start(disk);
    const storedAsset = (await client.upload("kept", "kept.txt")).body as { id: string };
    const cut = await submit(client, 1, 7);
    await until("it runs", async () => (await state(client, cut.id)) === "in_progress");
    await service.stop("SIGKILL");
    rmSync(join(disk.path, "service", "reserve"), { force: true });
    disk.fill();

    const restarted = await startServiceProcess(disk.path, { LIGHTDESK_CONCURRENCY: "1", ...disk.env });
    expect(restarted.output()).toContain("service disk full");
    const after = httpClient(restarted.url, key);
    expect((await after.get(`/api/assets/${storedAsset.id}/content`)).text).toBe("kept");
    for (const path of ["/api/jobs", "/api/assets", "/api/history_v2", "/api/queue", "/api/user"])
      expect((await after.get(path)).status, path).toBe(200);
    expect((await submit(after, 0, 1, "n".repeat(50_000))).status).toBe(507);
    disk.free();
    const ended = await until("what the kill cut has ended", async () => {
      const now = await state(after, cut.id);
      return (now === "completed" || now === "failed") && now;
    });
    // If the start has enough space, the job restarts at once and may then run out of it.
    if (isReal) expect(ended).toBe("completed");
    const newUpload = await submit(after, 0, 1);
    expect(newUpload.status).toBe(200);
    await until("it has run", async () => (await state(after, newUpload.id)) === "completed");
    expect(await restarted.stop()).toBe(0);
  });
});
