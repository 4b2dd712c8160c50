import { describe, expect, it } from "vitest";
import { judge, toSubmission } from "@/components/run/submit/submission";
import { failed, ok } from "@/lib/shared/result";
import { sampleGraph } from "./files";

const graph = sampleGraph("01-invert");
const failure = (code: string, status = 502) => failed({ code, message: "", status });

describe("what is sent", () => {
  it("groups under the workflow's id and name, and keeps what the file brought along", () => {
    const extraData = { client: "x", extra_pnginfo: { prompt_style: "y", workflow: { nodes: [1], id: "old" } } };
    expect(toSubmission({ graph, workflowId: "new", name: "Invert", extraData })).toEqual({
      prompt: graph,
      extra_data: { client: "x", extra_pnginfo: { prompt_style: "y", workflow: { nodes: [1], id: "new", name: "Invert" } } },
    });
  });
});

describe("what an answer means", () => {
  it("a job, also under its other name", () => {
    expect(judge(ok({ prompt_id: "a", node_errors: {} }), graph)).toEqual({ kind: "accepted", jobId: "a", errors: {} });
    expect(judge(ok({ job_id: "b" }), graph)).toMatchObject({ kind: "accepted", jobId: "b" });
  });

  it("a job, and nodes of it that will not run", () => {
    const node_errors = { "3": { errors: [{ type: "required_input_missing" }] } };
    expect(judge(ok({ prompt_id: "a", node_errors }), graph)).toMatchObject({ kind: "accepted", errors: { "3": {} } });
  });

  it("a workflow that is wrong", () => {
    const nodeErrors = { "1": { class_type: "A", dependent_outputs: [], errors: [] } };
    expect(judge(failed({ code: "prompt_outputs_failed_validation", message: "", status: 400, nodeErrors }), graph).kind).toBe("invalid");
    const missing = failed({ code: "missing_node_type", message: "Node 'ImageInvert' not found.", status: 400, details: "Node ID '#2'" });
    expect(judge(missing, graph)).toMatchObject({ kind: "invalid", errors: { "2": { class_type: "ImageInvert" } } });
  });

  it("a refusal: nothing was started", () => {
    for (const code of ["ROLE_TOO_LOW", "UPSTREAM_REFUSED_KEY", "PAYMENT_REQUIRED", "QUEUE_LIMIT"])
      expect(judge(failure(code), graph).kind).toBe("refused");
    expect(judge(failed({ code: "UPSTREAM_UNREACHABLE", message: "", status: 502, details: { sent: false } }), graph).kind).toBe("refused");
  });

  it("no answer: nobody knows whether a job exists", () => {
    expect(judge(failure("CONSOLE_UNREACHABLE", 0), graph).kind).toBe("unknown");
    expect(judge(failure("CONSOLE_UNREACHABLE", 504), graph).kind).toBe("unknown");
    expect(judge(failure("UPSTREAM_TIMEOUT", 504), graph).kind).toBe("unknown");
    expect(judge(failure("UPSTREAM_UNREADABLE"), graph).kind).toBe("unknown");
    expect(judge(failure("UPSTREAM_UNREACHABLE"), graph).kind).toBe("unknown");
    // A fault after the service had taken the job looks the same from here as one before.
    expect(judge(failure("UPSTREAM_ERROR"), graph).kind).toBe("unknown");
    expect(judge(failure("INTERNAL", 500), graph).kind).toBe("unknown");
    expect(judge(ok(undefined), graph).kind).toBe("unknown");
    expect(judge(ok({}), graph).kind).toBe("unknown");
  });
});
