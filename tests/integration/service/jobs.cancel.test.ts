// Cancels running jobs promptly, inside any node, without leftovers or effects on other jobs.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createWaitGraph,
  type Json,
  readJob,
  submitGraph,
  waitForEnd,
  waitForStart,
} from "./support";

/** Outputs one image, then computes for a long time. */
const createHeavyGraph = (color: number): Json => ({
  "1": { class_type: "EmptyImage", inputs: { width: 2048, height: 2048, batch_size: 6, color } },
  "2": { class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size: 1, color } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "early" } },
  "4": { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 31, sigma: 10 } },
  "5": { class_type: "SaveImage", inputs: { images: ["4", 0], filename_prefix: "late" } },
});

describe("cancelling a running job", () => {
  let service: TestService;

  const listFiles = (folder: string) => readdirSync(join(service.folder, folder), { recursive: true, withFileTypes: true });
  const countBlobs = () => listFiles("blobs").filter((entry) => entry.isFile()).length;
  const listOutputs = async (client: Client) => asRecords(asRecord((await client.get("/api/assets?include_public=false")).body).assets);
  const waitForNode = (client: Client, id: string, node: string) =>
    until(`node ${node} is running`, async () => asRecord((await waitForStart(client, id)).progress).current_node === node);

  for (const [how, cancel] of [
    ["interrupt", (client: Client) => client.post("/api/interrupt")],
    ["interrupt of one job", (client: Client, id: string) => client.post("/api/interrupt", { prompt_id: id })],
    ["jobs.cancel", (client: Client, id: string) => client.post(`/api/jobs/${id}/cancel`)],
    ["jobs.cancel of a list", (client: Client, id: string) => client.post("/api/jobs/cancel", { job_ids: [id] })],
  ] as const) {
    it(`stops a job inside a pixel loop by ${how} and keeps others running`, async () => {
      service = await startService({ concurrency: 2, maxJobPixels: 1e9 });
      const [ada, bob] = [service.client("ada"), service.client("bob")];
      const initialBlobCount = countBlobs();
      const otherId = await submitGraph(bob, createWaitGraph(1));
      const id = await submitGraph(ada, createHeavyGraph(1));
      await waitForStart(bob, otherId);
      await waitForNode(ada, id, "4");

      expect((await cancel(ada, id)).status).toBe(200);
      // It is cancelled in every view as soon as the cancel returns.
      const job = await readJob(ada, id);
      expect(job).toMatchObject({ status: "cancelled", outputs: {}, outputs_count: 0 });
      expect(job).not.toHaveProperty("preview_output");
      expect(job).not.toHaveProperty("execution_error");
      expect(asRecord(job.execution_status)).toMatchObject({ status_str: "error", completed: false });
      const expectedNode = expect.objectContaining({ node_id: "4", node_type: asRecord(asRecord(createHeavyGraph(1))["4"]).class_type });
      expect(asRecord(job.execution_status).messages).toContainEqual(["execution_interrupted", expectedNode]);
      expect(asRecord((await ada.get(`/api/job/${id}/status`)).body).status).toBe("cancelled");
      expect(Object.keys(asRecord((await ada.get(`/api/history_v2/${id}`)).body))).toEqual([id]);
      expect(asRecords(asRecord((await ada.get(`/api/jobs/${id}/assets`)).body).assets)).toEqual([]);
      expect(await listOutputs(ada)).toEqual([]);
      expect(asRecord((await ada.post(`/api/jobs/${id}/cancel`)).body)).toEqual({ cancelled: false });

      // The slot runs the next job, and no bytes of the cancelled job remain.
      expect((await waitForEnd(ada, await submitGraph(ada, createColorGraph(77)))).status).toBe("completed");
      expect((await waitForEnd(bob, otherId)).status).toBe("completed");
      await until("the jobs' temporary files are deleted", () => ["tmp", "work"].flatMap(listFiles).every((entry) => entry.isDirectory()));
      expect(countBlobs()).toBe(initialBlobCount + 2);
      expect(await listOutputs(ada)).toHaveLength(1);
      expect(service.loggedErrors).toEqual([]);
    });
  }

  it("shows the same outcome in every view, without assets if cancelled", async () => {
    service = await startService({ concurrency: 2 });
    const client = service.client();
    const initialBlobCount = countBlobs();
    let cancelledCount = 0;
    for (let color = 1; color <= 30; color += 1) {
      // With twelve files to store, the cancel may arrive after all nodes and before the commit.
      const batch = {
        ...createColorGraph(color),
        "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 12, color } },
      };
      const id = await submitGraph(client, batch);
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
      const reportedCancels = [asRecord(first.body).cancelled === true, JSON.stringify(second.body).includes(id)];
      const job = await waitForEnd(client, id);
      // One response reports the cancel, and only if the job was cancelled.
      expect(reportedCancels.filter(Boolean)).toHaveLength(job.status === "cancelled" ? 1 : 0);
      const assets = asRecords(asRecord((await client.get(`/api/jobs/${id}/assets`)).body).assets);
      expect(assets).toHaveLength(job.status === "completed" ? 12 : 0);
      expect(job.outputs_count).toBe(assets.length);
      const status = asString(asRecord((await client.get(`/api/job/${id}/status`)).body).status);
      const listedJob = asRecords(asRecord((await client.get("/api/jobs?limit=1")).body).jobs)[0];
      expect([status, listedJob?.id, listedJob?.status]).toEqual([job.status, id, job.status]);
      if (job.status === "cancelled") cancelledCount += 1;
    }
    expect(cancelledCount).toBeGreaterThan(0);
    // All images of a batch are equal, so each completed job stores one blob.
    await until("the cancelled jobs' blobs are deleted", () => countBlobs() === initialBlobCount + 30 - cancelledCount);
    await until("the jobs' temporary files are deleted", () => ["tmp", "work"].flatMap(listFiles).every((entry) => entry.isDirectory()));
    expect(service.loggedErrors).toEqual([]);
  });

  it("is never missed between pending and running", async () => {
    service = await startService({ concurrency: 1 });
    const client = service.client();
    for (let round = 0; round < 40; round += 1) {
      const id = await submitGraph(client, createWaitGraph(60, round + 1));
      // In each round, the slot has progressed further in claiming the job.
      for (let tick = 0; tick < round % 10; tick += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(asRecord((await client.post(`/api/jobs/${id}/cancel`)).body)).toEqual({ cancelled: true });
      expect((await readJob(client, id)).status).toBe("cancelled");
    }
    expect((await waitForEnd(client, await submitGraph(client, createColorGraph(78)))).status).toBe("completed");
    expect(service.loggedErrors).toEqual([]);
  });

  it("returns 404 for unknown and invalid ids", async () => {
    service = await startService({ concurrency: 1 });
    const client = service.client();
    const unknownId = "1f3b7f7c-55a0-4f0a-8e53-7a2c0d9c4e22";
    for (const response of [
      await client.post(`/api/jobs/${unknownId}/cancel`),
      await client.post("/api/jobs/not-a-uuid/cancel"),
      await client.post("/api/jobs/cancel", { job_ids: [unknownId] }),
      await client.post("/api/interrupt", { prompt_id: unknownId }),
      await client.get(`/api/jobs/${unknownId}`),
      await client.get(`/api/job/${unknownId}/status`),
      await client.get(`/api/jobs/${unknownId}/assets`),
      await client.get(`/api/history_v2/${unknownId}`),
    ])
      expect(response).toMatchObject({ status: 404, body: { code: "NOT_FOUND", message: expect.any(String) } });
    // An interrupt without a running job succeeds.
    expect(await client.post("/api/interrupt")).toMatchObject({ status: 200, text: "" });
    for (const body of [{}, { job_ids: [] }, { job_ids: "all" }, { job_ids: Array.from({ length: 101 }, () => unknownId) }])
      expect(await client.post("/api/jobs/cancel", body)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("job_ids") },
      });
  });
});
