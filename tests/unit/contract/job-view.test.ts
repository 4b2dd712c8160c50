import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jobDetailSchema, jobListItemSchema, type JobStatus } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";

const createdAtMs = 1767225600000;
const parseItem = (fields: object) => jobListItemSchema.parse({ id: "6f0d", status: "completed", create_time: createdAtMs, ...fields });
const createStatus = (fields: Partial<JobStatus>): JobStatus => ({ id: "6f0d", status: "executing", ...fields });

describe("a job view", () => {
  it("returns times in milliseconds, the queue wait and the run time", () => {
    const view = toJobView(
      parseItem({ create_time: 1767225600, execution_start_time: 1767225604120, execution_end_time: 1767225618250, outputs_count: 2 }),
    );
    expect(view).toEqual({
      id: "6f0d",
      state: "completed",
      rawStatus: "completed",
      terminal: true,
      createdAtMs,
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
      ["execution_start", { timestamp: createdAtMs + 100 }],
      ["execution_cached", { nodes: ["4"], timestamp: createdAtMs + 150 }],
      [event, { timestamp: createdAtMs + 900 }],
    ];
    const detail = jobDetailSchema.parse({ id: "6f0d", status: word, create_time: 1767225600, execution_status: { messages } });
    expect(toJobView(detail)).toMatchObject({ startedAtMs: createdAtMs + 100, endedAtMs: createdAtMs + 900, queueWaitMs: 100, runMs: 800 });
  });

  it("omits unreported durations and returns no negative ones", () => {
    expect(toJobView(parseItem({}))).not.toHaveProperty("runMs");
    expect(toJobView(parseItem({ execution_start_time: createdAtMs - 300 })).queueWaitMs).toBe(0);
  });

  it("returns the status view's raw status and whether it is terminal", () => {
    expect(toJobView(parseItem({ status: "cancelled" }), createStatus({ status: "cancel_requested" }))).toMatchObject({
      state: "cancelled",
      rawStatus: "cancel_requested",
      terminal: false,
    });
  });

  it("keeps the job's state when the status view's status is unknown", () => {
    expect(toJobView(parseItem({ status: "in_progress" }), createStatus({ status: "warming_up" }))).toMatchObject({
      state: "in_progress",
      rawStatus: "warming_up",
    });
    expect(toJobView(parseItem({ status: "warming_up" }))).toMatchObject({ state: "unknown", rawStatus: "warming_up", terminal: false });
  });

  it("reads creation time and slot from the status view", () => {
    const status = createStatus({ created_at: "2026-01-01T00:00:00Z", assigned_inference: "slot-1" });
    expect(toJobView(parseItem({ create_time: null }), status)).toMatchObject({ createdAtMs, assignedTo: "slot-1" });
  });

  it("reads the start time from progress when reported", () => {
    const view = toJobView(parseItem({ status: "in_progress", progress: { value: 0.1, start_time: 1767225604120 } }));
    expect(view).toMatchObject({ startedAtMs: 1767225604120 });
    expect(view).not.toHaveProperty("runMs");
  });

  it("returns progress from 0 to 1 while running and none after the end", () => {
    const progress = { value: 1.7, nodes_done: 2, nodes_total: 5, current_node: 9, step: null };
    const view = { value: 1, nodesDone: 2, nodesTotal: 5, currentNode: "9" };
    expect(toJobView(parseItem({ status: "in_progress", progress })).progress).toEqual(view);
    expect(toJobView(parseItem({ progress })).progress).toBeUndefined();
    expect(toJobView(parseItem({ status: "in_progress", progress: {} })).progress).toBeUndefined();
    expect(toJobView(parseItem({ status: "in_progress", progress: 0.5 })).progress).toBeUndefined();
  });

  it("returns a preview when the job has one", () => {
    const preview_output = { filename: "3ac9.png", subfolder: "", type: "temp", nodeId: "9", mediaType: "images", display_name: "cat.png" };
    const preview = { kind: "image", name: "cat.png", nodeId: "9", temporary: true };
    expect(toJobView(parseItem({ preview_output })).preview).toMatchObject(preview);
    expect(toJobView(parseItem({ preview_output: null }))).not.toHaveProperty("preview");
  });

  it("counts and previews a running job's outputs so far", () => {
    const progress = { outputs: { "3": { images: [{ filename: "early.png" }, { filename: "next.png" }] } } };
    const fields = { preview_output: null, outputs_count: 0, progress };
    expect(toJobView(parseItem({ status: "in_progress", ...fields }))).toMatchObject({ outputsCount: 2, preview: { name: "early.png" } });
    expect(toJobView(parseItem({ status: "completed", ...fields }))).toMatchObject({ outputsCount: 0 });
    expect(toJobView(parseItem({ status: "completed", ...fields }))).not.toHaveProperty("preview");
  });
});

describe("a failed job's error", () => {
  const getError = (fields: object, reportedStatus?: Partial<JobStatus>) =>
    toJobView(
      jobDetailSchema.parse({ id: "6f0d", status: "failed", create_time: createdAtMs, ...fields }),
      reportedStatus && createStatus({ status: "error", ...reportedStatus }),
    ).error;
  const error = { node_id: "3", node_type: "KSampler", exception_type: "OOMError", exception_message: "no memory", traceback: ["line 1"] };
  const view = { nodeId: "3", nodeType: "KSampler", type: "OOMError", message: "no memory", traceback: ["line 1"] };

  it("reads the structured error, the timeline or JSON in the status view", () => {
    expect(getError({ execution_error: error })).toEqual(view);
    expect(getError({ execution_status: { messages: [["execution_error", { ...error, executed: [] }]] } })).toEqual(view);
    expect(getError({}, { error_message: JSON.stringify(error) })).toEqual(view);
  });

  it("reads a plain text error", () => {
    expect(getError({}, { error_message: "worker lost" })).toEqual({ type: "", message: "worker lost", traceback: [] });
  });

  it("omits the node when the service itself failed", () => {
    const dispatchError = { node_id: "", node_type: "", exception_type: "DispatcherError", exception_message: "no machine", traceback: [] };
    expect(getError({ execution_error: dispatchError })).toEqual({ type: "DispatcherError", message: "no machine", traceback: [] });
  });

  it("reads node errors from a late validation error", () => {
    const body = {
      error: { type: "prompt_outputs_failed_validation", message: "bad" },
      node_errors: { "9": { errors: [{ type: "value_not_in_list" }] } },
    };
    const lateError = { exception_type: "ValidationError", exception_message: `400: ${JSON.stringify(body)}` };
    expect(getError({ execution_error: lateError })?.lateValidation?.nodeErrors?.["9"]?.errors[0]?.type).toBe("value_not_in_list");
    expect(getError({}, { error_message: `400: ${JSON.stringify(body)}` })?.lateValidation?.code).toBe("prompt_outputs_failed_validation");
    expect(getError({}, { error_message: JSON.stringify(body) })?.lateValidation?.message).toBe("bad");
  });

  it("returns no error when none was reported", () => {
    expect(getError({ execution_error: {} }, { error_message: " " })).toBeUndefined();
    expect(toJobView(parseItem({ execution_error: error }))).not.toHaveProperty("error");
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
        reportedStatus === undefined ? undefined : createStatus({ status: reportedStatus, error_message: reportedStatus }),
      );
      expect(view.rawStatus).toBe(reportedStatus ?? body.status);
      expect(Object.values(view)).not.toContain(undefined);
    }),
  );
});

it("returns the node in which a cancelled job was stopped", () => {
  const messages: [string, Record<string, unknown>][] = [["execution_interrupted", { node_id: "7", node_type: "KSampler" }]];
  const getView = (status: string) => toJobView(jobDetailSchema.parse({ id: "a", status, execution_status: { messages } }));
  expect(getView("cancelled").stoppedIn).toEqual({ nodeId: "7", nodeType: "KSampler" });
  expect(getView("completed").stoppedIn).toBeUndefined();
});
