import { createServer } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { coreOperations, operations } from "@/lib/contract/operations";
import {
  asRecord,
  asRecords,
  asString,
  canvas,
  png,
  sample,
  submit,
  waitForEnd,
  waitForStart,
  waitGraph,
} from "../integration/service/support";
import { startService } from "../support/service";
import { until } from "../support/until";
import { answered, conforms } from "./conforms";
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
  promptAnswerFields,
  tagChangeFields,
  taskFields,
} from "./fields";

const everyAssetField = Object.keys(assetFields);

describe("core operations of the embedded service", async () => {
  const source = createServer((_, response) => response.end("fetched from afar")).listen(0, "127.0.0.1");
  await until("the source listens", () => source.listening);
  const address = source.address();
  const sourceUrl = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  const service = await startService({ downloadHosts: [sourceUrl] });
  const client = service.client();
  const finishedId = await submit(client, sample("03-composite-with-mask"));
  const failedId = await submit(client, sample("06-fails-half-way"));
  await Promise.all([waitForEnd(client, finishedId, 60_000), waitForEnd(client, failedId, 60_000)]);
  afterAll(async () => {
    await service.dispose();
    source.close();
    expect(service.complaints).toEqual([]);
  });

  it("POST /api/prompt", async () => {
    const response = await client.post("/api/prompt", { prompt: canvas(1), extra_data: {}, partial_execution_targets: ["2"] });
    expectFields(conforms(operations.submitPrompt, response), promptAnswerFields);
  });

  it("GET /api/jobs: terminal, failed and running items", async () => {
    const id = await submit(client, waitGraph(0.4));
    await waitForStart(client, id);
    const json = asRecord(conforms(operations.listJobs, await client.get("/api/jobs")));
    expectFields(json.pagination, paginationFields);
    const items = new Map(asRecords(json.jobs).map((job) => [asString(job.id), job]));
    for (const item of items.values()) expectFields(item, jobItemFields);
    const whole = ["preview_output", "outputs_count", "workflow_id", "execution_start_time", "execution_end_time"];
    expectFields(items.get(finishedId), jobItemFields, whole);
    expectFields(items.get(failedId), jobItemFields, [...whole, "execution_error"]);
    expectFields(items.get(failedId)?.execution_error, executionErrorFields);
    for (const late of whole.filter((name) => name !== "workflow_id")) expect(items.get(id)).not.toHaveProperty(late);
    await waitForEnd(client, id);
  });

  it("GET /api/jobs/{job_id}: everything in terminal states, nothing of it before", async () => {
    const jobDetail = conforms(operations.getJob, await client.get(`/api/jobs/${finishedId}`));
    expectFields(
      jobDetail,
      jobDetailFields,
      Object.keys(jobDetailFields).filter((name) => name !== "execution_error"),
    );
    expectFields(conforms(operations.getJob, await client.get(`/api/jobs/${failedId}`)), jobDetailFields, [
      "execution_error",
      "outputs",
      "execution_status",
    ]);
    const id = await submit(client, waitGraph(0.4, 2));
    const early = conforms(operations.getJob, await client.get(`/api/jobs/${id}`));
    expectFields(early, jobDetailFields, ["workflow", "workflow_id"]);
    for (const late of ["outputs", "preview_output", "outputs_count", "execution_status", "execution_meta"])
      expect(early).not.toHaveProperty(late);
    await waitForEnd(client, id);
  });

  it("GET /api/job/{job_id}/status", async () => {
    expectFields(conforms(operations.getJobStatus, await client.get(`/api/job/${finishedId}/status`)), jobStatusFields, [
      "last_state_update",
      "assigned_inference",
    ]);
    expectFields(conforms(operations.getJobStatus, await client.get(`/api/job/${failedId}/status`)), jobStatusFields, ["error_message"]);
  });

  it("POST /api/queue and POST /api/history", async () => {
    expectFields(conforms(operations.manageQueue, await client.post("/api/queue", { delete: [] })), {
      deleted: "texts",
      cleared: "boolean",
    });
    expectFields(conforms(operations.manageHistory, await client.post("/api/history", { delete: [] })), { code: "text", message: "text" });
  });

  it("GET /api/history_v2", async () => {
    const entries = asRecords(asRecord(conforms(operations.listHistory, await client.get("/api/history_v2?max_items=50"))).history);
    expect(entries.length).toBeGreaterThanOrEqual(2);
    for (const entry of entries) {
      expectFields(entry, historyFields, ["workflow_id"]);
      expectFields(entry.prompt, { priority: "number", prompt_id: "uuid", extra_data: "object" });
    }
  });

  it("assets: list, upload, read, from-hash, tags", async () => {
    const created = conforms(operations.uploadAsset, await client.upload(png(6, 6, { seed: 9 }), "c.png", { tags: '["input"]' }));
    expectFields(
      created,
      { ...assetFields, created_new: "boolean" },
      everyAssetField.filter((name) => name !== "prompt_id"),
    );
    const { id, asset_hash } = asRecord(created);
    const json = asRecord(conforms(operations.listAssets, await client.get("/api/assets?limit=500")));
    expectFields(json, { total: "integer", has_more: "boolean" });
    for (const asset of asRecords(json.assets)) {
      expectFields(asset, assetFields, ["asset_hash", "tags", "is_immutable", "last_access_time", "preview_url"]);
      expect(asset).not.toHaveProperty("created_new");
    }
    const output = asRecords(json.assets).find((asset) => asset.prompt_id === finishedId);
    expectFields(output, assetFields, everyAssetField);
    expectFields(conforms(operations.getAsset, await client.get(`/api/assets/${asString(id)}`)), assetFields);
    expectFields(
      conforms(operations.createAssetFromHash, await client.post("/api/assets/from-hash", { hash: asset_hash, tags: ["again"] })),
      {
        ...assetFields,
        created_new: "boolean",
      },
    );
    expectFields(
      conforms(operations.addTags, await client.post(`/api/assets/${asString(id)}/tags`, { tags: ["x", "again"] })),
      tagChangeFields,
    );
    expectFields(
      conforms(operations.removeTags, await client.call("DELETE", `/api/assets/${asString(id)}/tags`, { tags: ["x"] })),
      tagChangeFields,
    );
  });

  it("answers POST /api/assets/download with 202, or 200 when the asset exists", async () => {
    const body = { source_url: `${sourceUrl}/models/afar.txt`, tags: ["models"], user_metadata: { from: "afar" } };
    const startResponse = await client.post("/api/assets/download", body);
    expect(startResponse.status).toBe(202);
    const { task_id } = asRecord(conforms(operations.downloadAsset, startResponse));
    const task = await until("the task has ended", async () => {
      const now = asRecord(conforms(operations.getTask, await client.get(`/api/tasks/${asString(task_id)}`)));
      expectFields(now, taskFields);
      return now.completed_at !== undefined && now;
    });
    expect(task).toMatchObject({ status: "completed", progress: 1, bytes_downloaded: 17, result: { success: true, filename: "afar.txt" } });
    const secondResponse = await client.post("/api/assets/download", body);
    expect(secondResponse.status).toBe(200);
    expectFields(conforms(operations.downloadAsset, secondResponse), { ...assetFields, created_new: "boolean" });
    expect(
      conforms(operations.getRemoteMetadata, await client.get(`/api/assets/remote-metadata?url=${encodeURIComponent(body.source_url)}`)),
    ).toMatchObject({ filename: "afar.txt" });
  });

  it("uploads of images and masks", async () => {
    const image = asRecord(
      conforms(
        operations.uploadImage,
        await client.upload(png(20, 10, { seed: 4 }), "under.png", { type: "input" }, "image", "/api/upload/image"),
      ),
    );
    expectFields(image, { name: "text", subfolder: "text", type: "text" });
    const reference = JSON.stringify({ filename: image.name, subfolder: "", type: "input" });
    const mask = asRecord(
      conforms(
        operations.uploadMask,
        await client.upload(png(20, 10), "mask.png", { original_ref: reference }, "image", "/api/upload/mask"),
      ),
    );
    expectFields(mask, maskFields);
    expectFields(mask.metadata, maskMetadataFields);
    expectFields(asRecord(mask.metadata).related_files, { mask: "text", paint: "text", painted: "text" });
    const layers = asRecord(conforms(operations.getMaskLayers, await client.get(`/api/files/mask-layers?filename=${asString(mask.name)}`)));
    for (const name of [mask.name, ...Object.values(layers)])
      expect((await client.get(`/api/view?filename=${asString(name)}`)).status).toBe(200);
  });

  it("userdata and user", async () => {
    const writeResponse = await client.call("POST", "/api/userdata/workflows%2Fa.json?full_info=true", "{}");
    expectFields(conforms(operations.writeUserdata, writeResponse), { path: "text", size: "number", modified: "date-time" });
    const [file] = asRecords(conforms(operations.listUserdata, await client.get("/api/userdata?dir=workflows%2F")));
    expectFields(file, { path: "text", size: "number", modified: "number" });
    expect(asRecord(conforms(operations.getUser, await client.get("/api/user"))).status).toBe("active");
  });

  it("covers every core operation", () => {
    expect(coreOperations.map((operation) => operation.name).filter((name) => !answered.has(name))).toEqual([]);
  });
});
