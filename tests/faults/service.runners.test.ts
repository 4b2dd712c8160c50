// The service is killed while a runner works for it: the next start finds the job there, and its result is stored once.
import { rm } from "node:fs/promises";
import { afterEach, expect, it } from "vitest";
import { startRunnerServer } from "@/tests/support/servers";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { asRecord, asRecords, png, readJob, submit, waitForEnd, waitForStart } from "../integration/service/support";
import { gpuClasses } from "../support/gpu-classes";
import { createKey, httpClient, serviceCommand, startServiceProcess } from "../support/service-process";
import { until } from "../support/until";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it("collects the result of a job that finished while the service was down", { timeout: 120_000 }, async () => {
  const dataDir = temporaryFolder();
  closing.push(() => rm(dataDir, { recursive: true, force: true }));
  const bytes = Buffer.from(png(8, 8));
  const server = await startRunnerServer({
    objectInfo: gpuClasses(["one.safetensors"]),
    makeOutput: () => ({ files: [{ name: "x_00001_.png", bytes }] }),
  });
  closing.push(server.close);
  const key = await createKey(dataDir, "ada");
  const first = await startServiceProcess(dataDir);
  // The command runs beside the service, which notices the change.
  expect(await serviceCommand(dataDir, "runners", "add", server.address, "--label", "GPU")).toContain("Added GPU with 5 node classes");
  server.does("hold");
  const client = httpClient(first.url, key);
  const graph = {
    "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } },
    "2": { class_type: "Sample", inputs: { model: ["1", 0], seed: 1, prompt: "" } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
  };
  await until("the service knows its classes", async () => "Sample" in asRecord((await client.get("/api/object_info")).body));
  const id = await submit(client, graph);
  await waitForStart(client, id);
  await until("it runs there", async () => server.queue().running !== undefined);
  await first.stop("SIGKILL");
  server.release();
  await until("it has ended there", async () => server.queue().running === undefined);

  const second = await startServiceProcess(dataDir);
  const secondClient = httpClient(second.url, key);
  expect(await waitForEnd(secondClient, id)).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 }, outputs_count: 1 });
  expect(asRecords(asRecord((await secondClient.get("/api/assets?include_public=false")).body).assets)).toHaveLength(1);
  expect(server.seen.submissions).toHaveLength(1);
  expect(await serviceCommand(dataDir, "runners", "pause", "GPU")).toBe("GPU is paused.");
  const waits = await submit(secondClient, graph);
  await until("the service has heard of it", async () => (await readJob(secondClient, waits)).waits !== undefined);
  expect(await readJob(secondClient, waits)).toMatchObject({ status: "pending", waits: { state: "paused", runners: ["GPU"] } });
  expect(await serviceCommand(dataDir, "runners", "remove", "GPU")).toBe("Removed GPU.");
  await second.stop();
});
