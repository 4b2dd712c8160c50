// A running job's progress in lists and details, between and inside its nodes, and its node times.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { asRecord, asRecords, asString, type Json, png, readJob, submit, waitForEnd, waitForStart, waitGraph } from "./support";

/** Seconds of computing in one node. */
const heavy: Json = {
  "1": { class_type: "EmptyImage", inputs: { width: 2048, height: 2048, batch_size: 4, color: 9 } },
  "2": { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 31, sigma: 10 } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "heavy" } },
};

describe("the progress of a job", async () => {
  const service = await startService({ concurrency: 1, maxJobPixels: 1e9 });
  const client = service.client();

  const inList = async (id: string) => asRecords(asRecord((await client.get("/api/jobs")).body).jobs).find((job) => job.id === id) ?? {};

  /** The job's entries in the list until it has ended and `enough` is true. */
  async function watch(id: string, enough: (events: Json[]) => boolean): Promise<Json[]> {
    const events: Json[] = [];
    await until("enough was seen", async () => {
      const job = await inList(id);
      if (job.status === "in_progress") events.push(asRecord(job.progress));
      return enough(events) || ["completed", "failed", "cancelled"].includes(asString(job.status));
    });
    return events;
  }

  it("rises inside a waiting node in the list and in the details", async () => {
    const id = await submit(client, waitGraph(2));
    const events = await watch(id, (all) => new Set(all.map((json) => json.step)).size > 5);
    expect(new Set(events.map((json) => json.value)).size).toBeGreaterThan(5);
    for (const item of events) expect(item).toMatchObject({ nodes_total: 3, step: expect.any(Number), steps: 100 });
    const values = events.map((json) => Number(json.value));
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(values.every((value) => value >= 0 && value <= 1)).toBe(true);
    expect(events.at(-1)).toMatchObject({ nodes_done: 1, current_node: "2" });

    const job = await readJob(client, id);
    expect(asRecord(job.progress)).toMatchObject({ nodes_done: 1, nodes_total: 3, current_node: "2", steps: 100 });
    // Timeline and outputs belong to terminal states.
    for (const field of ["outputs", "outputs_count", "preview_output", "execution_status", "execution_meta", "execution_end_time"])
      expect(job).not.toHaveProperty(field);

    const after = await waitForEnd(client, id);
    expect(after).not.toHaveProperty("progress");
    expect(await inList(id)).not.toHaveProperty("progress");
    const meta = asRecord(after.execution_meta);
    expect(Object.keys(meta)).toEqual(["1", "2", "3"]);
    const waited = asRecord(meta["2"]);
    expect(waited).toMatchObject({ node_id: "2", display_node: "2", real_node_id: "2", parent_node: null, cached: false });
    expect(Number(waited.end_time) - Number(waited.start_time)).toBeGreaterThan(1500);
    expect(Number(waited.start_time)).toBeGreaterThan(1e12);
  });

  it("advances while a node runs", async () => {
    const id = await submit(client, heavy);
    const events = await watch(id, (all) => new Set(all.filter((json) => json.current_node === "2").map((json) => json.step)).size > 3);
    const steps = events.filter((json) => json.current_node === "2").map((json) => Number(json.step));
    expect(new Set(steps).size).toBeGreaterThan(3);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    await client.post("/api/interrupt");
    await waitForEnd(client, id);
  });

  it("names the slot during and after the run in status and times", async () => {
    const blocking = await submit(client, waitGraph(3600));
    await waitForStart(client, blocking);
    const queued = await submit(client, waitGraph(0));
    const getStatus = async (id: string) => asRecord((await client.get(`/api/job/${id}/status`)).body);
    expect(await getStatus(blocking)).toMatchObject({ status: "in_progress", assigned_inference: "slot-1" });
    const before = await getStatus(queued);
    expect(before.status).toBe("pending");
    expect(before).not.toHaveProperty("assigned_inference");
    await client.post("/api/interrupt");
    await waitForEnd(client, queued);
    const after = await getStatus(queued);
    expect(after).toMatchObject({ id: queued, status: "completed", assigned_inference: "slot-1", created_at: before.created_at });
    expect(Date.parse(asString(after.last_state_update))).toBeGreaterThanOrEqual(Date.parse(asString(before.last_state_update)));
    for (const field of ["created_at", "updated_at", "last_state_update"]) expect(after[field]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect((await getStatus(blocking)).status).toBe("cancelled");
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

  async function run(client: Client, prompt: Json): Promise<{ job: Json; cached: unknown; assets: Json[] }> {
    const job = await waitForEnd(client, await submit(client, prompt));
    expect(job.status).toBe("completed");
    const messages = asRecord(job.execution_status).messages;
    const cached = Array.isArray(messages) ? messages.find(([name]) => name === "execution_cached")?.[1].nodes : undefined;
    return { job, cached, assets: asRecords(asRecord((await client.get(`/api/jobs/${asString(job.id)}/assets`)).body).assets) };
  }

  it("returns a repeat on another slot with new assets in every view", async () => {
    service = await startService({ concurrency: 2 });
    const client = service.client();
    const first = await run(client, createBlur(7));
    expect(first.cached).toEqual([]);
    // One slot is busy, perhaps the one that made the results: repeats must work on either.
    const blocking = await submit(client, waitGraph(3600));
    await waitForStart(client, blocking);
    const repeats = [await run(client, createBlur(7)), await run(client, createBlur(7))];
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
    const before = await run(service.client("ada"), createBlur(8));
    await service.service.stop();
    service = await startService({ concurrency: 1, dataDir: service.folder });
    const client = service.client("ada");
    const secondRun = await run(client, createBlur(8));
    expect(
      asRecords([])
        .concat(secondRun.assets)
        .map((asset) => asset.hash),
    ).toEqual(before.assets.map((asset) => asset.hash));
    expect(secondRun.cached).toContain("3");

    for (const { assets } of [before, secondRun]) {
      for (const asset of assets) expect((await client.call("DELETE", `/api/assets/${asString(asset.id)}`)).status).toBe(204);
    }
    const anew = await run(client, createBlur(8));
    expect(anew.cached).not.toContain("3");
    expect(anew.assets.map((asset) => asset.hash)).toEqual(before.assets.map((asset) => asset.hash));
    const file = asString(asRecords(asRecord(asRecord(anew.job.outputs)["3"]).images)[0]?.filename);
    expect((await client.get(`/api/view?filename=${file}`)).status).toBe(200);
    expect((await run(client, createBlur(8))).cached).toContain("3");
  });

  it("ignores damaged and missing results", async () => {
    service = await startService({ concurrency: 1 });
    const client = service.client();
    await run(client, createBlur(9));
    await rm(join(service.folder, "node-cache"), { recursive: true });
    const secondRun = await run(client, createBlur(9));
    expect(secondRun.cached).not.toContain("3");
    expect(secondRun.assets).toHaveLength(2);
  });

  it("is per user: another user's equal job runs with its own assets", async () => {
    service = await startService({ concurrency: 1 });
    await run(service.client("ada"), createBlur(10));
    const bobs = await run(service.client("bob"), createBlur(10));
    expect(bobs.cached).toEqual([]);
    expect(bobs.assets).toHaveLength(2);
  });
});

let testService: TestService | undefined;

const createInvert = (image: string): Json => ({
  "1": { class_type: "LoadImage", inputs: { image } },
  "2": { class_type: "ImageInvert", inputs: { image: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "inverted" } },
});

/** Uploads a picture whose first row has that grey. */
async function upload(client: Client, grey: number): Promise<string> {
  const response = await client.upload(png(32, 8, { seed: grey }), `${grey}.png`, {}, "image", "/api/upload/image");
  return asString(asRecord(response.body).name);
}

async function savedGrey(client: Client, id: string): Promise<number | undefined> {
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

it("saves each job's own picture despite a cancelled neighbour", async () => {
  testService = await startService({ concurrency: 1 });
  const [ada, bob] = [testService.client("ada"), testService.client("bob")];
  const send = async (client: Client, grey: number) => ({
    client,
    grey,
    id: await submit(client, createInvert(await upload(client, grey))),
  });
  const blocking = await submit(ada, waitGraph(3600));
  await waitForStart(ada, blocking);
  const next = await submit(ada, waitGraph(3600, 2));
  const cancelled = await send(ada, 10);
  await ada.post("/api/interrupt", { prompt_id: blocking });
  await waitForStart(ada, next);

  const submitted = [await send(ada, 20), await send(bob, 10), await send(ada, 10), await send(bob, 30), await send(bob, 40)];
  await ada.post("/api/queue", { delete: [cancelled.id] });
  await ada.post("/api/interrupt", { prompt_id: next });
  const greys = await Promise.all(submitted.map(({ client, id }) => savedGrey(client, id)));
  expect(greys).toEqual(submitted.map(({ grey }) => 255 - grey));
  expect((await waitForEnd(ada, cancelled.id)).status).toBe("cancelled");
  expect(testService.complaints).toEqual([]);
});
