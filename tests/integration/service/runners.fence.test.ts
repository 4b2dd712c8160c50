// An attempt whose job was taken over by another process: it learns of it, ends itself, and writes nothing about the job.
import { afterEach, describe, expect, it } from "vitest";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerServer, startRunnerServer } from "@/tests/support/runner-server";
import { type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { detail, type Json, list, png, record, running, submit } from "./support";

const graph: Json = {
  "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } },
  "2": { class_type: "Sample", inputs: { model: ["1", 0], seed: 1, prompt: "" } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
};

describe("a stale attempt", () => {
  let bench: ServiceBench;
  let server: RunnerServer;
  afterEach(async () => {
    await bench.dispose();
    await server.close();
  });

  it.each([
    ["completes nothing and puts nothing out", "hold", () => server.letGo()],
    ["fails nothing", "fail", () => server.letGo()],
    ["gives nothing back when it is lost", "hold", () => server.restart()],
    ["cancels nothing", "hold", (id: string) => bench.client().post("/api/interrupt", { prompt_id: id })],
    ["tells of no progress, renews nothing, and is taken out of the runner", "hold", () => undefined],
  ] as const)("%s", async (_name, way, act) => {
    bench = await startService({ runnerCheckMs: 60_000, runnerLeaseMs: 600, runnerSilenceMs: 60_000, concurrency: 1 });
    const bytes = Buffer.from(png(8, 8));
    server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]), makes: () => ({ files: [{ name: "x.png", bytes }] }) });
    await bench.service.runners.add({ address: server.address, label: "A" });
    const client = bench.client();
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    if (way === "fail")
      server.faults.set("GET /history/*", async (_request, _response, real) => {
        await opened;
        await real();
      });
    server.does(way);
    const id = await submit(client, graph);
    await running(client, id);
    const attempts = () => bench.rows("SELECT state, lease_until, ended_at FROM attempts");
    await bench.rows(`UPDATE jobs SET fence = fence + 1 WHERE id = '${id}'`);
    const before = await attempts();
    open();
    await act(id);
    await until("the attempt has ended itself", async () => (await detail(client, id)).progress === undefined);
    expect(await detail(client, id)).toMatchObject({ status: "in_progress", runner: { label: "A", attempt: 1 } });
    expect(list(record((await client.get("/api/assets?include_public=false")).body).assets)).toEqual([]);
    expect(await attempts()).toEqual(before);
    expect(await bench.rows("SELECT job_seq FROM job_results")).toEqual([]);
    await until("it is not there any more", async () => server.queue().running === undefined);
  });
});
