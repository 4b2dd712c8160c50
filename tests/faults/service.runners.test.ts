// The service is killed while a runner runs its job. The next start finds the job and stores its result once.
import { rm } from "node:fs/promises";
import { afterEach, expect, it } from "vitest";
import { startRunnerServer } from "@/tests/support/servers";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { asRecord, asRecords, createPng, readJob, submitGraph, waitForEnd, waitForStart } from "../integration/service/support";
import { createGpuClasses } from "../support/gpu-classes";
import { createHttpClient, createKey, runServiceCommand, startServiceProcess } from "../support/service-process";
import { until } from "../support/until";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

it("collects the result of a job that finished while the service was down", { timeout: 120_000 }, async () => {
  const dataDir = createTemporaryFolder();
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
  const bytes = Buffer.from(createPng(8, 8));
  const server = await startRunnerServer({
    objectInfo: createGpuClasses(["one.safetensors"]),
    makeOutput: () => ({ files: [{ name: "x_00001_.png", bytes }] }),
  });
  cleanups.push(server.close);
  const key = await createKey(dataDir, "ada");
  const first = await startServiceProcess(dataDir);
  // The command runs while the service is running, and the service detects the change.
  expect(await runServiceCommand(dataDir, "runners", "add", server.address, "--label", "GPU")).toContain("Added GPU with 5 node classes");
  server.setMode("hold");
  const client = createHttpClient(first.url, key);
  const graph = {
    "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } },
    "2": { class_type: "Sample", inputs: { model: ["1", 0], seed: 1, prompt: "" } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
  };
  await until("the service lists the runner's classes", async () => "Sample" in asRecord((await client.get("/api/object_info")).body));
  const id = await submitGraph(client, graph);
  await waitForStart(client, id);
  await until("the job runs on the runner", async () => server.queue().running !== undefined);
  await first.stop("SIGKILL");
  server.release();
  await until("the job has ended on the runner", async () => server.queue().running === undefined);

  const second = await startServiceProcess(dataDir);
  const secondClient = createHttpClient(second.url, key);
  expect(await waitForEnd(secondClient, id)).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 }, outputs_count: 1 });
  expect(asRecords(asRecord((await secondClient.get("/api/assets?include_public=false")).body).assets)).toHaveLength(1);
  expect(server.seen.submissions).toHaveLength(1);
  expect(await runServiceCommand(dataDir, "runners", "pause", "GPU")).toBe("GPU is paused.");
  const waitingJob = await submitGraph(secondClient, graph);
  await until("the service reports why the job waits", async () => (await readJob(secondClient, waitingJob)).waits !== undefined);
  expect(await readJob(secondClient, waitingJob)).toMatchObject({ status: "pending", waits: { state: "paused", runners: ["GPU"] } });
  expect(await runServiceCommand(dataDir, "runners", "remove", "GPU")).toBe("Removed GPU.");
  await second.stop();
});
