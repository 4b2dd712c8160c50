// A runner that drains: it ends what it runs, takes nothing more, and is paused then.
import { afterEach, beforeEach, expect, it } from "vitest";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { startRunnerServer } from "@/tests/support/runner-server";
import { type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { made, makes } from "./built-in-job";
import { detail, ended, running, submit, waiting } from "./support";

let bench: ServiceBench;
beforeEach(async () => {
  bench = await startService({ runnerCheckMs: 100 });
});
afterEach(() => bench.dispose());

const shown = async (label: string) => (await bench.service.runners.list()).find((one) => one.label === label);

it("lets a runner that drains end what it runs, gives it no more, and then it is paused until it is resumed", async () => {
  const server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]), makes });
  const added = await bench.service.runners.add({ address: server.address, label: "GPU", slots: 2 });
  const id = added.ok ? added.value.id : "";
  const client = bench.client();
  server.does("hold");
  const first = await submit(client, made("one.safetensors", 1));
  await running(client, first);
  await bench.service.runners.change(id, { state: "draining" });
  const second = await submit(client, made("one.safetensors", 2));
  expect(await shown("GPU")).toMatchObject({ state: "draining", running: 1 });
  expect(await detail(client, second)).toMatchObject({
    status: "pending",
    waits: { state: "draining", runners: ["GPU"], message: "Waits for GPU, which ends what it runs and takes no new jobs." },
  });
  server.does("run");
  server.letGo();
  expect(await ended(client, first)).toMatchObject({ status: "completed", runner: { label: "GPU" } });
  await until("it is paused", async () => (await shown("GPU"))?.state === "paused");
  expect(await detail(client, second)).toMatchObject({ status: "pending", waits: { state: "paused", runners: ["GPU"] } });
  expect(server.seen.submissions).toHaveLength(1);
  await bench.service.runners.change(id, { state: "ready" });
  expect(await ended(client, second)).toMatchObject({ status: "completed", runner: { label: "GPU", attempt: 1 } });
  await server.close();
});

it("pauses the built-in runner once it has drained, also where there is no other", async () => {
  const client = bench.client();
  const builtIn = () => shown("Built-in");
  const id = await submit(client, waiting(1));
  await running(client, id);
  await bench.service.runners.change("built-in", { state: "draining" });
  expect(await builtIn()).toMatchObject({ state: "draining", running: 1 });
  expect(await ended(client, id)).toMatchObject({ status: "completed" });
  await until("it is paused", async () => (await builtIn())?.state === "paused");
});
