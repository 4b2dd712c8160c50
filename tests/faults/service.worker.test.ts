// Worker threads die or are missing, or the clock is set back. Only affected jobs may fail.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createColorGraph, createWaitGraph, submitGraph, waitForEnd, waitForStart } from "../integration/service/support";
import { type Client, startService } from "../support/service";

/** Creates a replacement worker that runs this statement for every message, to simulate a failing thread. */
function createWorker(statement: string): string {
  const path = join(createTemporaryFolder(), "worker.mjs");
  writeFileSync(path, `import { parentPort } from "node:worker_threads";\nparentPort.on("message", () => { ${statement} });\n`);
  return path;
}

const submit = (client: Client) => submitGraph(client, createColorGraph());

describe("a worker", () => {
  it.each([
    ["ends itself", "process.exit(3)"],
    ["throws an uncaught error", 'throw new Error("a library failed")'],
  ])("fails only its own job when it %s", async (_, statement) => {
    const service = await startService({ workerPath: createWorker(statement), concurrency: 1 });
    const client = service.client();
    const jobs = [await submit(client), await submit(client), await submit(client)];
    for (const id of jobs) {
      const failure = { exception_type: "WorkerLost", exception_message: expect.stringContaining("worker") };
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
    const client = (await startService({ workerPath: path, concurrency: 1 })).client();
    const [first, second] = [await submit(client), await submit(client)];
    const failure = { exception_type: "OOMError", exception_message: expect.stringContaining("memory") };
    expect(await waitForEnd(client, first, 45_000)).toMatchObject({ status: "failed", execution_error: failure });
    expect(await waitForEnd(client, second)).toMatchObject({ status: "completed", outputs_count: 1 });
  });

  it("reports a missing worker with a remedy and without a local path", async () => {
    const service = await startService({ workerPath: "/nowhere/at-all/node-worker.mjs" });
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
    const service = await startService({ now: () => Date.now() + offset, concurrency: 1 });
    const client = service.client();
    const id = await submitGraph(client, createWaitGraph(0.5));
    await waitForStart(client, id);
    offset = -3_600_000;
    const job = await waitForEnd(client, id);
    expect(job.status).toBe("completed");
    expect(Number(job.execution_end_time)).toBeGreaterThanOrEqual(Number(job.execution_start_time));
    expect(Number(job.update_time)).toBeGreaterThanOrEqual(Number(job.create_time));
    expect((await waitForEnd(client, await submit(client))).status).toBe("completed");
    expect((await client.get("/api/jobs?limit=10")).status).toBe(200);
  });
});
