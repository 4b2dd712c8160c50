// Cancels running jobs promptly, inside any node, without leftovers or effects on other jobs.
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import {
  asRecord,
  asRecords,
  countFiles,
  createColorGraph,
  createWaitGraph,
  getRecord,
  type Json,
  listAssets,
  listJobs,
  readJob,
  runGraph,
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

describe("cancelling a running job", async () => {
  const service = await startService({ concurrency: 2, maxJobPixels: 1e9 });
  afterEach(() => {
    expect(service.loggedErrors).toEqual([]);
  });

  const countBlobs = () => countFiles(join(service.folder, "blobs"));
  const waitForCleanup = () =>
    until("the jobs' temporary files are deleted", async () => {
      const counts = await Promise.all(["tmp", "work"].map((folder) => countFiles(join(service.folder, folder))));
      return counts.every((count) => count === 0);
    });

  it("stops a job inside a pixel loop and keeps others running", async () => {
    const [ada, bob] = [service.client("ada"), service.client("bob")];
    const initialBlobCount = await countBlobs();
    const otherId = await submitGraph(bob, createWaitGraph(1));
    const id = await submitGraph(ada, createHeavyGraph(1));
    await waitForStart(bob, otherId);
    await until("node 4 is running", async () => asRecord((await waitForStart(ada, id)).progress).current_node === "4");

    expect((await ada.post("/api/interrupt")).status).toBe(200);
    // It is cancelled in every view as soon as the cancel returns.
    const job = await readJob(ada, id);
    expect(job).toMatchObject({ status: "cancelled", outputs: {}, outputs_count: 0 });
    expect(job).not.toHaveProperty("preview_output");
    expect(job).not.toHaveProperty("execution_error");
    expect(job.execution_status).toMatchObject({ status_str: "error", completed: false });
    const expectedNode = expect.objectContaining({ node_id: "4", node_type: "ImageBlur" });
    expect(asRecord(job.execution_status).messages).toContainEqual(["execution_interrupted", expectedNode]);
    expect(await getRecord(ada, `/api/job/${id}/status`)).toMatchObject({ status: "cancelled" });
    expect(Object.keys(await getRecord(ada, `/api/history_v2/${id}`))).toEqual([id]);
    expect(await getRecord(ada, `/api/jobs/${id}/assets`)).toMatchObject({ assets: [] });
    expect(await listAssets(ada)).toEqual([]);
    expect((await ada.post(`/api/jobs/${id}/cancel`)).body).toEqual({ cancelled: false });

    // The slot runs the next job, and no bytes of the cancelled job remain.
    expect((await runGraph(ada, createColorGraph(77))).status).toBe("completed");
    expect((await waitForEnd(bob, otherId)).status).toBe("completed");
    await waitForCleanup();
    expect(await countBlobs()).toBe(initialBlobCount + 2);
    expect(await listAssets(ada)).toHaveLength(1);
  });

  it("shows the same outcome in every view, without assets if cancelled", async () => {
    const client = service.client();
    const initialBlobCount = await countBlobs();
    const jobCount = 15;
    let cancelledCount = 0;
    for (let color = 1; color <= jobCount; color += 1) {
      // With twelve files to store, the cancel may arrive after all nodes and before the commit.
      const batch = { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 12, color } };
      const id = await submitGraph(client, { ...createColorGraph(color), "1": batch });
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
      const assets = asRecords((await getRecord(client, `/api/jobs/${id}/assets`)).assets);
      expect(assets).toHaveLength(job.status === "completed" ? 12 : 0);
      expect(job.outputs_count).toBe(assets.length);
      const { status } = await getRecord(client, `/api/job/${id}/status`);
      const [listedJob] = await listJobs(client, "limit=1");
      expect([status, listedJob?.id, listedJob?.status]).toEqual([job.status, id, job.status]);
      if (job.status === "cancelled") cancelledCount += 1;
    }
    expect(cancelledCount).toBeGreaterThan(0);
    // All images of a batch are equal, so each completed job stores one blob.
    const expectedBlobCount = initialBlobCount + jobCount - cancelledCount;
    await until("the cancelled jobs' blobs are deleted", async () => (await countBlobs()) === expectedBlobCount);
    await waitForCleanup();
  });

  it("is never missed between pending and running", async () => {
    const client = service.client("cy");
    for (let round = 0; round < 20; round += 1) {
      const id = await submitGraph(client, createWaitGraph(60, round + 1));
      // In each round, the slot has progressed further in claiming the job.
      for (let tick = 0; tick < round % 10; tick += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(asRecord((await client.post(`/api/jobs/${id}/cancel`)).body)).toEqual({ cancelled: true });
      expect((await readJob(client, id)).status).toBe("cancelled");
    }
    expect((await runGraph(client, createColorGraph(78))).status).toBe("completed");
  });

  it("returns 404 for unknown and invalid ids", async () => {
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
