// The cache as a client sees it: on any slot, and after a restart, a repeated job gets the earlier results.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { ended, type Json, list, record, running, string, submit, waiting } from "./support";

const blurred = (color: number): Json => ({
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 2, color } },
  "2": { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 3, sigma: 1 } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "soft" } },
  "4": { class_type: "PreviewAny", inputs: { source: ["2", 0] } },
});

describe("the cache of a user", () => {
  let bench: ServiceBench | undefined;
  afterEach(() => bench?.dispose());

  async function run(client: Client, prompt: Json): Promise<{ job: Json; cached: unknown; assets: Json[] }> {
    const job = await ended(client, await submit(client, prompt));
    expect(job.status).toBe("completed");
    const messages = record(job.execution_status).messages;
    const cached = Array.isArray(messages) ? messages.find(([name]) => name === "execution_cached")?.[1].nodes : undefined;
    return { job, cached, assets: list(record((await client.get(`/api/jobs/${string(job.id)}/assets`)).body).assets) };
  }

  it("answers a repeat on another slot, lists its outputs as new assets, and says so in every view", async () => {
    bench = await startService({ concurrency: 2 });
    const client = bench.client();
    const first = await run(client, blurred(7));
    expect(first.cached).toEqual([]);
    // One slot is busy, perhaps the one that made the results: the repeats must work on either.
    const blocking = await submit(client, waiting(3600));
    await running(client, blocking);
    const repeats = [await run(client, blurred(7)), await run(client, blurred(7))];
    for (const { job, cached, assets } of repeats) {
      expect([...(Array.isArray(cached) ? cached : [])].sort()).toEqual(["1", "2", "3", "4"]);
      for (const id of ["3", "4"]) expect(record(job.execution_meta)[id]).toMatchObject({ cached: true, end_time: expect.any(Number) });
      expect(job.outputs).toEqual(first.job.outputs);
      expect(job.outputs_count).toBe(2);
      expect(assets.map((asset) => asset.hash)).toEqual(first.assets.map((asset) => asset.hash));
      expect(assets.map((asset) => asset.prompt_id)).toEqual([job.id, job.id]);
    }
    const ids = [first, ...repeats].flatMap(({ assets }) => assets.map((asset) => asset.id));
    expect(new Set(ids).size).toBe(6);
    await client.post("/api/interrupt");
  });

  it("still answers after a restart, and makes again what was deleted meanwhile", async () => {
    bench = await startService({ concurrency: 1 });
    const before = await run(bench.client("ada"), blurred(8));
    await bench.service.stop();
    bench = await startService({ concurrency: 1, dataDir: bench.folder });
    const client = bench.client("ada");
    const again = await run(client, blurred(8));
    expect(
      list([])
        .concat(again.assets)
        .map((asset) => asset.hash),
    ).toEqual(before.assets.map((asset) => asset.hash));
    expect(again.cached).toContain("3");

    for (const { assets } of [before, again]) {
      for (const asset of assets) expect((await client.call("DELETE", `/api/assets/${string(asset.id)}`)).status).toBe(204);
    }
    const anew = await run(client, blurred(8));
    expect(anew.cached).not.toContain("3");
    expect(anew.assets.map((asset) => asset.hash)).toEqual(before.assets.map((asset) => asset.hash));
    const file = string(list(record(record(anew.job.outputs)["3"]).images)[0]?.filename);
    expect((await client.get(`/api/view?filename=${file}`)).status).toBe(200);
    expect((await run(client, blurred(8))).cached).toContain("3");
  });

  it("does without what is damaged or missing on the disk", async () => {
    bench = await startService({ concurrency: 1 });
    const client = bench.client();
    await run(client, blurred(9));
    await rm(join(bench.folder, "node-cache"), { recursive: true });
    const again = await run(client, blurred(9));
    expect(again.cached).not.toContain("3");
    expect(again.assets).toHaveLength(2);
  });

  it("is of one user: another one's equal job runs, and its assets are their own", async () => {
    bench = await startService({ concurrency: 1 });
    await run(bench.client("ada"), blurred(10));
    const bobs = await run(bench.client("bob"), blurred(10));
    expect(bobs.cached).toEqual([]);
    expect(bobs.assets).toHaveLength(2);
  });

  it("never holds Wait and Fail, nor what is behind them", async () => {
    bench = await startService({ concurrency: 1 });
    const client = bench.client();
    for (let round = 0; round < 2; round += 1) expect((await run(client, waiting(0, 11))).cached).not.toContain("3");
    const failing = { ...blurred(12), "5": { class_type: "Fail", inputs: { message: "no", anything: ["2", 0] } } };
    const shown = { ...failing, "6": { class_type: "PreviewAny", inputs: { source: ["5", 0] } } };
    for (let round = 0; round < 2; round += 1) {
      const job = await ended(client, await submit(client, shown));
      expect(job).toMatchObject({ status: "failed", outputs_count: 2, execution_error: { node_id: "5", exception_message: "no" } });
      expect(record(record(job.execution_meta)["3"]).cached).toBe(round === 1);
    }
  });
});
