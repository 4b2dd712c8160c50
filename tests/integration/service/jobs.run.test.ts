// The progress and node times of a running job, in lists and details.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { type Client, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import {
  asRecord,
  asRecords,
  asString,
  createPng,
  createWaitGraph,
  fetchBytes,
  getRecord,
  type Json,
  listJobs,
  readJob,
  runGraph,
  submitGraph,
  uploadImage,
  waitForEnd,
  waitForStart,
} from "./support";

describe("the progress of a job", async () => {
  const service = await startService({ concurrency: 1 });
  const client = service.client();

  const findInList = async (id: string) => (await listJobs(client)).find((job) => job.id === id) ?? {};

  it("increases within a node in the list and in the details", async () => {
    const id = await submitGraph(client, createWaitGraph(2));
    const events: Json[] = [];
    await until("progress was reported repeatedly", async () => {
      const job = await findInList(id);
      if (job.status === "in_progress") events.push(asRecord(job.progress));
      return new Set(events.map(({ step }) => step)).size > 5 || job.status === "completed";
    });
    expect(new Set(events.map((json) => json.value)).size).toBeGreaterThan(5);
    for (const item of events) expect(item).toMatchObject({ nodes_total: 3, step: expect.any(Number), steps: 100 });
    const values = events.map((json) => Number(json.value));
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(values.every((value) => value >= 0 && value <= 1)).toBe(true);
    expect(events.at(-1)).toMatchObject({ nodes_done: 1, current_node: "2" });

    const job = await readJob(client, id);
    expect(asRecord(job.progress)).toMatchObject({ nodes_done: 1, nodes_total: 3, current_node: "2", steps: 100 });

    const endedJob = await waitForEnd(client, id);
    expect(endedJob).not.toHaveProperty("progress");
    expect(await findInList(id)).not.toHaveProperty("progress");
    const meta = asRecord(endedJob.execution_meta);
    expect(Object.keys(meta)).toEqual(["1", "2", "3"]);
    const waitMeta = asRecord(meta["2"]);
    expect(waitMeta).toMatchObject({ node_id: "2", display_node: "2", real_node_id: "2", parent_node: null, cached: false });
    expect(Number(waitMeta.end_time) - Number(waitMeta.start_time)).toBeGreaterThan(1500);
    expect(Number(waitMeta.start_time)).toBeGreaterThan(1e12);
  });
});

const createBlur = (color: number): Json => ({
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 2, color } },
  "2": { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 3, sigma: 1 } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "soft" } },
  "4": { class_type: "PreviewAny", inputs: { source: ["2", 0] } },
});

describe("the cache of a user", () => {
  async function runJob(client: Client, prompt: Json): Promise<{ job: Json; cached: unknown; assets: Json[] }> {
    const job = await runGraph(client, prompt);
    expect(job.status).toBe("completed");
    const messages = asRecord(job.execution_status).messages;
    const cached = Array.isArray(messages) ? messages.find(([name]) => name === "execution_cached")?.[1].nodes : undefined;
    return { job, cached, assets: asRecords((await getRecord(client, `/api/jobs/${asString(job.id)}/assets`)).assets) };
  }

  it("serves a user's repeated job on any slot with new assets", async () => {
    const service = await startService({ concurrency: 2 });
    const client = service.client();
    const first = await runJob(client, createBlur(7));
    expect(first.cached).toEqual([]);
    // One slot is busy, possibly the one that computed the results. Repeats must work on either slot.
    const blockingId = await submitGraph(client, createWaitGraph(3600));
    await waitForStart(client, blockingId);
    const repeats = [await runJob(client, createBlur(7)), await runJob(client, createBlur(7))];
    for (const { job, cached, assets } of repeats) {
      expect([...(Array.isArray(cached) ? cached : [])].sort()).toEqual(["1", "2", "3", "4"]);
      for (const id of ["3", "4"]) expect(asRecord(job.execution_meta)[id]).toMatchObject({ cached: true, end_time: expect.any(Number) });
      expect(job.outputs).toEqual(first.job.outputs);
      expect(job.outputs_count).toBe(2);
      expect(assets.map((asset) => asset.hash)).toEqual(first.assets.map((asset) => asset.hash));
      expect(assets.map((asset) => asset.prompt_id)).toEqual([job.id, job.id]);
    }
    const ids = [first, ...repeats].flatMap(({ assets }) => assets.map((asset) => asset.id));
    expect(new Set(ids).size).toBe(6);
    // Another user's identical job shares no results.
    const otherRun = await runJob(service.client("bob"), createBlur(7));
    expect([otherRun.cached, otherRun.assets.length]).toEqual([[], 2]);
    await client.post("/api/interrupt");
  });

  it("survives a restart and recomputes deleted results", async () => {
    const service = await startService({ concurrency: 1 });
    const client = service.client();
    const getHashes = ({ assets }: { assets: Json[] }) => assets.map((asset) => asset.hash);
    const firstRun = await runJob(client, createBlur(8));
    await service.service.stop();
    await service.service.start();
    const secondRun = await runJob(client, createBlur(8));
    expect(getHashes(secondRun)).toEqual(getHashes(firstRun));
    expect(secondRun.cached).toContain("3");

    for (const asset of [...firstRun.assets, ...secondRun.assets])
      expect((await client.call("DELETE", `/api/assets/${asString(asset.id)}`)).status).toBe(204);
    const thirdRun = await runJob(client, createBlur(8));
    expect(thirdRun.cached).not.toContain("3");
    expect(getHashes(thirdRun)).toEqual(getHashes(firstRun));
    const file = asString(asRecords(asRecord(asRecord(thirdRun.job.outputs)["3"]).images)[0]?.filename);
    expect((await client.get(`/api/view?filename=${file}`)).status).toBe(200);
    expect((await runJob(client, createBlur(8))).cached).toContain("3");

    await rm(join(service.folder, "node-cache"), { recursive: true });
    const runWithoutCache = await runJob(client, createBlur(8));
    expect(runWithoutCache.cached).not.toContain("3");
    expect(runWithoutCache.assets).toHaveLength(2);
  });
});

const createInvert = (image: string): Json => ({
  "1": { class_type: "LoadImage", inputs: { image } },
  "2": { class_type: "ImageInvert", inputs: { image: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "inverted" } },
});

async function readSavedGrey(client: Client, id: string): Promise<number | undefined> {
  const job = await waitForEnd(client, id);
  expect(job.status).toBe("completed");
  const name = asString(asRecords(asRecord(asRecord(job.outputs)["3"]).images)[0]?.filename);
  const pixels = await sharp(await fetchBytes(client, `/api/view?filename=${name}&type=output`))
    .raw()
    .toBuffer();
  return pixels[0];
}

it("saves each job's own image when another job is cancelled", async () => {
  const testService = await startService({ concurrency: 1 });
  const [ada, bob] = [testService.client("ada"), testService.client("bob")];
  /** Inverts an image whose first row has this grey. */
  const submitInvert = async (client: Client, grey: number) => {
    const name = await uploadImage(client, createPng(32, 8, { seed: grey }), `${grey}.png`);
    return { client, grey, id: await submitGraph(client, createInvert(name)) };
  };
  const blockingId = await submitGraph(ada, createWaitGraph(3600));
  await waitForStart(ada, blockingId);
  const nextId = await submitGraph(ada, createWaitGraph(3600, 2));
  const cancelledJob = await submitInvert(ada, 10);
  await ada.post("/api/interrupt", { prompt_id: blockingId });
  await waitForStart(ada, nextId);

  const submissions = [
    await submitInvert(ada, 20),
    await submitInvert(bob, 10),
    await submitInvert(ada, 10),
    await submitInvert(bob, 30),
    await submitInvert(bob, 40),
  ];
  await ada.post("/api/queue", { delete: [cancelledJob.id] });
  await ada.post("/api/interrupt", { prompt_id: nextId });
  const greys = await Promise.all(submissions.map(({ client, id }) => readSavedGrey(client, id)));
  expect(greys).toEqual(submissions.map(({ grey }) => 255 - grey));
  expect((await waitForEnd(ada, cancelledJob.id)).status).toBe("cancelled");
  expect(testService.loggedErrors).toEqual([]);
});
