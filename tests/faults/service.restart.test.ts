// The stand-alone service's output and behaviour at start, at exit, and after repeated worker losses.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createWaitGraph, readJob, submitGraph, waitForEnd, waitForStart } from "../integration/service/support";
import { createHttpClient, createKey, type ServiceProcess, startServiceProcess } from "../support/service-process";
import { runProcess } from "../support/start-process";
import { until } from "../support/until";

describe("stopping and starting the service", async () => {
  const dataDir = createTemporaryFolder();
  const key = await createKey(dataDir, "ada");

  const createClient = ({ url }: ServiceProcess) => createHttpClient(url, key);

  it("finishes a short job on SIGTERM and keeps a pending one", async () => {
    const first = await startServiceProcess(dataDir, { LIGHTDESK_CONCURRENCY: "1" });
    const short = await submitGraph(createClient(first), createWaitGraph(1));
    const pending = await submitGraph(createClient(first), createWaitGraph(0.1));
    await waitForStart(createClient(first), short);
    expect(await first.stop("SIGTERM")).toBe(0);
    const second = await startServiceProcess(dataDir);
    expect((await readJob(createClient(second), short)).status).toBe("completed");
    expect((await waitForEnd(createClient(second), pending)).status).toBe("completed");
    expect(await second.stop("SIGINT")).toBe(0);
  });

  it("retries a running job after kill -9 and fails it after three attempts", async () => {
    let id: string | undefined;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const service = await startServiceProcess(dataDir);
      id ??= await submitGraph(createClient(service), createWaitGraph(3000));
      await waitForStart(createClient(service), id);
      await service.stop("SIGKILL");
    }
    const service = await startServiceProcess(dataDir);
    const job = await readJob(createClient(service), id ?? "");
    expect(job).toMatchObject({ status: "failed", execution_error: { exception_type: "WorkerLost" } });
    expect(await service.stop()).toBe(0);
  });

  it("removes temp files and unreferenced blobs left by a crash", async () => {
    const shard = join(dataDir, "service", "blobs", "blake3-v1", "ab");
    await mkdir(shard, { recursive: true });
    await writeFile(join(shard, "c".repeat(62)), "orphan");
    await writeFile(join(dataDir, "service", "tmp", "half-an-upload"), "x");
    const service = await startServiceProcess(dataDir);
    expect(await readdir(join(dataDir, "service", "tmp"))).toEqual([]);
    await until("the orphan is deleted", async () => (await readdir(shard)).length === 0);
    expect((await fetch(`${service.url}/api/health`)).status).toBe(200);
    await service.stop();
  });

  it("explains a bad setting, an unusable folder or a used port in one sentence", async () => {
    const service = await startServiceProcess(dataDir);
    const file = join(dataDir, "service", "service.sqlite");
    for (const [settings, message] of [
      [{ PORT: "high", LIGHTDESK_DATA_DIR: dataDir }, "PORT must be a port number"],
      [{ PORT: "0", LIGHTDESK_DATA_DIR: file }, "LIGHTDESK_DATA_DIR must be a writable folder"],
      [{ PORT: new URL(service.url).port, LIGHTDESK_DATA_DIR: join(dataDir, "other") }, "PORT must be a free port"],
    ] as const)
      expect(await runProcess("dist/service.mjs", settings)).toEqual({ code: 1, output: expect.stringContaining(message) });
    await service.stop();
  });
});
