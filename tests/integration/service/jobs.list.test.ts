import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { canvas, ended, list, record, running, string, submit, waiting } from "./support";

describe("GET /api/jobs", () => {
  let bench: ServiceBench;
  let client: Client;
  let ids: string[];
  let failedId: string;
  beforeAll(async () => {
    bench = await startService({ concurrency: 1, now: steppingClock() });
    client = bench.client();
    ids = [];
    for (let n = 0; n < 7; n += 1) ids.push(await submit(client, canvas(n)));
    failedId = await submit(client, {
      ...canvas(1),
      "3": { class_type: "Fail", inputs: { message: "no", anything: ["1", 0] } },
      "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "f" } },
    });
    for (const id of [...ids, failedId]) await ended(client, id);
  });
  afterAll(() => bench.dispose());

  const page = async (query: string) => record((await client.get(`/api/jobs${query}`)).body);
  const idsOf = async (query: string) => list((await page(query)).jobs).map((job) => string(job.id));

  it("lists the newest first, with an exact total and the defaults of the interface", async () => {
    const answer = await page("");
    expect(answer.pagination).toEqual({ offset: 0, limit: 100, total: 8, has_more: false });
    expect(await idsOf("")).toEqual([failedId, ...[...ids].reverse()]);
    expect(list(answer.jobs)[1]).toMatchObject({
      status: "completed",
      outputs_count: 1,
      workflow_id: expect.any(String),
      preview_output: { mediaType: "images" },
    });
    expect(list(answer.jobs)[1]).not.toHaveProperty("outputs");
  });

  it("pages without overlap or gap", async () => {
    const pages = [await idsOf("?limit=3"), await idsOf("?limit=3&offset=3"), await idsOf("?limit=3&offset=6")];
    expect(pages.flat()).toEqual(await idsOf(""));
    expect((await page("?limit=3&offset=3")).pagination).toEqual({ offset: 3, limit: 3, total: 8, has_more: true });
    expect(await idsOf("?offset=500")).toEqual([]);
  });

  it("filters by one state or several, by workflow and by kind of output, together", async () => {
    expect(await idsOf("?status=failed")).toEqual([failedId]);
    expect((await page("?status=completed,failed")).pagination).toMatchObject({ total: 8 });
    expect(await idsOf("?status=completed,failed&sort_order=asc")).toEqual([...ids, failedId]);
    expect(await idsOf("?status=pending,cancelled")).toEqual([]);
    const workflow = string(list((await page("?status=failed")).jobs)[0]?.workflow_id);
    expect(await idsOf(`?workflow_id=${workflow}`)).toEqual([failedId]);
    expect(await idsOf(`?workflow_id=${workflow}&status=completed`)).toEqual([]);
    expect(await idsOf("?output_type=image&limit=2")).toEqual([ids[6], ids[5]]);
    expect((await page("?output_type=image")).pagination).toMatchObject({ total: 7 });
    expect(await idsOf("?output_type=video")).toEqual([]);
    expect(await idsOf("?output_type=image&status=failed")).toEqual([]);
  });

  it("sorts by how long a job ran, ties by id", async () => {
    const jobs = list((await page("?sort_by=execution_time&sort_order=asc")).jobs);
    const keys = jobs.map((job) => [Number(job.execution_end_time) - Number(job.execution_start_time), string(job.id)] as const);
    expect(keys).toEqual([...keys].sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1)));
  });

  it("speaks in milliseconds in the list and in whole seconds in the details", async () => {
    const item = list((await page("?limit=1&sort_order=asc")).jobs)[0];
    const job = record((await client.get(`/api/jobs/${string(item?.id)}`)).body);
    expect(job.create_time).toBe(Math.floor(Number(item?.create_time) / 1000));
    expect(Number.isInteger(job.update_time)).toBe(true);
    expect(record((await client.get(`/api/job/${string(item?.id)}/status`)).body)).toMatchObject({
      status: "completed",
      created_at: new Date(Number(item?.create_time)).toISOString(),
      assigned_inference: "slot-1",
    });
  });

  it("shows the progress of a running job in its list item", async () => {
    const id = await submit(client, waiting(0.5));
    await running(client, id);
    expect(list((await page("?status=in_progress")).jobs)[0]).toMatchObject({
      id,
      progress: { value: expect.any(Number), nodes_total: 3, start_time: expect.any(Number) },
    });
    await ended(client, id);
  });
});

/** Every reading of the clock is a millisecond later, so that no two jobs have the same time. */
function steppingClock(): () => number {
  let at = Date.parse("2026-01-01T00:00:00Z");
  return () => ++at;
}
