// Worker threads die or are missing, or the clock is set back. Only affected jobs may fail.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { type Client, startService, type TestService } from "../support/service";
import { until } from "../support/until";

const services: TestService[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.dispose();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
async function start(options: Parameters<typeof startService>[0]): Promise<TestService> {
  const service = await startService(options);
  services.push(service);
  return service;
}

/** Creates a replacement worker that runs this statement for every message, to simulate a failing thread. */
function createWorker(statement: string): string {
  const folder = createTemporaryFolder();
  folders.push(folder);
  const path = join(folder, "worker.mjs");
  writeFileSync(path, `import { parentPort } from "node:worker_threads";\nparentPort.on("message", () => { ${statement} });\n`);
  return path;
}

async function submit(client: Client): Promise<string> {
  const prompt = {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
  };
  return ((await client.post("/api/prompt", { prompt })).body as { prompt_id: string }).prompt_id;
}

async function waitForEnd(client: Client, id: string): Promise<Record<string, unknown>> {
  return until(`${id} has ended`, async () => {
    const job = (await client.get(`/api/jobs/${id}`)).body as Record<string, unknown>;
    return job.status !== "pending" && job.status !== "in_progress" && job;
  });
}

describe("a worker", () => {
  it.each([
    ["ends itself", "process.exit(3)", "WorkerLost"],
    ["throws an uncaught error", 'throw new Error("a library failed")', "WorkerLost"],
  ])("fails only its own job when it %s", async (_, statement, exception_type) => {
    const service = await start({ workerPath: createWorker(statement), concurrency: 1 });
    const client = service.client();
    const jobs = [await submit(client), await submit(client), await submit(client)];
    for (const id of jobs) {
      const failure = { exception_type, exception_message: expect.stringContaining("worker") };
      expect(await waitForEnd(client, id)).toMatchObject({ status: "failed", outputs_count: 0, execution_error: failure });
    }
    expect(JSON.stringify(service.loggedErrors)).toContain("worker");
    expect((await client.upload("still here", "a.txt")).status).toBe(201);
  });

  it("is replaced after running out of memory, and the next job runs", async () => {
    const path = createWorker("");
    const markerPath = JSON.stringify(`${path}.once`);
    const exhaustMemory = "for (const all = []; ; ) all.push(new Array(1e5).fill(all.length + 0.5));";
    const worker = JSON.stringify(join(process.cwd(), "dist/node-worker.mjs"));
    writeFileSync(
      path,
      `import fs from "node:fs";
       if (fs.existsSync(${markerPath})) await import(${worker});
       else { fs.writeFileSync(${markerPath}, ""); ${exhaustMemory} }`,
    );
    const client = (await start({ workerPath: path, concurrency: 1 })).client();
    const [first, second] = [await submit(client), await submit(client)];
    const failure = { exception_type: "OOMError", exception_message: expect.stringContaining("memory") };
    expect(await waitForEnd(client, first)).toMatchObject({ status: "failed", execution_error: failure });
    expect(await waitForEnd(client, second)).toMatchObject({ status: "completed", outputs_count: 1 });
  });

  it("reports a missing worker with a remedy and without a local path", async () => {
    const service = await start({ workerPath: "/nowhere/at-all/node-worker.mjs" });
    const client = service.client();
    const job = await waitForEnd(client, await submit(client));
    expect(job).toMatchObject({
      status: "failed",
      execution_error: { exception_type: "WorkerLost", exception_message: expect.stringMatching(/missing.*The operator must/) },
    });
    expect(JSON.stringify(job)).not.toContain("/nowhere");
    expect(JSON.stringify(service.loggedErrors)).toContain("/nowhere");
  });
});

describe("a clock", () => {
  it("never ends a job before its start when the clock is set back", async () => {
    let offset = 0;
    const service = await start({ now: () => Date.now() + offset, concurrency: 1 });
    const client = service.client();
    const prompt = {
      "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 2 } },
      "2": { class_type: "Wait", inputs: { seconds: 0.5, anything: ["1", 0] } },
      "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
    };
    const { prompt_id } = (await client.post("/api/prompt", { prompt })).body as { prompt_id: string };
    await until(
      "the job runs",
      async () => ((await client.get(`/api/jobs/${prompt_id}`)).body as { status: string }).status === "in_progress",
    );
    offset = -3_600_000;
    const job = (await waitForEnd(client, prompt_id)) as {
      status: string;
      create_time: number;
      update_time: number;
      execution_start_time: number;
      execution_end_time: number;
    };
    expect(job.status).toBe("completed");
    expect(job.execution_end_time).toBeGreaterThanOrEqual(job.execution_start_time);
    expect(job.update_time).toBeGreaterThanOrEqual(job.create_time);
    const next = await submit(client);
    expect((await waitForEnd(client, next)).status).toBe("completed");
    expect((await client.get("/api/jobs?limit=10")).status).toBe(200);
  });
});
