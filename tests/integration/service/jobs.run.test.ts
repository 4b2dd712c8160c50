// The progress and node times of a running job, in lists and details.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import {
  asRecord,
  asRecords,
  asString,
  createPng,
  createWaitGraph,
  type Json,
  readJob,
  submitGraph,
  waitForEnd,
  waitForStart,
} from "./support";

/** Computes for several seconds in one node. */
const heavyGraph: Json = {
  "1": { class_type: "EmptyImage", inputs: { width: 2048, height: 2048, batch_size: 4, color: 9 } },
  "2": { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 31, sigma: 10 } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "heavy" } },
};

describe("the progress of a job", async () => {
  const service = await startService({ concurrency: 1, maxJobPixels: 1e9 });
  const client = service.client();

  const findInList = async (id: string) =>
    asRecords(asRecord((await client.get("/api/jobs")).body).jobs).find((job) => job.id === id) ?? {};

  /** Collects the job's progress from the list until `isEnough` is true or the job has ended. */
  async function watchProgress(id: string, isEnough: (events: Json[]) => boolean): Promise<Json[]> {
    const events: Json[] = [];
    await until("enough progress was reported", async () => {
      const job = await findInList(id);
      if (job.status === "in_progress") events.push(asRecord(job.progress));
      return isEnough(events) || ["completed", "failed", "cancelled"].includes(asString(job.status));
    });
    return events;
  }

  it("increases within a node in the list and in the details", async () => {
    const id = await submitGraph(client, createWaitGraph(2));
    const events = await watchProgress(id, (all) => new Set(all.map((json) => json.step)).size > 5);
    expect(new Set(events.map((json) => json.value)).size).toBeGreaterThan(5);
    for (const item of events) expect(item).toMatchObject({ nodes_total: 3, step: expect.any(Number), steps: 100 });
    const values = events.map((json) => Number(json.value));
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(values.every((value) => value >= 0 && value <= 1)).toBe(true);
    expect(events.at(-1)).toMatchObject({ nodes_done: 1, current_node: "2" });

    const job = await readJob(client, id);
    expect(asRecord(job.progress)).toMatchObject({ nodes_done: 1, nodes_total: 3, current_node: "2", steps: 100 });
    // Only ended jobs have a timeline and outputs.
    for (const field of ["outputs", "outputs_count", "preview_output", "execution_status", "execution_meta", "execution_end_time"])
      expect(job).not.toHaveProperty(field);

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

  it("advances while a node runs", async () => {
    const id = await submitGraph(client, heavyGraph);
    const events = await watchProgress(
      id,
      (all) => new Set(all.filter((json) => json.current_node === "2").map((json) => json.step)).size > 3,
    );
    const steps = events.filter((json) => json.current_node === "2").map((json) => Number(json.step));
    expect(new Set(steps).size).toBeGreaterThan(3);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    await client.post("/api/interrupt");
    await waitForEnd(client, id);
  });

  it("includes the slot in the status during and after the run", async () => {
    const blockingId = await submitGraph(client, createWaitGraph(3600));
    await waitForStart(client, blockingId);
    const queuedId = await submitGraph(client, createWaitGraph(0));
    const getStatus = async (id: string) => asRecord((await client.get(`/api/job/${id}/status`)).body);
    expect(await getStatus(blockingId)).toMatchObject({ status: "in_progress", assigned_inference: "slot-1" });
    const before = await getStatus(queuedId);
    expect(before.status).toBe("pending");
    expect(before).not.toHaveProperty("assigned_inference");
    await client.post("/api/interrupt");
    await waitForEnd(client, queuedId);
    const after = await getStatus(queuedId);
    expect(after).toMatchObject({ id: queuedId, status: "completed", assigned_inference: "slot-1", created_at: before.created_at });
    expect(Date.parse(asString(after.last_state_update))).toBeGreaterThanOrEqual(Date.parse(asString(before.last_state_update)));
    for (const field of ["created_at", "updated_at", "last_state_update"]) expect(after[field]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect((await getStatus(blockingId)).status).toBe("cancelled");
  });
});

const createBlur = (color: number): Json => ({
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 2, color } },
  "2": { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 3, sigma: 1 } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "soft" } },
  "4": { class_type: "PreviewAny", inputs: { source: ["2", 0] } },
});

describe("the cache of a user", () => {
  let service: TestService | undefined;

  async function runJob(client: Client, prompt: Json): Promise<{ job: Json; cached: unknown; assets: Json[] }> {
    const job = await waitForEnd(client, await submitGraph(client, prompt));
    expect(job.status).toBe("completed");
    const messages = asRecord(job.execution_status).messages;
    const cached = Array.isArray(messages) ? messages.find(([name]) => name === "execution_cached")?.[1].nodes : undefined;
    return { job, cached, assets: asRecords(asRecord((await client.get(`/api/jobs/${asString(job.id)}/assets`)).body).assets) };
  }

  it("serves a repeated job on any slot with new assets", async () => {
    service = await startService({ concurrency: 2 });
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
    await client.post("/api/interrupt");
  });

  it("survives a restart and recomputes deleted results", async () => {
    service = await startService({ concurrency: 1 });
    const before = await runJob(service.client("ada"), createBlur(8));
    await service.service.stop();
    service = await startService({ concurrency: 1, dataDir: service.folder });
    const client = service.client("ada");
    const secondRun = await runJob(client, createBlur(8));
    expect(
      asRecords([])
        .concat(secondRun.assets)
        .map((asset) => asset.hash),
    ).toEqual(before.assets.map((asset) => asset.hash));
    expect(secondRun.cached).toContain("3");

    for (const { assets } of [before, secondRun]) {
      for (const asset of assets) expect((await client.call("DELETE", `/api/assets/${asString(asset.id)}`)).status).toBe(204);
    }
    const thirdRun = await runJob(client, createBlur(8));
    expect(thirdRun.cached).not.toContain("3");
    expect(thirdRun.assets.map((asset) => asset.hash)).toEqual(before.assets.map((asset) => asset.hash));
    const file = asString(asRecords(asRecord(asRecord(thirdRun.job.outputs)["3"]).images)[0]?.filename);
    expect((await client.get(`/api/view?filename=${file}`)).status).toBe(200);
    expect((await runJob(client, createBlur(8))).cached).toContain("3");
  });

  it("ignores damaged and missing results", async () => {
    service = await startService({ concurrency: 1 });
    const client = service.client();
    await runJob(client, createBlur(9));
    await rm(join(service.folder, "node-cache"), { recursive: true });
    const secondRun = await runJob(client, createBlur(9));
    expect(secondRun.cached).not.toContain("3");
    expect(secondRun.assets).toHaveLength(2);
  });

  it("isn't shared with another user's equal job", async () => {
    service = await startService({ concurrency: 1 });
    await runJob(service.client("ada"), createBlur(10));
    const otherRun = await runJob(service.client("bob"), createBlur(10));
    expect(otherRun.cached).toEqual([]);
    expect(otherRun.assets).toHaveLength(2);
  });
});

let testService: TestService | undefined;

const createInvert = (image: string): Json => ({
  "1": { class_type: "LoadImage", inputs: { image } },
  "2": { class_type: "ImageInvert", inputs: { image: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "inverted" } },
});

/** Uploads an image whose first row has the given grey. */
async function upload(client: Client, grey: number): Promise<string> {
  const response = await client.upload(createPng(32, 8, { seed: grey }), `${grey}.png`, {}, "image", "/api/upload/image");
  return asString(asRecord(response.body).name);
}

async function readSavedGrey(client: Client, id: string): Promise<number | undefined> {
  const job = await waitForEnd(client, id);
  expect(job.status).toBe("completed");
  const name = asString(asRecords(asRecord(asRecord(job.outputs)["3"]).images)[0]?.filename);
  const response = await client.raw("GET", `/api/view?filename=${name}&type=output`);
  return (
    await sharp(Buffer.from(await response.arrayBuffer()))
      .raw()
      .toBuffer()
  )[0];
}

it("saves each job's own image when another job is cancelled", async () => {
  testService = await startService({ concurrency: 1 });
  const [ada, bob] = [testService.client("ada"), testService.client("bob")];
  const submitInvert = async (client: Client, grey: number) => ({
    client,
    grey,
    id: await submitGraph(client, createInvert(await upload(client, grey))),
  });
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
