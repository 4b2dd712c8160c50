import { existsSync, readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { imageSamples, sampleClasses, samples } from "@/components/frame/samples/samples";
import { planCopies, toPlannedCopies } from "@/components/run/copies/send-copies";
import { createRunStore, type RunStore } from "@/components/run/run-store";
import { classifyResult } from "@/components/run/submit/attempt";
import { toSubmission } from "@/components/run/submit/submission";
import { openWorkflow } from "@/components/run/workflow/open-workflow";
import { createEditableFile } from "@/lib/contract/editor-workflow/write-file";
import { fillTexts } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { failed, ok } from "@/lib/shared/result";
import { readSampleGraph, readSampleText } from "./workflow-fixtures";

const graph = readSampleGraph("01-invert");
const failure = (code: string, status = 502) => failed({ code, message: "", status });

describe("the submission", () => {
  it("contains each copy's editor file with the original placeholders", () => {
    const node = { id: 1, type: "SaveImage", inputs: [], widgets_values: ["old", 1] };
    const info = { SaveImage: { input: { required: { filename_prefix: ["STRING", {}], seed: ["INT", {}] } } } };
    const drawing = { nodes: [node], links: [] };
    const prompt: Graph = { "1": { class_type: "SaveImage", inputs: { filename_prefix: "%date:yyyy%", seed: 7 } } };
    const openedWorkflow = {
      graph: prompt,
      workflowId: "w",
      name: "n",
      extraData: { extra_pnginfo: { workflow: drawing } },
      original: prompt,
      order: ["1"],
      serial: 1,
      isEdited: false,
    };
    const fill = (currentGraph: Graph) => fillTexts(currentGraph, info, { at: new Date(2026, 1, 1), draw: 0 });
    const order = { nodeId: "1", input: "seed", values: [8, 9], getSeeds: () => [], fill };
    const submissions = toPlannedCopies(planCopies(openedWorkflow, "n", order), createEditableFile(drawing, info).applyValues).map(
      ({ createSubmission }) => createSubmission().submission,
    );
    expect(submissions.map((submission) => submission.prompt["1"]?.inputs)).toEqual([
      { filename_prefix: "2026", seed: 8 },
      { filename_prefix: "2026", seed: 9 },
    ]);
    const values = submissions.map(({ extra_data }) => extra_data.extra_pnginfo.workflow.nodes);
    expect(values).toMatchObject([[{ widgets_values: ["%date:yyyy%", 8] }], [{ widgets_values: ["%date:yyyy%", 9] }]]);
  });

  it("sets the workflow's id and name and keeps the file's extra data", () => {
    const extraData = { client: "x", extra_pnginfo: { prompt_style: "y", workflow: { nodes: [1], id: "old" } } };
    expect(toSubmission({ graph, workflowId: "new", name: "Invert", extraData })).toEqual({
      prompt: graph,
      extra_data: { client: "x", extra_pnginfo: { prompt_style: "y", workflow: { nodes: [1], id: "new", name: "Invert" } } },
    });
  });
});

describe("a filename with placeholders", () => {
  const createSaveGraph = (filename_prefix: string) => ({
    "1": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix } },
  });
  const [writtenGraph, sentGraph] = [createSaveGraph("%date:yyyy%-a"), createSaveGraph("2026-a")];
  const extraData = { extra_pnginfo: { workflow: { nodes: [1], extra: { ds: { scale: 1 } } } } };
  const workflow = { workflowId: "3b241101-e2bb-4255-8caf-4136c566a962", name: "Dated" };

  it("is submitted with its placeholders and restored on reopening", () => {
    const submission = toSubmission({ ...workflow, graph: sentGraph, extraData }, writtenGraph);
    expect(submission.prompt).toEqual(sentGraph);
    const workflowResult = openWorkflow(JSON.stringify(submission));
    expect(workflowResult).toMatchObject({ ok: true, value: { graph: writtenGraph, name: "Dated" } });
    // Stored placeholders never overwrite a newly typed value.
    const editedSubmission = workflowResult.ok ? toSubmission({ ...workflowResult.value, graph: createSaveGraph("other") }) : undefined;
    expect(openWorkflow(JSON.stringify(editedSubmission))).toMatchObject({
      ok: true,
      value: { graph: createSaveGraph("other"), extraData },
    });
  });

  it("is not stored when nothing was filled in", () => {
    expect(toSubmission({ ...workflow, graph: sentGraph, extraData }).extra_data).toEqual({
      extra_pnginfo: { workflow: { nodes: [1], extra: { ds: { scale: 1 } }, id: workflow.workflowId, name: "Dated" } },
    });
  });

  it("keeps a later change by another editor", () => {
    const { extra_data } = toSubmission({ ...workflow, graph: sentGraph, extraData }, writtenGraph);
    const changedFile = openWorkflow(JSON.stringify({ prompt: createSaveGraph("final"), extra_data }));
    expect(changedFile).toMatchObject({ ok: true, value: { graph: createSaveGraph("final"), extraData } });
  });

  const filled = "2026-a";
  it.each([
    { "1": "x" },
    { "1": { written: "x" } },
    { "1": { written: "x".repeat(1_001), filled } },
    { "9": { written: "x", filled } },
    { "2": { written: "x", filled } },
    { __proto__: { written: "x", filled } },
    "x",
    null,
    7,
  ])("is unchanged when the stored value is invalid: %j", (fileNames) => {
    const extra_data = { extra_pnginfo: { workflow: { extra: { lightdesk: { fileNames } } } } };
    expect(openWorkflow(JSON.stringify({ prompt: sentGraph, extra_data }))).toMatchObject({ ok: true, value: { graph: sentGraph } });
  });

  it("is stored for each copy, also when it varies", () => {
    const file = openWorkflow(JSON.stringify({ prompt: { ...writtenGraph, "2": { class_type: "EmptyImage", inputs: { width: 8 } } } }));
    if (!file.ok) throw new Error("The workflow could not be opened.");
    const openedWorkflow = { ...file.value, original: file.value.graph, serial: 1, isEdited: false };
    const fill = (currentGraph: Graph) => fillTexts(currentGraph, undefined, { at: new Date(2026, 4, 1), draw: 1 });
    const getFilenames = (order: { nodeId: string; input: string; values: (string | number)[] }) =>
      toPlannedCopies(planCopies(openedWorkflow, "Dated", { ...order, getSeeds: () => [], fill })).map(({ createSubmission }) => {
        const { submission } = createSubmission();
        const reopened = openWorkflow(JSON.stringify(submission));
        return [submission.prompt["1"]?.inputs.filename_prefix, reopened.ok && reopened.value.graph["1"]?.inputs.filename_prefix];
      });
    expect(getFilenames({ nodeId: "2", input: "width", values: [8, 16] })).toEqual(Array(2).fill(["2026-a", "%date:yyyy%-a"]));
    expect(getFilenames({ nodeId: "1", input: "filename_prefix", values: ["%date:MM%-b", "plain"] })).toEqual([
      ["05-b", "%date:MM%-b"],
      ["plain", "plain"],
    ]);
  });
});

describe("classifyResult", () => {
  it("accepts a job id under either name, also with node errors", () => {
    const node_errors = { "3": { errors: [{ type: "required_input_missing" }] } };
    expect(classifyResult(ok({ prompt_id: "a", node_errors: {} }), graph)).toEqual({ kind: "accepted", jobId: "a", errors: {} });
    expect(classifyResult(ok({ job_id: "b", node_errors }), graph)).toMatchObject({ kind: "accepted", jobId: "b", errors: { "3": {} } });
  });

  it("classifies a rejected request as refused", () => {
    for (const code of ["ROLE_TOO_LOW", "UPSTREAM_REFUSED_KEY", "PAYMENT_REQUIRED", "QUEUE_LIMIT"])
      expect(classifyResult(failure(code), graph).kind).toBe("refused");
    const unsent = failed({ code: "UPSTREAM_UNREACHABLE", message: "", status: 502, details: { sent: false } });
    expect(classifyResult(unsent, graph).kind).toBe("refused");
  });

  it.each([
    failure("CONSOLE_UNREACHABLE", 0),
    failure("CONSOLE_UNREACHABLE", 504),
    failure("UPSTREAM_TIMEOUT", 504),
    failure("UPSTREAM_UNREADABLE"),
    failure("UPSTREAM_UNREACHABLE"),
    // These errors can occur before or after the service accepted the job.
    failure("UPSTREAM_ERROR"),
    failure("INTERNAL", 500),
    failure("OUTCOME_UNKNOWN", 409),
    ok(undefined),
    ok({}),
  ])("classifies a missing or ambiguous response as unknown: %j", (result) => {
    expect(classifyResult(result, graph).kind).toBe("unknown");
  });
});

describe("a workflow that was closed", () => {
  function openSample(store: RunStore, name: string) {
    const file = openWorkflow(readSampleText(name), `${name}.json`);
    if (!file.ok) throw new Error("The sample could not be opened.");
    store.open(file.value);
  }
  /** Opens one workflow and closes it by opening another. */
  function createStore() {
    const store = createRunStore();
    openSample(store, "01-invert");
    store.startSending(store.get().openWorkflow?.graph);
    openSample(store, "05-slow");
    return store;
  }

  it("adds no errors of a late response to the open workflow", () => {
    const store = createStore();
    const failure = { code: "x", message: "", status: 400 };
    const extra_info = { input_name: "width" };
    const error = { type: "value_not_in_list", message: "", details: "", extra_info };
    const errors = { "1": { class_type: "EmptyImage", dependent_outputs: [], errors: [error] } };
    store.finishSending({ serial: 1, outcome: { kind: "invalid", failure, errors }, atMs: 1 });
    expect([store.get().errors, store.get().focusSerial]).toEqual([{}, 0]);
  });

  it("changes nothing when its picture upload ends", () => {
    const store = createStore();
    store.setUploading(1, "1/image", true);
    store.edit(1, { nodeId: "1", name: "width", value: 1 });
    expect(store.get().uploading).toEqual([]);
    expect(store.get().openWorkflow?.graph["1"]?.inputs.width).toBe(256);
  });
});

describe.each(samples)("sample %s", (name) => {
  const nodes = Object.values(readSampleGraph(name));

  it("lists the node classes of its file", () => {
    expect([...sampleClasses[name]]).toEqual([...new Set(nodes.map((node) => node.class_type))].sort());
    expect(imageSamples.some((pictureSample) => pictureSample === name)).toBe(nodes.some((node) => node.class_type === "LoadImage"));
  });

  it("has a small result picture", async () => {
    const path = `public/samples/pictures/${name}.webp`;
    expect(existsSync(path)).toBe(true);
    expect(await sharp(path).metadata()).toMatchObject({ format: "webp", width: 480, height: 360 });
    expect(readFileSync(path).byteLength).toBeLessThan(25_000);
  });
});
