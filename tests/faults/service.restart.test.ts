// The stand-alone service's output and behaviour at start, at exit, and after repeated worker losses.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createHttpClient, runServiceCommand, startServiceProcess } from "../support/service-process";
import { startProcess } from "../support/start-process";
import { until } from "../support/until";

const createGraph = (seconds: number, color = 1) => ({
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color } },
  "2": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
});

describe("stopping and starting the service", async () => {
  const dataDir = createTemporaryFolder();
  const key = await runServiceCommand(dataDir, "keys", "create", "--user", "ada");

  async function submit(url: string, seconds: number): Promise<string> {
    const { body } = await createHttpClient(url, key).post("/api/prompt", { prompt: createGraph(seconds) });
    return String((body as { prompt_id: string }).prompt_id);
  }
  async function getJob(url: string, id: string): Promise<Record<string, unknown>> {
    return (await createHttpClient(url, key).get(`/api/jobs/${id}`)).body as Record<string, unknown>;
  }

  it("finishes a short job on SIGTERM and keeps a pending one", async () => {
    const first = await startServiceProcess(dataDir, { LIGHTDESK_CONCURRENCY: "1" });
    const short = await submit(first.url, 1);
    const pending = await submit(first.url, 0.1);
    await until("the first job runs", async () => (await getJob(first.url, short)).status === "in_progress");
    expect(await first.stop("SIGTERM")).toBe(0);
    const second = await startServiceProcess(dataDir);
    expect((await getJob(second.url, short)).status).toBe("completed");
    await until("the second job has completed", async () => (await getJob(second.url, pending)).status === "completed");
    expect(await second.stop("SIGINT")).toBe(0);
  });

  it("retries a running job after kill -9 and fails it after three attempts", async () => {
    let id: string | undefined;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const service = await startServiceProcess(dataDir);
      const current = (id ??= await submit(service.url, 3000));
      await until(`attempt ${attempt} runs`, async () => (await getJob(service.url, current)).status === "in_progress");
      await service.stop("SIGKILL");
    }
    const service = await startServiceProcess(dataDir);
    expect(await getJob(service.url, id ?? "")).toMatchObject({ status: "failed", execution_error: { exception_type: "WorkerLost" } });
    expect(await service.stop()).toBe(0);
  });

  it("removes temp files and unreferenced blobs left by a crash", async () => {
    const shard = join(dataDir, "service", "blobs", "blake3-v1", "ab");
    await mkdir(shard, { recursive: true });
    await writeFile(join(shard, "c".repeat(62)), "orphan");
    await writeFile(join(dataDir, "service", "tmp", "half-an-upload"), "x");
    const service = await startServiceProcess(dataDir);
    const { readdir } = await import("node:fs/promises");
    expect(await readdir(join(dataDir, "service", "tmp"))).toEqual([]);
    await until("the orphan is deleted", async () => (await readdir(shard)).length === 0);
    expect((await fetch(`${service.url}/api/health`)).status).toBe(200);
    await service.stop();
  });

  it("explains a bad setting, a locked folder or a used port in one sentence", async () => {
    const bad = startProcess("dist/service.mjs", { PORT: "high", LIGHTDESK_DATA_DIR: dataDir });
    expect(await bad.exitCode).toBe(1);
    expect(bad.output()).toContain("PORT must be a port number");
    const noFolder = startProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: join(dataDir, "service", "service.sqlite") });
    expect(await noFolder.exitCode).toBe(1);
    expect(noFolder.output()).toContain("LIGHTDESK_DATA_DIR must be a writable folder");
    const service = await startServiceProcess(dataDir);
    const second = startProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: dataDir });
    expect(await second.exitCode).toBe(1);
    expect(second.output()).toContain(`in use by process ${service.pid}`);
    const third = startProcess("dist/service.mjs", { PORT: new URL(service.url).port, LIGHTDESK_DATA_DIR: join(dataDir, "other") });
    expect(await third.exitCode).toBe(1);
    expect(third.output()).toContain("PORT must be a free port");
    expect(await runServiceCommand(dataDir, "keys", "list")).toContain("ada (active)");
    expect(await runServiceCommand(dataDir, "users", "set-status", "ada", "waitlisted")).toContain("waitlisted");
    expect((await createHttpClient(service.url, key).post("/api/prompt", { prompt: createGraph(0) })).status).toBe(403);
    await runServiceCommand(dataDir, "keys", "revoke", key.slice(0, 11));
    expect((await createHttpClient(service.url, key).get("/api/user")).status).toBe(401);
    await service.stop();
  });
});
