import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { canvas, detail, ended, list, record, running, string, submit, waiting } from "./support";

describe("the queue and the history", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService({ concurrency: 1 });
    client = bench.client();
  });
  afterAll(() => bench.dispose());

  it("cancels pending jobs only, and the receipt lists what really was cancelled", async () => {
    const first = await submit(client, waiting(1));
    await running(client, first);
    const [second, third] = [await submit(client, canvas(1)), await submit(client, canvas(2))];
    const queue = record((await client.get("/api/queue")).body);
    expect(queue.queue_running).toEqual([[1, first, expect.any(Object), ["3"], { create_time: expect.any(Number) }]]);
    expect(list(queue.queue_pending).map((item) => [item[0], item[1]])).toEqual([
      [1, second],
      [2, third],
    ]);
    expect((await client.get("/api/prompt")).body).toEqual({ exec_info: { queue_remaining: 3 } });

    const receipt = await client.post("/api/queue", { delete: [first, second, "unknown"] });
    expect(receipt).toMatchObject({ status: 200, body: { deleted: [second], cleared: false } });
    expect(await detail(client, second)).toMatchObject({ status: "cancelled", outputs_count: 0 });
    expect(await client.post("/api/queue", { clear: true, delete: [first] })).toMatchObject({ body: { deleted: [third], cleared: true } });
    expect((await ended(client, first)).status).toBe("completed");
    expect(await client.post("/api/queue", { delete: [first] })).toMatchObject({ body: { deleted: [], cleared: false } });
  });

  it("interrupts what runs at once, and the cancelled job keeps nothing", async () => {
    const id = await submit(client, {
      ...waiting(3600),
      "4": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "early" } },
    });
    await until("the waiting node has its turn", async () => record((await running(client, id)).progress).current_node === "2");
    expect((await client.post("/api/interrupt")).status).toBe(200);
    const job = await ended(client, id);
    expect(job).toMatchObject({
      status: "cancelled",
      outputs: {},
      outputs_count: 0,
      execution_status: { status_str: "error", completed: false },
    });
    expect(JSON.stringify(job.execution_status)).toContain("execution_interrupted");
    expect(record(job.execution_meta)["2"]).toMatchObject({
      node_id: "2",
      cached: false,
      start_time: expect.any(Number),
      end_time: expect.any(Number),
    });
    expect(list(record((await client.get(`/api/jobs/${id}/assets`)).body).assets)).toEqual([]);
    // The slot is free again.
    expect((await ended(client, await submit(client, canvas(9)))).status).toBe("completed");
  });

  it("cancels a job by id, running or pending, once", async () => {
    const first = await submit(client, waiting(30));
    await running(client, first);
    const second = await submit(client, canvas(3));
    expect((await client.post("/api/jobs/cancel", { job_ids: [second, first] })).body).toEqual({ cancelled: [second, first] });
    expect((await client.post(`/api/jobs/${first}/cancel`)).body).toEqual({ cancelled: false });
    expect((await client.post("/api/jobs/cancel", { job_ids: [first, "unknown"] })).status).toBe(404);
  });

  it("refuses words that the two bodies do not have", async () => {
    for (const path of ["/api/queue", "/api/history"]) {
      expect(await client.post(path, { remove: [] })).toMatchObject({
        status: 400,
        body: { code: "INVALID_BODY", message: expect.stringContaining("remove") },
      });
      expect((await client.post(path, { delete: "all" })).status).toBe(400);
      expect((await client.call("POST", path, "[")).status).toBe(400);
    }
  });

  it("lists what has ended newest first, without the editor's graph, and in full by id", async () => {
    const workflow = { id: "1f3b7f7c-55a0-4f0a-8e53-7a2c0d9c4e22", nodes: [] };
    const id = await submit(client, canvas(11), { extra_data: { client_id: "c", extra_pnginfo: { workflow } } });
    await ended(client, id);
    const [entry] = list(record((await client.get("/api/history_v2?max_items=1")).body).history);
    expect(entry).toMatchObject({
      prompt_id: id,
      workflow_id: workflow.id,
      prompt: { prompt_id: id, extra_data: { client_id: "c", extra_pnginfo: {} } },
      status: { completed: true },
    });
    expect(Number(entry?.create_time)).toBeGreaterThan(1e12);
    expect(JSON.stringify(record(entry?.prompt))).not.toContain("nodes");
    const full = record(record((await client.get(`/api/history_v2/${id}`)).body)[id]);
    expect(full).toMatchObject({ prompt: { prompt: canvas(11), extra_data: { extra_pnginfo: { workflow } }, outputs_to_execute: ["2"] } });
  });

  it("tells of each job what is its own, where short and long ones are read together", async () => {
    // One is longer than a list shows, and longer than what is read at once.
    const notes = ["first", "x".repeat(300_000), "third", "fourth"];
    const ids: string[] = [];
    for (const [at, note] of notes.entries()) ids.push(await submit(client, canvas(13 + at), { extra_data: { note } }));
    for (const id of ids) await ended(client, id);
    const { history } = record((await client.get("/api/history_v2?max_items=4")).body);
    const shown = list(history).map((entry) => [entry.prompt_id, record(entry.prompt).extra_data]);
    const accepted = notes.map((note) => (note.length > 1000 ? {} : { note }));
    expect(shown.reverse()).toEqual(ids.map((id, at) => [id, accepted[at]]));
    const older = record((await client.get("/api/history?max_items=4&offset=-1")).body);
    const tuples = Object.entries(older).map(([id, entry]) => ({ id, tuple: record(entry).prompt }));
    expect(tuples).toEqual(ids.map((id, at) => ({ id, tuple: [expect.any(Number), id, canvas(13 + at), { note: notes[at] }, ["2"]] })));
  });

  it("removes ended jobs from every list and leaves their assets and what still runs", async () => {
    const done = await submit(client, canvas(12));
    const file = string(record((await ended(client, done)).preview_output).filename);
    const busy = await submit(client, waiting(1));
    await running(client, busy);
    expect((await client.post("/api/history", { delete: [done, busy] })).body).toMatchObject({ code: "OK", message: expect.any(String) });
    expect((await client.get(`/api/jobs/${done}`)).status).toBe(404);
    expect((await client.get(`/api/view?filename=${file}`)).status).toBe(200);
    expect((await detail(client, busy)).status).toBe("in_progress");
    await client.post("/api/history", { clear: true });
    const left = record((await client.get("/api/jobs")).body);
    expect(list(left.jobs).map((job) => job.id)).toEqual([busy]);
    expect(left.pagination).toMatchObject({ total: 1 });
    await ended(client, busy);
  });
});
