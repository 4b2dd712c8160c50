// The service is killed while a runner runs its job. The next start finds the job and stores its result once.
import { expect, it } from "vitest";
import { startRunnerServer } from "@/tests/support/servers";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { asRecord, asRecords, createPng, submitGraph, waitForEnd, waitForStart } from "../integration/service/support";
import { createGpuClasses, createGpuGraph } from "../support/gpu-classes";
import { createHttpClient, createKey, runServiceCommand, startServiceProcess } from "../support/service-process";
import { until } from "../support/until";

it("collects the result of a job that finished while the service was down", { timeout: 120_000 }, async () => {
  const dataDir = createTemporaryFolder();
  const bytes = Buffer.from(createPng(8, 8));
  const server = await startRunnerServer({
    objectInfo: createGpuClasses(["one.safetensors"]),
    makeOutput: () => ({ files: [{ name: "x_00001_.png", bytes }] }),
  });
  const key = await createKey(dataDir, "ada");
  const first = await startServiceProcess(dataDir);
  // The command runs while the service is running, and the service detects the change.
  expect(await runServiceCommand(dataDir, "runners", "add", server.address, "--label", "GPU")).toContain("Added GPU with 5 node classes");
  server.setMode("hold");
  const client = createHttpClient(first.url, key);
  await until("the service lists the runner's classes", async () => "Sample" in asRecord((await client.get("/api/object_info")).body));
  const id = await submitGraph(client, createGpuGraph());
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
  await second.stop();
});
