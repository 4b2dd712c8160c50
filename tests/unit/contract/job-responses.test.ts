import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  historyResponseSchema,
  jobDetailSchema,
  jobsResponseSchema,
  jobStatusSchema,
  manageBodySchema,
  promptBodySchema,
  promptResponseSchema,
  queueListSchema,
  queueResponseSchema,
} from "@/lib/contract/schemas/job";

const file = { filename: "3ac9e1.png", subfolder: "", type: "output" };
const detail = {
  id: "6f0d4f7e-13b2-4a1f-9d5c-0c4f1f8a7a01",
  status: "completed",
  create_time: 1767225600,
  update_time: 1767225619,
  workflow: { prompt: { "9": { class_type: "SaveImage", inputs: { images: ["8", 0] } } }, extra_data: { client_id: "a1" } },
  outputs: { "9": { images: [file] } },
  outputs_count: 1,
  preview_output: { ...file, nodeId: "9", mediaType: "images" },
  execution_status: { status_str: "success", completed: true, messages: [["execution_start", { timestamp: 1767225604120 }]] },
  execution_meta: { "9": { node_id: "9", display_node: "9", parent_node: null, real_node_id: "9" } },
};

describe("a list of jobs", () => {
  const parseJob = (job: object) =>
    jobsResponseSchema.parse({ jobs: [job], pagination: { offset: 0, limit: 100, total: 1, has_more: false } }).jobs[0];

  it("keeps unknown fields and unknown statuses unchanged", () => {
    const job = { id: "a", status: "teleporting", create_time: 1, priority: 7, queue_reason: "capacity" };
    expect(parseJob(job)).toEqual(job);
  });

  it("reads null as absent in every optional field", () => {
    const times = { create_time: null, execution_start_time: null, execution_end_time: null };
    const content = { execution_error: null, preview_output: null, outputs_count: null, workflow_id: null, progress: null };
    const job = parseJob({ id: "a", status: "pending", ...times, ...content });
    expect(JSON.parse(JSON.stringify(job))).toEqual({ id: "a", status: "pending" });
  });

  it("reads a local server's pagination without a limit", () => {
    const response = jobsResponseSchema.parse({
      jobs: [],
      pagination: { offset: null, limit: null, total: 0, has_more: false, next_cursor: "x" },
    });
    expect(response.pagination).toMatchObject({ offset: 0, total: 0, has_more: false, next_cursor: "x" });
  });

  it.each([[{ status: "pending" }], [{ id: "a" }], [{ id: 7, status: "pending" }], ["text"]])("omits the invalid job %j", (job) => {
    expect(jobsResponseSchema.parse({ jobs: [job], pagination: {} }).jobs).toEqual([]);
  });

  it.each(["<html>", [], {}, { jobs: [] }, { jobs: {}, pagination: {} }])("rejects the invalid list %j", (body) => {
    expect(jobsResponseSchema.safeParse(body).success).toBe(false);
  });
});

describe("a job's details", () => {
  it("keeps every field", () => {
    expect(JSON.parse(JSON.stringify(jobDetailSchema.parse(detail)))).toEqual(detail);
  });

  it("accepts any value in a free-form field", () => {
    const names = ["workflow", "outputs", "execution_status", "execution_meta", "execution_error", "preview_output", "progress"];
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
        expect(jobDetailSchema.parse({ ...detail, [name]: value }).id).toBe(detail.id);
      }),
    );
  });

  it("reads an execution error in the cloud's and a local server's format", () => {
    const error = { node_type: "KSampler", exception_type: "OOMError", exception_message: "no memory", traceback: [] };
    const cloud = { ...error, node_id: "3", current_inputs: {}, current_outputs: {} };
    const local = { ...error, node_id: 3, current_inputs: { seed: [1] }, current_outputs: ["4"], executed: ["4"], timestamp: 1 };
    expect(jobDetailSchema.parse({ ...detail, execution_error: cloud }).execution_error).toEqual(cloud);
    expect(jobDetailSchema.parse({ ...detail, execution_error: local }).execution_error).toEqual({ ...local, node_id: "3" });
  });

  it("keeps the readable messages of a partly unreadable timeline", () => {
    const messages = [["execution_start", { timestamp: 1 }], "noise", ["execution_success", { timestamp: 2 }]];
    expect(jobDetailSchema.parse({ ...detail, execution_status: { messages } }).execution_status?.messages).toHaveLength(2);
  });
});

it("reads a job's status with a raw word and null fields", () => {
  const status = { id: "a", status: "executing", created_at: "2026-01-01T00:00:00Z", assigned_inference: null, error_message: null };
  expect(jobStatusSchema.parse(status)).toMatchObject({ id: "a", status: "executing" });
});

describe("a submission", () => {
  it.each([[{}], [{ prompt: [] }], [{ prompt: "x" }], [{ prompt: {}, extra_data: 1 }], [{ prompt: {}, partial_execution_targets: "9" }]])(
    "rejects %j",
    (body) => {
      expect(promptBodySchema.safeParse(body).success).toBe(false);
    },
  );

  it("reads the job's id with any node errors", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (node_errors) => {
        expect(promptResponseSchema.parse({ prompt_id: "p", number: 1, node_errors }).prompt_id).toBe("p");
      }),
    );
    expect(promptResponseSchema.parse({ prompt_id: "p" }).node_errors).toEqual({});
  });
});

describe("queue and history", () => {
  it("rejects unknown properties", () => {
    expect(manageBodySchema.safeParse({ delete: ["a"], purge: true }).success).toBe(false);
    expect(manageBodySchema.parse({ clear: true, delete: null })).toEqual({ clear: true });
  });

  it("reads an empty response as not cleared", () => {
    expect(queueResponseSchema.parse({})).toEqual({ cleared: false });
    expect(queueResponseSchema.parse({ deleted: [], cleared: null })).toEqual({ deleted: [], cleared: false });
  });

  it("reads queue entries of cloud and local servers", () => {
    const cloud = [1, "8a5f", { "3": { class_type: "KSampler", inputs: {} } }, ["9"], { create_time: 1767225600000 }];
    const local = [-3.5, "8a5f", {}, { client_id: "c" }, ["9"]];
    expect(queueListSchema.parse({ queue_running: [cloud], queue_pending: [local] })).toEqual({
      queue_running: [cloud],
      queue_pending: [local],
    });
  });

  it("reads a history entry in the format of a job's details", () => {
    const entry = {
      prompt_id: "6f0d",
      create_time: 1767225600000,
      prompt: { priority: 12, prompt_id: "6f0d", extra_data: {} },
      outputs: detail.outputs,
      status: detail.execution_status,
      meta: {},
    };
    expect(historyResponseSchema.parse({ history: [entry, { prompt_id: "x", outputs: null, meta: [] }] }).history[0]).toEqual(entry);
  });
});
