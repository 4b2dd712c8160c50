// Cancelling a running job: promptly, inside any node, without leftovers or effects on other jobs.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { asRecord, asRecords, asString, canvas, type Json, readJob, submit, waitForEnd, waitForStart, waitGraph } from "./support";

/** Outputs one picture, then computes for a long time. */
const heavy = (color: number): Json => ({
  "1": { class_type: "EmptyImage", inputs: { width: 2048, height: 2048, batch_size: 6, color } },
  "2": { class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size: 1, color } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "early" } },
  "4": { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 31, sigma: 10 } },
  "5": { class_type: "SaveImage", inputs: { images: ["4", 0], filename_prefix: "late" } },
});

describe("cancelling a running job", () => {
  let service: TestService;

  const listFiles = (folder: string) => readdirSync(join(service.folder, folder), { recursive: true, withFileTypes: true });
  const blobs = () => listFiles("blobs").filter((entry) => entry.isFile()).length;
  const outputs = async (client: Client) => asRecords(asRecord((await client.get("/api/assets?include_public=false")).body).assets);
  const at = (client: Client, id: string, node: string) =>
    until(`node ${node} is at work`, async () => asRecord((await waitForStart(client, id)).progress).current_node === node);

  for (const [how, cancel] of [
    ["interrupt", (client: Client) => client.post("/api/interrupt")],
    ["interrupt of one", (client: Client, id: string) => client.post("/api/interrupt", { prompt_id: id })],
    ["jobs.cancel", (client: Client, id: string) => client.post(`/api/jobs/${id}/cancel`)],
    ["jobs.cancel of many", (client: Client, id: string) => client.post("/api/jobs/cancel", { job_ids: [id] })],
  ] as const) {
    it(`stops inside a pixel loop by ${how} and keeps the neighbour`, async () => {
      service = await startService({ concurrency: 2, maxJobPixels: 1e9 });
      const [ada, bob] = [service.client("ada"), service.client("bob")];
      const before = blobs();
      const neighbour = await submit(bob, waitGraph(1));
      const id = await submit(ada, heavy(1));
      await waitForStart(bob, neighbour);
      await at(ada, id, "4");

      expect((await cancel(ada, id)).status).toBe(200);
      // It is cancelled in every view as soon as the cancel returns.
      const job = await readJob(ada, id);
      expect(job).toMatchObject({ status: "cancelled", outputs: {}, outputs_count: 0 });
      expect(job).not.toHaveProperty("preview_output");
      expect(job).not.toHaveProperty("execution_error");
      expect(asRecord(job.execution_status)).toMatchObject({ status_str: "error", completed: false });
      const stoppedIn = expect.objectContaining({ node_id: "4", node_type: asRecord(asRecord(heavy(1))["4"]).class_type });
      expect(asRecord(job.execution_status).messages).toContainEqual(["execution_interrupted", stoppedIn]);
      expect(asRecord((await ada.get(`/api/job/${id}/status`)).body).status).toBe("cancelled");
      expect(Object.keys(asRecord((await ada.get(`/api/history_v2/${id}`)).body))).toEqual([id]);
      expect(asRecords(asRecord((await ada.get(`/api/jobs/${id}/assets`)).body).assets)).toEqual([]);
      expect(await outputs(ada)).toEqual([]);
      expect(asRecord((await ada.post(`/api/jobs/${id}/cancel`)).body)).toEqual({ cancelled: false });

      // The slot takes the next job, and no bytes of the cancelled one remain.
      expect((await waitForEnd(ada, await submit(ada, canvas(77)))).status).toBe("completed");
      expect((await waitForEnd(bob, neighbour)).status).toBe("completed");
      await until("the files of the jobs are gone", () => ["tmp", "work"].flatMap(listFiles).every((entry) => entry.isDirectory()));
      expect(blobs()).toBe(before + 2);
      expect(await outputs(ada)).toHaveLength(1);
      expect(service.complaints).toEqual([]);
    });
  }

  it("shows the same end in every view, without assets if cancelled", async () => {
    service = await startService({ concurrency: 2 });
    const client = service.client();
    const before = blobs();
    let cancelled = 0;
    for (let color = 1; color <= 30; color += 1) {
      // With twelve files to store, the cancel may arrive after all nodes and before the commit.
      const batch = { ...canvas(color), "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 12, color } } };
      const id = await submit(client, batch);
      if (color % 3 > 0) {
        // A job that ends while it is read no longer has progress.
        const isLate = ({ status, progress }: Json) =>
          status !== "pending" && (status !== "in_progress" || (progress !== undefined && asRecord(progress).value === 1));
        await until("all nodes are done", async () => isLate(await readJob(client, id)), { everyMs: 0 });
      }
      const [first, second] = await Promise.all([
        client.post(`/api/jobs/${id}/cancel`),
        client.post("/api/jobs/cancel", { job_ids: [id] }),
      ]);
      const claims = [asRecord(first.body).cancelled === true, JSON.stringify(second.body).includes(id)];
      const job = await waitForEnd(client, id);
      // If a response reported a cancel, it was correct and the only one.
      expect(claims.filter(Boolean)).toHaveLength(job.status === "cancelled" ? 1 : 0);
      const assets = asRecords(asRecord((await client.get(`/api/jobs/${id}/assets`)).body).assets);
      expect(assets).toHaveLength(job.status === "completed" ? 12 : 0);
      expect(job.outputs_count).toBe(assets.length);
      const status = asString(asRecord((await client.get(`/api/job/${id}/status`)).body).status);
      const inList = asRecords(asRecord((await client.get("/api/jobs?limit=1")).body).jobs)[0];
      expect([status, inList?.id, inList?.status]).toEqual([job.status, id, job.status]);
      if (job.status === "cancelled") cancelled += 1;
    }
    expect(cancelled).toBeGreaterThan(0);
    // All pictures of a batch are equal: one blob per completed job, none for a cancelled one.
    await until("what a cancelled job had stored is dropped", () => blobs() === before + 30 - cancelled);
    await until("the files of the jobs are gone", () => ["tmp", "work"].flatMap(listFiles).every((entry) => entry.isDirectory()));
    expect(service.complaints).toEqual([]);
  });

  it("is never missed between waiting and running", async () => {
    service = await startService({ concurrency: 1 });
    const client = service.client();
    for (let turns = 0; turns < 40; turns += 1) {
      const id = await submit(client, waitGraph(60, turns + 1));
      // Each time, the slot has progressed a little further in taking the job.
      for (let turn = 0; turn < turns % 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(asRecord((await client.post(`/api/jobs/${id}/cancel`)).body)).toEqual({ cancelled: true });
      expect((await readJob(client, id)).status).toBe("cancelled");
    }
    expect((await waitForEnd(client, await submit(client, canvas(78)))).status).toBe("completed");
    expect(service.complaints).toEqual([]);
  });

  it("is found by a valid id alone", async () => {
    service = await startService({ concurrency: 1 });
    const client = service.client();
    const unknown = "1f3b7f7c-55a0-4f0a-8e53-7a2c0d9c4e22";
    for (const response of [
      await client.post(`/api/jobs/${unknown}/cancel`),
      await client.post("/api/jobs/no-uuid-at-all/cancel"),
      await client.post("/api/jobs/cancel", { job_ids: [unknown] }),
      await client.post("/api/interrupt", { prompt_id: unknown }),
      await client.get(`/api/jobs/${unknown}`),
      await client.get(`/api/job/${unknown}/status`),
      await client.get(`/api/jobs/${unknown}/assets`),
      await client.get(`/api/history_v2/${unknown}`),
    ])
      expect(response).toMatchObject({ status: 404, body: { code: "NOT_FOUND", message: expect.any(String) } });
    // Nothing runs, so the result is empty and not an error.
    expect(await client.post("/api/interrupt")).toMatchObject({ status: 200, text: "" });
    for (const body of [{}, { job_ids: [] }, { job_ids: "all" }, { job_ids: Array.from({ length: 101 }, () => unknown) }])
      expect(await client.post("/api/jobs/cancel", body)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("job_ids") },
      });
  });
});
