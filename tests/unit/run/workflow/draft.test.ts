import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRunStore, type RunStore } from "@/components/run/run-store";
import { openWorkflow } from "@/components/run/workflow/open-workflow";
import { isUnsent, type OpenWorkflow } from "@/components/run/workflow/opened-workflow";
import { deleteDraft, MAX_DRAFT_CHARACTERS, readDraft, storeDraft } from "@/components/run/workflow/workflow-memory";
import { type BrowserStorage } from "@/lib/browser/persisted-value";
import { readSampleText } from "../workflow-fixtures";

function createStorage(entries: [string, string][] = []) {
  const entriesByKey = new Map(entries);
  const storage: BrowserStorage = () => ({
    getItem: (key) => entriesByKey.get(key) ?? null,
    setItem: (key, text) => void entriesByKey.set(key, text),
    removeItem: (key) => void entriesByKey.delete(key),
  });
  return { storage, entriesByKey };
}

type Step = (store: RunStore) => void;

const createOpenStep = (...file: Parameters<typeof openWorkflow>): Step => {
  const result = openWorkflow(...file);
  if (!result.ok) throw new Error("The workflow could not be opened.");
  return (store) => store.open(result.value);
};
const runSteps = (...steps: Step[]) => {
  const store = createRunStore();
  for (const step of steps) step(store);
  return store.get();
};
const createEditStep =
  (value: unknown): Step =>
  (store) =>
    store.edit(1, { nodeId: "1", name: "width", value });

function openWithSteps(...steps: Step[]): OpenWorkflow {
  const { openWorkflow } = runSteps(...steps);
  if (!openWorkflow) throw new Error("No workflow is open.");
  return openWorkflow;
}

describe("a draft", () => {
  const size = (name: string) => ({ required: { [name]: ["INT", { default: 512 }] } });
  const options = [
    { key: "width", inputs: size("width") },
    { key: "longer", inputs: size("longer_size") },
  ];
  const catalogue = { Resize: { input: { required: { resize_type: ["COMFY_DYNAMICCOMBO_V3", { options }] } } } };
  const resizeText = JSON.stringify({ "1": { class_type: "Resize", inputs: { resize_type: "width", "resize_type.width": 640 } } });
  const editorWorkflow = { id: "7d9f3c1e-5b7a-4c8d-9e0f-1a2b3c4d5e6f", name: "hero", nodes: [] };
  const extra_data = { extra_pnginfo: { workflow: editorWorkflow } };
  const jobWorkflowId = "0189f7e2-7b1c-7000-8000-00000000abcd";
  it.each<[string, Step[], Partial<OpenWorkflow>]>([
    ["typed values and the original", [createOpenStep(readSampleText("01-invert"), "mine.json"), createEditStep(640)], { name: "mine" }],
    [
      "a picture's local filename",
      [
        createOpenStep(readSampleText("02-poster-from-photo")),
        (store) => store.setFileName(1, "4be1.png", "mine.png"),
        (store) => store.edit(1, { nodeId: "1", name: "image", value: "4be1.png" }),
      ],
      { ownNames: { "4be1.png": "mine.png" } },
    ],
    [
      "a job's generated workflow id",
      [createOpenStep(readSampleText("01-invert"), undefined, { name: "hero", workflowId: jobWorkflowId })],
      { workflowId: jobWorkflowId },
    ],
    [
      "the file's editor workflow and id",
      [createOpenStep(JSON.stringify({ prompt: JSON.parse(readSampleText("01-invert")), extra_data }))],
      { name: "hero", workflowId: editorWorkflow.id, extraData: extra_data },
    ],
    [
      "a choice without the inputs of the deselected option",
      [createOpenStep(resizeText), (store) => store.edit(1, { nodeId: "1", name: "resize_type", value: "longer" }, catalogue)],
      { graph: { "1": { class_type: "Resize", inputs: { resize_type: "longer", "resize_type.longer_size": 512 } } } },
    ],
  ])("restores %s", (_, steps, expected) => {
    const { storage } = createStorage();
    const openWorkflow = openWithSteps(...steps);
    expect(openWorkflow).toMatchObject(expected);
    expect(storeDraft(storage, "ada", openWorkflow)).toBe(true);
    const draft = readDraft(storage, "ada");
    expect(draft && runSteps((store) => store.restore(draft)).openWorkflow).toEqual(openWorkflow);
  });

  it("never replaces an open workflow", () => {
    const { storage } = createStorage();
    storeDraft(storage, "ada", openWithSteps(createOpenStep(readSampleText("05-slow"), "slow.json")));
    const draft = readDraft(storage, "ada");
    const store = createRunStore();
    createOpenStep(readSampleText("01-invert"), "mine.json")(store);
    const before = store.get();
    if (draft) store.restore(draft);
    expect(draft && store.get()).toBe(before);
  });

  it("is missing when the storage is corrupt or forbidden", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((json) => `{"memberId":"ada","workflow":${json},"inputs":${json}}`),
        ),
        (text) => {
          expect(readDraft(createStorage([["lightdesk.run", text]]).storage, "ada")?.inputs ?? {}).toEqual(expect.any(Object));
        },
      ),
    );
    const forbidden: BrowserStorage = () => {
      throw new DOMException("no", "SecurityError");
    };
    expect(readDraft(forbidden, "ada")).toBeUndefined();
    expect(storeDraft(forbidden, "ada", openWithSteps(createOpenStep(readSampleText("01-invert"))))).toBe(false);
    expect(() => deleteDraft(forbidden)).not.toThrow();
  });

  it("is deleted when the workflow is too large", () => {
    const { storage, entriesByKey } = createStorage();
    storeDraft(storage, "ada", openWithSteps(createOpenStep(readSampleText("01-invert"))));
    expect(
      storeDraft(
        storage,
        "ada",
        openWithSteps(createOpenStep(readSampleText("01-invert")), createEditStep("x".repeat(MAX_DRAFT_CHARACTERS))),
      ),
    ).toBe(false);
    expect(entriesByKey.size).toBe(0);
  });
});

describe("isUnsent", () => {
  const finishAccepted: Step = (store) =>
    store.finishSending({ serial: 1, outcome: { kind: "accepted", jobId: "a", errors: {} }, atMs: 1 });
  const finishUnknown: Step = (store) =>
    store.finishSending({ serial: 1, outcome: { kind: "unknown", failure: { code: "x", message: "", status: 504 } }, atMs: 1 });
  const startSending: Step = (store) => store.startSending(store.get().openWorkflow?.graph);
  const start = createOpenStep(readSampleText("01-invert"));

  it("returns true until the service accepts the values, and after an edit", () => {
    expect(isUnsent(undefined)).toBe(false);
    expect(isUnsent(runSteps(start).openWorkflow)).toBe(false);
    expect(isUnsent(runSteps(start, createEditStep(640)).openWorkflow)).toBe(true);
    expect(isUnsent(runSteps(start, createEditStep(640), startSending, finishAccepted).openWorkflow)).toBe(false);
    expect(isUnsent(runSteps(start, createEditStep(640), startSending, finishAccepted, createEditStep(641)).openWorkflow)).toBe(true);
  });

  it("returns true when the values are edited while the run is submitted", () => {
    expect(isUnsent(runSteps(start, createEditStep(640), startSending, createEditStep(641), finishAccepted).openWorkflow)).toBe(true);
  });

  it("returns true when values are edited before an unknown outcome is looked up", () => {
    const unknownRun = [createEditStep(640), startSending, finishUnknown];
    const lookUp: Step[] = [(store) => store.startSending(), finishAccepted];
    expect(isUnsent(runSteps(start, ...unknownRun, ...lookUp).openWorkflow)).toBe(false);
    expect(isUnsent(runSteps(start, ...unknownRun, createEditStep(641), ...lookUp).openWorkflow)).toBe(true);
  });
});
