// The progress of a running job, in the list and in the details, between and inside its nodes; and the times of its nodes afterwards.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { detail, ended, type Json, list, record, running, string, submit, waiting } from "./support";

/** Seconds of computing in one node. */
const heavy: Json = {
  "1": { class_type: "EmptyImage", inputs: { width: 2048, height: 2048, batch_size: 4, color: 9 } },
  "2": { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 31, sigma: 10 } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "heavy" } },
};

describe("the progress of a job", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService({ concurrency: 1, maxJobPixels: 1e9 });
    client = bench.client();
  });
  afterAll(() => bench.dispose());

  const inList = async (id: string) => list(record((await client.get("/api/jobs")).body).jobs).find((job) => job.id === id) ?? {};

  /** The job's entries in the list until it has ended and `enough` is true. */
  async function watch(id: string, enough: (seen: Json[]) => boolean): Promise<Json[]> {
    const seen: Json[] = [];
    await until("enough was seen", async () => {
      const job = await inList(id);
      if (job.status === "in_progress") seen.push(record(job.progress));
      return enough(seen) || ["completed", "failed", "cancelled"].includes(string(job.status));
    });
    return seen;
  }

  it("moves inside a node that waits, in the list and in the details, and never goes back", async () => {
    const id = await submit(client, waiting(2));
    const seen = await watch(id, (all) => new Set(all.map((one) => one.step)).size > 5);
    expect(new Set(seen.map((one) => one.value)).size).toBeGreaterThan(5);
    for (const one of seen) expect(one).toMatchObject({ nodes_total: 3, step: expect.any(Number), steps: 100 });
    const values = seen.map((one) => Number(one.value));
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(values.every((value) => value >= 0 && value <= 1)).toBe(true);
    expect(seen.at(-1)).toMatchObject({ nodes_done: 1, current_node: "2" });

    const job = await detail(client, id);
    expect(record(job.progress)).toMatchObject({ nodes_done: 1, nodes_total: 3, current_node: "2", steps: 100 });
    // Timeline and outputs belong to terminal states.
    for (const field of ["outputs", "outputs_count", "preview_output", "execution_status", "execution_meta", "execution_end_time"])
      expect(job).not.toHaveProperty(field);

    const after = await ended(client, id);
    expect(after).not.toHaveProperty("progress");
    expect(await inList(id)).not.toHaveProperty("progress");
    const meta = record(after.execution_meta);
    expect(Object.keys(meta)).toEqual(["1", "2", "3"]);
    const waited = record(meta["2"]);
    expect(waited).toMatchObject({ node_id: "2", display_node: "2", real_node_id: "2", parent_node: null, cached: false });
    expect(Number(waited.end_time) - Number(waited.start_time)).toBeGreaterThan(1500);
    expect(Number(waited.start_time)).toBeGreaterThan(1e12);
  });

  it("moves inside a node that computes", async () => {
    const id = await submit(client, heavy);
    const seen = await watch(id, (all) => new Set(all.filter((one) => one.current_node === "2").map((one) => one.step)).size > 3);
    const steps = seen.filter((one) => one.current_node === "2").map((one) => Number(one.step));
    expect(new Set(steps).size).toBeGreaterThan(3);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    await client.post("/api/interrupt");
    await ended(client, id);
  });

  it("names the slot while the job runs and afterwards, in words of the status view and in its times", async () => {
    const blocking = await submit(client, waiting(3600));
    await running(client, blocking);
    const queued = await submit(client, waiting(0));
    const statusOf = async (id: string) => record((await client.get(`/api/job/${id}/status`)).body);
    expect(await statusOf(blocking)).toMatchObject({ status: "in_progress", assigned_inference: "slot-1" });
    const before = await statusOf(queued);
    expect(before.status).toBe("pending");
    expect(before).not.toHaveProperty("assigned_inference");
    await client.post("/api/interrupt");
    await ended(client, queued);
    const after = await statusOf(queued);
    expect(after).toMatchObject({ id: queued, status: "completed", assigned_inference: "slot-1", created_at: before.created_at });
    expect(Date.parse(string(after.last_state_update))).toBeGreaterThanOrEqual(Date.parse(string(before.last_state_update)));
    for (const field of ["created_at", "updated_at", "last_state_update"]) expect(after[field]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect((await statusOf(blocking)).status).toBe("cancelled");
  });
});
