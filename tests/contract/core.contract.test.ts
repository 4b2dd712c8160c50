import { createServer } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { coreOperations, operations } from "@/lib/contract/operations";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createPng,
  createWaitGraph,
  loadSampleGraph,
  submitGraph,
  waitForEnd,
  waitForStart,
} from "../integration/service/support";
import { startService } from "../support/service";
import { until } from "../support/until";
import { coveredOperations, expectConforming } from "./expect-conforming";
import {
  assetFields,
  executionErrorFields,
  expectFields,
  historyFields,
  jobDetailFields,
  jobItemFields,
  jobStatusFields,
  maskFields,
  maskMetadataFields,
  paginationFields,
  promptResponseFields,
  tagChangeFields,
  taskFields,
} from "./fields";

const assetFieldNames = Object.keys(assetFields);

describe("core operations of the embedded service", async () => {
  const source = createServer((_, response) => response.end("fetched from afar")).listen(0, "127.0.0.1");
  await until("the source listens", () => source.listening);
  const address = source.address();
  const sourceUrl = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  const service = await startService({ downloadHosts: [sourceUrl] });
  const client = service.client();
  const finishedId = await submitGraph(client, loadSampleGraph("03-composite-with-mask"));
  const failedId = await submitGraph(client, loadSampleGraph("06-fails-half-way"));
  await Promise.all([waitForEnd(client, finishedId, 60_000), waitForEnd(client, failedId, 60_000)]);
  afterAll(async () => {
    await service.dispose();
    source.close();
    expect(service.loggedErrors).toEqual([]);
  });

  it("returns the documented fields of POST /api/prompt", async () => {
    const response = await client.post("/api/prompt", { prompt: createColorGraph(1), extra_data: {}, partial_execution_targets: ["2"] });
    expectFields(expectConforming(operations.submitPrompt, response), promptResponseFields);
  });

  it("returns the documented fields of completed, failed and running jobs", async () => {
    const id = await submitGraph(client, createWaitGraph(0.4));
    await waitForStart(client, id);
    const json = asRecord(expectConforming(operations.listJobs, await client.get("/api/jobs")));
    expectFields(json.pagination, paginationFields);
    const items = new Map(asRecords(json.jobs).map((job) => [asString(job.id), job]));
    for (const item of items.values()) expectFields(item, jobItemFields);
    const endedFields = ["preview_output", "outputs_count", "workflow_id", "execution_start_time", "execution_end_time"];
    expectFields(items.get(finishedId), jobItemFields, endedFields);
    expectFields(items.get(failedId), jobItemFields, [...endedFields, "execution_error"]);
    expectFields(items.get(failedId)?.execution_error, executionErrorFields);
    for (const endedField of endedFields.filter((name) => name !== "workflow_id")) expect(items.get(id)).not.toHaveProperty(endedField);
    await waitForEnd(client, id);
  });

  it("returns a job's outputs only after it has ended", async () => {
    const jobDetail = expectConforming(operations.getJob, await client.get(`/api/jobs/${finishedId}`));
    expectFields(
      jobDetail,
      jobDetailFields,
      Object.keys(jobDetailFields).filter((name) => name !== "execution_error"),
    );
    expectFields(expectConforming(operations.getJob, await client.get(`/api/jobs/${failedId}`)), jobDetailFields, [
      "execution_error",
      "outputs",
      "execution_status",
    ]);
    const id = await submitGraph(client, createWaitGraph(0.4, 2));
    const unfinishedJob = expectConforming(operations.getJob, await client.get(`/api/jobs/${id}`));
    expectFields(unfinishedJob, jobDetailFields, ["workflow", "workflow_id"]);
    for (const endedField of ["outputs", "preview_output", "outputs_count", "execution_status", "execution_meta"])
      expect(unfinishedJob).not.toHaveProperty(endedField);
    await waitForEnd(client, id);
  });

  it("returns the documented fields of GET /api/job/{job_id}/status", async () => {
    expectFields(expectConforming(operations.getJobStatus, await client.get(`/api/job/${finishedId}/status`)), jobStatusFields, [
      "last_state_update",
      "assigned_inference",
    ]);
    expectFields(expectConforming(operations.getJobStatus, await client.get(`/api/job/${failedId}/status`)), jobStatusFields, [
      "error_message",
    ]);
  });

  it("returns the documented fields of POST /api/queue and POST /api/history", async () => {
    expectFields(expectConforming(operations.manageQueue, await client.post("/api/queue", { delete: [] })), {
      deleted: "texts",
      cleared: "boolean",
    });
    expectFields(expectConforming(operations.manageHistory, await client.post("/api/history", { delete: [] })), {
      code: "text",
      message: "text",
    });
  });

  it("returns the documented fields of GET /api/history_v2", async () => {
    const entries = asRecords(asRecord(expectConforming(operations.listHistory, await client.get("/api/history_v2?max_items=50"))).history);
    expect(entries.length).toBeGreaterThanOrEqual(2);
    for (const entry of entries) {
      expectFields(entry, historyFields, ["workflow_id"]);
      expectFields(entry.prompt, { priority: "number", prompt_id: "uuid", extra_data: "object" });
    }
  });

  it("uploads, lists, reads, copies by hash and tags assets", async () => {
    const created = expectConforming(
      operations.uploadAsset,
      await client.upload(createPng(6, 6, { seed: 9 }), "c.png", { tags: '["input"]' }),
    );
    expectFields(
      created,
      { ...assetFields, created_new: "boolean" },
      assetFieldNames.filter((name) => name !== "prompt_id"),
    );
    const { id, asset_hash } = asRecord(created);
    const json = asRecord(expectConforming(operations.listAssets, await client.get("/api/assets?limit=500")));
    expectFields(json, { total: "integer", has_more: "boolean" });
    for (const asset of asRecords(json.assets)) {
      expectFields(asset, assetFields, ["asset_hash", "tags", "is_immutable", "last_access_time", "preview_url"]);
      expect(asset).not.toHaveProperty("created_new");
    }
    const output = asRecords(json.assets).find((asset) => asset.prompt_id === finishedId);
    expectFields(output, assetFields, assetFieldNames);
    expectFields(expectConforming(operations.getAsset, await client.get(`/api/assets/${asString(id)}`)), assetFields);
    expectFields(
      expectConforming(operations.createAssetFromHash, await client.post("/api/assets/from-hash", { hash: asset_hash, tags: ["again"] })),
      {
        ...assetFields,
        created_new: "boolean",
      },
    );
    expectFields(
      expectConforming(operations.addTags, await client.post(`/api/assets/${asString(id)}/tags`, { tags: ["x", "again"] })),
      tagChangeFields,
    );
    expectFields(
      expectConforming(operations.removeTags, await client.call("DELETE", `/api/assets/${asString(id)}/tags`, { tags: ["x"] })),
      tagChangeFields,
    );
  });

  it("returns 202 for POST /api/assets/download, or 200 when the asset exists", async () => {
    const body = { source_url: `${sourceUrl}/models/afar.txt`, tags: ["models"], user_metadata: { from: "afar" } };
    const startResponse = await client.post("/api/assets/download", body);
    expect(startResponse.status).toBe(202);
    const { task_id } = asRecord(expectConforming(operations.downloadAsset, startResponse));
    const task = await until("the task has ended", async () => {
      const currentTask = asRecord(expectConforming(operations.getTask, await client.get(`/api/tasks/${asString(task_id)}`)));
      expectFields(currentTask, taskFields);
      return currentTask.completed_at !== undefined && currentTask;
    });
    expect(task).toMatchObject({ status: "completed", progress: 1, bytes_downloaded: 17, result: { success: true, filename: "afar.txt" } });
    const secondResponse = await client.post("/api/assets/download", body);
    expect(secondResponse.status).toBe(200);
    expectFields(expectConforming(operations.downloadAsset, secondResponse), { ...assetFields, created_new: "boolean" });
    expect(
      expectConforming(
        operations.getRemoteMetadata,
        await client.get(`/api/assets/remote-metadata?url=${encodeURIComponent(body.source_url)}`),
      ),
    ).toMatchObject({ filename: "afar.txt" });
  });

  it("uploads an image and a mask and lists the mask's layers", async () => {
    const image = asRecord(
      expectConforming(
        operations.uploadImage,
        await client.upload(createPng(20, 10, { seed: 4 }), "under.png", { type: "input" }, "image", "/api/upload/image"),
      ),
    );
    expectFields(image, { name: "text", subfolder: "text", type: "text" });
    const reference = JSON.stringify({ filename: image.name, subfolder: "", type: "input" });
    const mask = asRecord(
      expectConforming(
        operations.uploadMask,
        await client.upload(createPng(20, 10), "mask.png", { original_ref: reference }, "image", "/api/upload/mask"),
      ),
    );
    expectFields(mask, maskFields);
    expectFields(mask.metadata, maskMetadataFields);
    expectFields(asRecord(mask.metadata).related_files, { mask: "text", paint: "text", painted: "text" });
    const layers = asRecord(
      expectConforming(operations.getMaskLayers, await client.get(`/api/files/mask-layers?filename=${asString(mask.name)}`)),
    );
    for (const name of [mask.name, ...Object.values(layers)])
      expect((await client.get(`/api/view?filename=${asString(name)}`)).status).toBe(200);
  });

  it("writes and lists user data and returns the user", async () => {
    const writeResponse = await client.call("POST", "/api/userdata/workflows%2Fa.json?full_info=true", "{}");
    expectFields(expectConforming(operations.writeUserdata, writeResponse), { path: "text", size: "number", modified: "date-time" });
    const [file] = asRecords(expectConforming(operations.listUserdata, await client.get("/api/userdata?dir=workflows%2F")));
    expectFields(file, { path: "text", size: "number", modified: "number" });
    expect(asRecord(expectConforming(operations.getUser, await client.get("/api/user"))).status).toBe("active");
  });

  it("covers every core operation", () => {
    expect(coreOperations.map((operation) => operation.name).filter((name) => !coveredOperations.has(name))).toEqual([]);
  });
});
