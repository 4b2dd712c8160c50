// Checks a job's fields in every view, and secrets that must never appear.
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createWaitGraph,
  fetchBytes,
  getRecord,
  type Json,
  listJobs,
  loadSampleGraph,
  readJob,
  runGraph,
  submitGraph,
  waitForEnd,
  waitForStart,
} from "./support";

describe("the views of a job", async () => {
  const service = await startService({ concurrency: 1 });
  const client = service.client();

  const findInList = async (id: string) => (await listJobs(client)).find((job) => job.id === id) ?? {};
  const getStatus = (id: string) => getRecord(client, `/api/job/${id}/status`);
  const findInHistory = async (id: string) =>
    asRecords((await getRecord(client, "/api/history_v2?max_items=1000")).history).find((entry) => entry.prompt_id === id) ?? {};

  it("contain every field of a completed job in its unit", async () => {
    const workflow = { id: "1f3b7f7c-55a0-4f0a-8e53-7a2c0d9c4e22", nodes: [] };
    const id = await submitGraph(client, createColorGraph(21), { extra_data: { client_id: "c", extra_pnginfo: { workflow } } });
    const job = await waitForEnd(client, id);
    const item = await findInList(id);
    expect(item).toMatchObject({
      id,
      status: "completed",
      workflow_id: workflow.id,
      outputs_count: 1,
      preview_output: { nodeId: "2", mediaType: "images", type: "output", subfolder: "", display_name: "plain_00001_.png" },
    });
    for (const field of ["workflow", "outputs", "execution_error", "progress"]) expect(item).not.toHaveProperty(field);
    const [createdMs, startedMs, endedMs] = [item.create_time, item.execution_start_time, item.execution_end_time].map(Number);
    expect(createdMs).toBeGreaterThan(1e12);
    expect(startedMs).toBeGreaterThanOrEqual(createdMs ?? Infinity);
    expect(endedMs).toBeGreaterThanOrEqual(startedMs ?? Infinity);

    expect(job).toMatchObject({ id, status: "completed", workflow_id: workflow.id, outputs_count: 1, preview_output: item.preview_output });
    expect(job.workflow).toEqual({ prompt: createColorGraph(21), extra_data: { client_id: "c", extra_pnginfo: { workflow } } });
    expect(job.create_time).toBe(Math.floor(Number(createdMs) / 1000));
    expect(Number.isInteger(job.update_time)).toBe(true);
    expect(job.update_time).toBeLessThan(1e11);
    const [output] = asRecords(asRecord(asRecord(job.outputs)["2"]).images);
    expect(output).toEqual({
      filename: expect.stringMatching(/^[0-9a-f]{64}\.png$/),
      subfolder: "",
      type: "output",
      display_name: "plain_00001_.png",
    });
    expect(job.execution_status).toEqual({
      status_str: "success",
      completed: true,
      messages: [
        ["execution_start", { prompt_id: id, timestamp: startedMs }],
        ["execution_cached", { nodes: [], prompt_id: id, timestamp: expect.any(Number) }],
        ["execution_success", { prompt_id: id, timestamp: endedMs }],
      ],
    });

    const entry = await findInHistory(id);
    expect(entry).toEqual({
      prompt_id: id,
      create_time: createdMs,
      workflow_id: workflow.id,
      prompt: { priority: expect.any(Number), prompt_id: id, extra_data: { client_id: "c", extra_pnginfo: {} } },
      outputs: job.outputs,
      status: job.execution_status,
      meta: job.execution_meta,
    });
    expect((await getRecord(client, `/api/history_v2/${id}`))[id]).toEqual({
      prompt: {
        priority: asRecord(entry.prompt).priority,
        prompt_id: id,
        prompt: createColorGraph(21),
        extra_data: { client_id: "c", extra_pnginfo: { workflow } },
        outputs_to_execute: ["2"],
      },
      outputs: job.outputs,
      status: job.execution_status,
      meta: job.execution_meta,
    });
    expect(await getStatus(id)).toEqual({
      id,
      status: "completed",
      created_at: new Date(Number(createdMs)).toISOString(),
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      last_state_update: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      assigned_inference: "slot-1",
    });

    const page = await getRecord(client, `/api/jobs/${id}/assets?limit=1`);
    expect(page).toMatchObject({ job_id: id, pagination: { offset: 0, limit: 1, total: 1, has_more: false } });
    const [asset] = asRecords(page.assets);
    expect(asset).toMatchObject({
      id: expect.any(String),
      name: "plain_00001_.png",
      created_at: expect.any(String),
      hash: expect.stringMatching(/^blake3:[0-9a-f]{64}$/),
      mime_type: "image/png",
      size: expect.any(Number),
      preview_url: expect.stringMatching(/^http/),
      node_id: "2",
      output_key: "images",
      output_index: 0,
      prompt_id: id,
      tags: ["output"],
    });
  });

  it("contain a failed job's error, earlier outputs and state", async () => {
    const id = await submitGraph(client, loadSampleGraph("06-fails-half-way"));
    const job = await waitForEnd(client, id);
    const error = asRecord(job.execution_error);
    expect(Object.keys(error).sort()).toEqual([
      "current_inputs",
      "current_outputs",
      "exception_message",
      "exception_type",
      "node_id",
      "node_type",
      "traceback",
    ]);
    const item = await findInList(id);
    expect([item.status, item.execution_error]).toEqual(["failed", error]);
    expect(await getStatus(id)).toMatchObject({ status: "error", error_message: error.exception_message });
    const { messages, ...summary } = asRecord(job.execution_status);
    expect(summary).toEqual({ status_str: "error", completed: false });
    const lastMessage: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
    expect(lastMessage).toEqual([
      "execution_error",
      { prompt_id: id, ...error, executed: expect.any(Array), timestamp: expect.any(Number) },
    ]);
    expect((await findInHistory(id)).status).toEqual(job.execution_status);
    expect(asRecords((await getRecord(client, `/api/jobs/${id}/assets`)).assets)).toHaveLength(Number(job.outputs_count));
  });

  it("omit end fields while a job is pending or running", async () => {
    const runningId = await submitGraph(client, createWaitGraph(3600));
    await waitForStart(client, runningId);
    const queuedId = await submitGraph(client, createColorGraph(22));
    for (const [id, status, slot] of [
      [runningId, "in_progress", "slot-1"],
      [queuedId, "pending", undefined],
    ] as const) {
      for (const view of [await findInList(id), await readJob(client, id)]) {
        expect(view).toMatchObject({ id, status });
        for (const field of ["outputs", "outputs_count", "preview_output", "execution_status", "execution_meta", "execution_error"])
          expect(view).not.toHaveProperty(field);
        for (const field of ["execution_start_time", "execution_end_time"]) expect(view).not.toHaveProperty(field);
      }
      expect(await getStatus(id)).toMatchObject({ status });
      expect((await getStatus(id)).assigned_inference).toBe(slot);
      expect(await getStatus(id)).not.toHaveProperty("error_message");
      expect((await client.get(`/api/history_v2/${id}`)).status).toBe(404);
      expect(await findInHistory(id)).toEqual({});
    }
    const removal = await client.post("/api/history", { delete: [runningId, queuedId, "unknown", "1f3b7f7c-55a0-4f0a-8e53-7a2c0d9c4e22"] });
    expect(removal).toMatchObject({ status: 200, body: { code: "OK", message: "0 removed from the history." } });
    expect([(await readJob(client, runningId)).status, (await readJob(client, queuedId)).status]).toEqual(["in_progress", "pending"]);
    await client.post("/api/interrupt");
    await waitForEnd(client, queuedId);
  });

  it("never contain a partner key in fields, values, files or errors", async () => {
    const secret = 'comfyui-"0123456789abcdef';
    const nested = { list: [{ api_key_comfy_org: secret, note: `uses ${secret}` }], api_key_comfy_org: secret };
    const prompt: Json = {
      ...createColorGraph(23),
      "3": { class_type: "Wait", inputs: { seconds: 0.3, anything: ["1", 0], api_key_comfy_org: secret } },
      "4": { class_type: "Fail", inputs: { message: `refused: ${secret}`, anything: ["3", 0] } },
      "5": { class_type: "PreviewAny", inputs: { source: ["4", 0] }, _meta: { title: secret } },
    };
    const extra_data = {
      api_key_comfy_org: secret,
      nested,
      extra_pnginfo: { workflow: { nodes: [nested], extra: nested }, other: nested },
    };
    const id = await submitGraph(client, prompt, { extra_data });
    const views = ["/api/queue", "/api/jobs", `/api/jobs/${id}`, `/api/job/${id}/status`, "/api/history_v2?max_items=50"];
    const expectNoSecret = async (paths: string[]) => {
      for (const path of paths) expect((await client.get(path)).text).not.toMatch(/0123456789abcdef|api_key_comfy_org/);
    };
    await expectNoSecret(views);
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({ status: "failed", execution_error: { node_id: "4", exception_message: "refused: [REDACTED]" } });
    await expectNoSecret([...views, `/api/history_v2/${id}`, `/api/jobs/${id}/assets`, "/api/assets"]);
    const file = await fetchBytes(client, `/api/view?filename=${asString(asRecord(job.preview_output).filename)}`);
    expect(file.toString("latin1")).toContain("workflow");
    expect(file.toString("latin1")).not.toMatch(/0123456789abcdef|api_key_comfy_org/);
    expect(service.loggedErrors).toEqual([]);
  });

  it("contain only the nodes that partial_execution_targets need", async () => {
    const prompt = { ...createColorGraph(24), "3": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "other" } } };
    const job = await runGraph(client, prompt, { partial_execution_targets: ["3"] });
    expect(Object.keys(asRecord(job.outputs))).toEqual(["3"]);
    expect(Object.keys(asRecord(job.execution_meta))).toEqual(["1", "3"]);
    const id = asString(job.id);
    expect((await getRecord(client, `/api/history_v2/${id}`))[id]).toMatchObject({ prompt: { outputs_to_execute: ["3"] } });
    expect(asRecord(asRecord(job.workflow).prompt)).toEqual(prompt);
    // A graph doesn't run if none of its targets is an output, or if the list of targets is empty.
    for (const partial_execution_targets of [["99"], ["1"], []])
      expect(await client.post("/api/prompt", { prompt, partial_execution_targets })).toMatchObject({
        status: 400,
        body: { error: { type: "prompt_no_outputs", message: "Prompt has no outputs", details: "", extra_info: {} }, node_errors: {} },
      });
    const partialJob = await runGraph(client, prompt, { partial_execution_targets: ["2", "99"] });
    expect(Object.keys(asRecord(partialJob.outputs))).toEqual(["2"]);
  });

  it("are readable to a waitlisted user who can't submit", async () => {
    const waitlisted = service.client("wanda");
    const id = asString((await runGraph(waitlisted, createColorGraph(25))).id);
    await service.service.keys.setUserStatus("wanda", "waitlisted");
    expect(await waitlisted.post("/api/prompt", { prompt: createColorGraph(26) })).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN", message: expect.stringContaining("waiting list") },
    });
    for (const path of [`/api/jobs/${id}`, "/api/jobs", `/api/history_v2/${id}`, "/api/queue", "/api/prompt", `/api/jobs/${id}/assets`])
      expect((await waitlisted.get(path)).status).toBe(200);
    expect((await waitlisted.get("/api/user")).body).toMatchObject({ status: "waitlisted" });
  });
});
