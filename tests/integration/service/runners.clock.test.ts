// A job that begins by one clock and ends by another: the second of two processes may be minutes behind.
import { afterEach, expect, it } from "vitest";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerServer, startRunnerServer } from "@/tests/support/runner-server";
import { type ServiceBench, startService } from "@/tests/support/service";
import { made, makes } from "./built-in-job";
import { ended, running, submit } from "./support";

let bench: ServiceBench | undefined;
let server: RunnerServer | undefined;
afterEach(async () => {
  await bench?.dispose();
  await server?.close();
});

it("counts no time below zero, where the clock of the process that ends a job is behind", async () => {
  let behindMs = 0;
  bench = await startService({ now: () => Date.now() - behindMs });
  server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]), makes });
  const { runners } = bench.service;
  expect((await runners.add({ address: server.address, label: "GPU" })).ok).toBe(true);
  const client = bench.client();
  server.does("hold");
  const id = await submit(client, made());
  await running(client, id);
  behindMs = 300_000;
  server.letGo();
  expect((await ended(client, id)).status).toBe("completed");
  expect((await runners.list()).find(({ label }) => label === "GPU")).toMatchObject({ done: 1, meanRunMs: 0 });
});
