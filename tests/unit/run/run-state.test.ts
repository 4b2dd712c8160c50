import { describe, expect, it } from "vitest";
import { type Answer, createRunStore, type RunStore } from "@/components/run/run-store";
import { openWorkflow } from "@/components/run/workflow/open-workflow";
import { sampleText } from "./files";

type Step = (store: RunStore) => void;

function opened(name: string): Step {
  const file = openWorkflow(sampleText(name), `${name}.json`);
  if (!file.ok) throw new Error("the sample does not open");
  return (store) => store.open(file.value);
}

function through(...steps: Step[]) {
  const store = createRunStore();
  for (const step of steps) step(store);
  return store.get();
}
const error = (input_name: string) => ({ type: "value_not_in_list", message: "", details: "", extra_info: { input_name } });
const type =
  (name: string, value: number): Step =>
  (store) =>
    store.edit(1, { nodeId: "1", name, value });
const typed = type("width", 640);
const sending: Step = (store) => store.startSending();
const answer =
  (outcome: Answer["outcome"]): Step =>
  (store) =>
    store.finishSending({ serial: 1, outcome, atMs: 1 });
const nodeErrors = { "1": { class_type: "EmptyImage", dependent_outputs: [], errors: [error("width"), error("height")] } };

describe("what was typed and chosen", () => {
  it("stays when the next file cannot be opened", () => {
    const state = through(opened("01-invert"), typed, (store) => store.refuse({ fileName: "x", reason: { code: "empty" } }));
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
      const state = through(opened("01-invert"), typed, sending, answer(outcome));
      expect(state.opened?.graph["1"]?.inputs.width).toBe(640);
      expect(state.isSending).toBe(false);
      expect(state.submitError?.kind).toBe(outcome.kind);
    }
  });

  it("comes back when somebody returns from the file that replaced it, and goes forth again", () => {
    const away = through(opened("01-invert"), typed, opened("05-slow"));
    expect(away.opened?.name).toBe("05-slow");
    const back = through(opened("01-invert"), typed, opened("05-slow"), (store) => store.goBack());
    expect(back.opened?.graph["1"]?.inputs.width).toBe(640);
    expect(back.before?.name).toBe("05-slow");
  });

  it("comes back after the workflow was closed", () => {
    const state = through(
      opened("01-invert"),
      typed,
      (store) => store.close(),
      (store) => store.goBack(),
    );
    expect(state.opened?.graph["1"]?.inputs.width).toBe(640);
  });
});

describe("an answer", () => {
  it("puts its errors on the nodes and asks for the eye; a corrected field loses its own", () => {
    const failure = { code: "prompt_outputs_failed_validation", message: "", status: 400 };
    const refused = [opened("01-invert"), sending, answer({ kind: "invalid", failure, errors: nodeErrors })];
    expect(through(...refused).attention).toBe(1);
    const corrected = through(...refused, typed);
    expect(corrected.errors["1"]?.errors.map(({ extra_info }) => extra_info.input_name)).toEqual(["height"]);
    expect(through(...refused, typed, type("height", 2)).errors).toEqual({});
  });

  it("for a workflow that is open no more marks nothing of the one that is", () => {
    const failure = { code: "x", message: "", status: 400 };
    const late = answer({ kind: "invalid", failure, errors: nodeErrors });
    const state = through(opened("01-invert"), sending, opened("05-slow"), late);
    expect(state.errors).toEqual({});
    expect(state.attention).toBe(0);
  });

  it("with a job leaves a receipt, newest first, and the form open to run again", () => {
    const accepted = (jobId: string) => answer({ kind: "accepted", jobId, errors: {} });
    const state = through(opened("01-invert"), sending, accepted("a"), sending, accepted("b"));
    expect(state.receipts.map(({ jobId }) => jobId)).toEqual(["b", "a"]);
    expect(state.opened?.name).toBe("01-invert");
  });
});

describe("a picture on its way", () => {
  const upload =
    (isRunning: boolean): Step =>
    (store) =>
      store.setUploading(1, "1/image", isRunning);

  it("is counted once, and no more when it has arrived", () => {
    expect(through(opened("01-invert"), upload(true), upload(true)).uploading).toEqual(["1/image"]);
    expect(through(opened("01-invert"), upload(true), upload(false)).uploading).toEqual([]);
  });

  it("into a workflow that is open no more changes nothing", () => {
    const state = through(opened("01-invert"), opened("05-slow"), upload(true), type("width", 1));
    expect(state.uploading).toEqual([]);
    expect(state.opened?.graph["1"]?.inputs.width).toBe(256);
  });
});
