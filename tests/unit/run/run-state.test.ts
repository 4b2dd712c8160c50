import { describe, expect, it } from "vitest";
import { runReducer } from "@/components/run/run-reducer";
import { emptyRun, type RunAction, type RunState } from "@/components/run/run-state";
import { openWorkflow } from "@/components/run/workflow/open-workflow";
import { sampleText } from "./files";

function opened(name: string): RunAction {
  const file = openWorkflow(sampleText(name), `${name}.json`);
  if (!file.ok) throw new Error("the sample does not open");
  return { type: "opened", file: file.value };
}

const through = (...actions: RunAction[]): RunState => actions.reduce(runReducer, emptyRun);
const error = (input_name: string) => ({ type: "value_not_in_list", message: "", details: "", extra_info: { input_name } });
const typed: RunAction = { type: "edited", serial: 1, nodeId: "1", name: "width", value: 640 };
const nodeErrors = { "1": { class_type: "EmptyImage", dependent_outputs: [], errors: [error("width"), error("height")] } };

describe("what was typed and chosen", () => {
  it("stays when the next file cannot be opened", () => {
    const state = through(opened("01-invert"), typed, { type: "refused", refusal: { fileName: "x", reason: { code: "empty" } } });
    expect(state.opened?.graph["1"]?.inputs.width).toBe(640);
    expect(state.refusal?.reason.code).toBe("empty");
  });

  it("stays when the answer is a refusal, a fault or nothing", () => {
    const failure = { code: "X", message: "", status: 500 };
    for (const outcome of [
      { kind: "refused", failure },
      { kind: "unknown", failure },
      { kind: "invalid", failure, errors: nodeErrors },
    ] as const) {
      const state = through(opened("01-invert"), typed, { type: "sending" }, { type: "answered", serial: 1, outcome, atMs: 1 });
      expect(state.opened?.graph["1"]?.inputs.width).toBe(640);
      expect(state.isSending).toBe(false);
      expect(state.submitError?.kind).toBe(outcome.kind);
    }
  });

  it("comes back when somebody returns from the file that replaced it, and goes forth again", () => {
    const away = through(opened("01-invert"), typed, opened("05-slow"));
    expect(away.opened?.name).toBe("05-slow");
    const back = runReducer(away, { type: "went-back" });
    expect(back.opened?.graph["1"]?.inputs.width).toBe(640);
    expect(back.before?.name).toBe("05-slow");
  });

  it("comes back after the workflow was closed", () => {
    const state = through(opened("01-invert"), typed, { type: "closed" }, { type: "went-back" });
    expect(state.opened?.graph["1"]?.inputs.width).toBe(640);
  });
});

describe("an answer", () => {
  it("puts its errors on the nodes and asks for the eye; a corrected field loses its own", () => {
    const failure = { code: "prompt_outputs_failed_validation", message: "", status: 400 };
    const state = through(
      opened("01-invert"),
      { type: "sending" },
      { type: "answered", serial: 1, outcome: { kind: "invalid", failure, errors: nodeErrors }, atMs: 1 },
    );
    expect(state.attention).toBe(1);
    const corrected = runReducer(state, typed);
    expect(corrected.errors["1"]?.errors.map(({ extra_info }) => extra_info.input_name)).toEqual(["height"]);
    const both = runReducer(corrected, { ...typed, name: "height", value: 2 });
    expect(both.errors).toEqual({});
  });

  it("for a workflow that is open no more marks nothing of the one that is", () => {
    const failure = { code: "x", message: "", status: 400 };
    const late: RunAction = { type: "answered", serial: 1, outcome: { kind: "invalid", failure, errors: nodeErrors }, atMs: 1 };
    const state = through(opened("01-invert"), { type: "sending" }, opened("05-slow"), late);
    expect(state.errors).toEqual({});
    expect(state.attention).toBe(0);
  });

  it("with a job leaves a receipt, newest first, and the form open to run again", () => {
    const answer = (jobId: string): RunAction => ({
      type: "answered",
      serial: 1,
      outcome: { kind: "accepted", jobId, errors: {} },
      atMs: 1,
    });
    const state = through(opened("01-invert"), { type: "sending" }, answer("a"), { type: "sending" }, answer("b"));
    expect(state.receipts.map(({ jobId }) => jobId)).toEqual(["b", "a"]);
    expect(state.opened?.name).toBe("01-invert");
  });
});

describe("a picture on its way", () => {
  const upload = (isRunning: boolean, serial = 1): RunAction => ({ type: "upload", serial, key: "1/image", isRunning });

  it("is counted once, and no more when it has arrived", () => {
    expect(through(opened("01-invert"), upload(true), upload(true)).uploading).toEqual(["1/image"]);
    expect(through(opened("01-invert"), upload(true), upload(false)).uploading).toEqual([]);
  });

  it("into a workflow that is open no more changes nothing", () => {
    const state = through(opened("01-invert"), opened("05-slow"), upload(true, 1), {
      type: "edited",
      serial: 1,
      nodeId: "1",
      name: "width",
      value: 1,
    });
    expect(state.uploading).toEqual([]);
    expect(state.opened?.graph["1"]?.inputs.width).toBe(256);
  });
});
