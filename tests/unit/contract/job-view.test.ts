import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jobDetailSchema, jobListItemSchema, type JobStatus } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";

const created = 1767225600000;
const item = (fields: object) => jobListItemSchema.parse({ id: "6f0d", status: "completed", create_time: created, ...fields });
const status = (fields: Partial<JobStatus>): JobStatus => ({ id: "6f0d", status: "executing", ...fields });

describe("a job view", () => {
  it("has times in milliseconds, the wait in the queue and the run", () => {
    const view = toJobView(
      item({ create_time: 1767225600, execution_start_time: 1767225604120, execution_end_time: 1767225618250, outputs_count: 2 }),
    );
    expect(view).toEqual({
      id: "6f0d",
      state: "completed",
      word: "completed",
      terminal: true,
      createdAtMs: created,
      startedAtMs: 1767225604120,
      endedAtMs: 1767225618250,
      queueWaitMs: 4120,
      runMs: 14130,
      outputsCount: 2,
    });
  });

  it.each([
    ["execution_success", "completed"],
    ["execution_error", "failed"],
    ["execution_interrupted", "cancelled"],
  ])("reads start and end from the timeline when the fields are absent (%s)", (event, word) => {
    const messages = [
      ["execution_start", { timestamp: created + 100 }],
      ["execution_cached", { nodes: ["4"], timestamp: created + 150 }],
      [event, { timestamp: created + 900 }],
    ];
    const detail = jobDetailSchema.parse({ id: "6f0d", status: word, create_time: 1767225600, execution_status: { messages } });
    expect(toJobView(detail)).toMatchObject({ startedAtMs: created + 100, endedAtMs: created + 900, queueWaitMs: 100, runMs: 800 });
  });

  it("has no duration that was not reported, and none below zero", () => {
    expect(toJobView(item({}))).not.toHaveProperty("runMs");
    expect(toJobView(item({ execution_start_time: created - 300 })).queueWaitMs).toBe(0);
  });

  it("shows the status view's raw word and whether it is moving", () => {
    expect(toJobView(item({ status: "cancelled" }), status({ status: "cancel_requested" }))).toMatchObject({
      state: "cancelled",
      word: "cancel_requested",
      terminal: false,
    });
  });

  it("keeps its state next to an unknown word", () => {
    expect(toJobView(item({ status: "in_progress" }), status({ status: "warming_up" }))).toMatchObject({
      state: "in_progress",
      word: "warming_up",
    });
    expect(toJobView(item({ status: "warming_up" }))).toMatchObject({ state: "unknown", word: "warming_up", terminal: false });
  });

  it("reads creation time and slot from the status view", () => {
    const view = toJobView(item({ create_time: null }), status({ created_at: "2026-01-01T00:00:00Z", assigned_inference: "slot-1" }));
    expect(view).toMatchObject({ createdAtMs: created, assignedTo: "slot-1" });
  });

  it("derives the start from progress where reported", () => {
    const running = item({ status: "in_progress", execution_start_time: undefined, progress: { value: 0.1, start_time: 1767225604120 } });
    expect(toJobView(running)).toMatchObject({ startedAtMs: 1767225604120 });
    expect(toJobView(running)).not.toHaveProperty("runMs");
  });

  it("has progress between 0 and 1 while it runs, and none when it has ended", () => {
    const progress = { value: 1.7, nodes_done: 2, nodes_total: 5, current_node: 9, step: null };
    expect(toJobView(item({ status: "in_progress", progress })).progress).toEqual({
      value: 1,
      nodesDone: 2,
      nodesTotal: 5,
      currentNode: "9",
    });
    expect(toJobView(item({ progress })).progress).toBeUndefined();
    expect(toJobView(item({ status: "in_progress", progress: {} })).progress).toBeUndefined();
    expect(toJobView(item({ status: "in_progress", progress: 0.5 })).progress).toBeUndefined();
  });

  it("has a preview", () => {
    const preview_output = { filename: "3ac9.png", subfolder: "", type: "temp", nodeId: "9", mediaType: "images", display_name: "cat.png" };
    expect(toJobView(item({ preview_output })).preview).toMatchObject({ kind: "image", name: "cat.png", nodeId: "9", temporary: true });
    expect(toJobView(item({ preview_output: null }))).not.toHaveProperty("preview");
  });

  it("counts and previews the outputs that a running job has made so far", () => {
    const progress = { outputs: { "3": { images: [{ filename: "early.png" }, { filename: "next.png" }] } } };
    const listed = { preview_output: null, outputs_count: 0, progress };
    expect(toJobView(item({ status: "in_progress", ...listed }))).toMatchObject({ outputsCount: 2, preview: { name: "early.png" } });
    expect(toJobView(item({ status: "completed", ...listed }))).toMatchObject({ outputsCount: 0 });
    expect(toJobView(item({ status: "completed", ...listed }))).not.toHaveProperty("preview");
  });
});

describe("why a job failed", () => {
  const failed = (fields: object, reportedStatus?: Partial<JobStatus>) =>
    toJobView(
      jobDetailSchema.parse({ id: "6f0d", status: "failed", create_time: created, ...fields }),
      reportedStatus && status({ status: "error", ...reportedStatus }),
    ).error;
  const error = { node_id: "3", node_type: "KSampler", exception_type: "OOMError", exception_message: "no memory", traceback: ["line 1"] };
  const view = { nodeId: "3", nodeType: "KSampler", type: "OOMError", message: "no memory", traceback: ["line 1"] };

  it("is in the structured error, in the timeline, or in the status view as JSON", () => {
    expect(failed({ execution_error: error })).toEqual(view);
    expect(failed({ execution_status: { messages: [["execution_error", { ...error, executed: [] }]] } })).toEqual(view);
    expect(failed({}, { error_message: JSON.stringify(error) })).toEqual(view);
  });

  it("may be a plain text", () => {
    expect(failed({}, { error_message: "worker lost" })).toEqual({ type: "", message: "worker lost", traceback: [] });
  });

  it("has no node where the service itself failed", () => {
    const dispatch = { node_id: "", node_type: "", exception_type: "DispatcherError", exception_message: "no machine", traceback: [] };
    expect(failed({ execution_error: dispatch })).toEqual({ type: "DispatcherError", message: "no machine", traceback: [] });
  });

  it("is read as a refusal of nodes after late validation", () => {
    const body = {
      error: { type: "prompt_outputs_failed_validation", message: "bad" },
      node_errors: { "9": { errors: [{ type: "value_not_in_list" }] } },
    };
    const lateError = { exception_type: "ValidationError", exception_message: `400: ${JSON.stringify(body)}` };
    expect(failed({ execution_error: lateError })?.lateValidation?.nodeErrors?.["9"]?.errors[0]?.type).toBe("value_not_in_list");
    expect(failed({}, { error_message: `400: ${JSON.stringify(body)}` })?.lateValidation?.code).toBe("prompt_outputs_failed_validation");
    expect(failed({}, { error_message: JSON.stringify(body) })?.lateValidation?.message).toBe("bad");
  });

  it("is empty without any report", () => {
    expect(failed({ execution_error: {} }, { error_message: " " })).toBeUndefined();
    expect(toJobView(item({ execution_error: error }))).not.toHaveProperty("error");
  });
});

it("builds a view from any job a service sends", () => {
  const fields = fc.record({
    status: fc.string(),
    create_time: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string()),
    execution_error: fc.jsonValue(),
    preview_output: fc.jsonValue(),
    execution_status: fc.oneof(fc.jsonValue(), fc.record({ messages: fc.array(fc.tuple(fc.string(), fc.jsonValue())) })),
    progress: fc.jsonValue(),
  });
  fc.assert(
    fc.property(fields, fc.option(fc.string(), { nil: undefined }), (body, reportedStatus) => {
      const view = toJobView(
        jobDetailSchema.parse({ id: "a", ...body }),
        reportedStatus === undefined ? undefined : status({ status: reportedStatus, error_message: reportedStatus }),
      );
      expect(view.word).toBe(reportedStatus ?? body.status);
      expect(Object.values(view)).not.toContain(undefined);
    }),
  );
});

it("names the node in which a cancelled job was stopped", () => {
  const messages: [string, Record<string, unknown>][] = [["execution_interrupted", { node_id: "7", node_type: "KSampler" }]];
  const view = (status: string) => toJobView(jobDetailSchema.parse({ id: "a", status, execution_status: { messages } }));
  expect(view("cancelled").stoppedIn).toEqual({ nodeId: "7", nodeType: "KSampler" });
  expect(view("completed").stoppedIn).toBeUndefined();
});
