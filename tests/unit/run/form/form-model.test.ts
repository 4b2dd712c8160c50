import { describe, expect, it, test } from "vitest";
import { createFormBuilder, type FormNode, withInput } from "@/components/run/form/form-model";
import { findMissingClassErrors, placeProblems, toProblemMessage } from "@/components/run/form/problems";
import { createEditableFile } from "@/lib/contract/editor-workflow/write-file";
import { parseFailure } from "@/lib/contract/failure";
import { fillTexts, replaceTexts } from "@/lib/contract/nodes/fill-texts";
import { readInputSpec } from "@/lib/contract/nodes/input-spec";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo, objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { sortTopologically } from "@/lib/contract/workflow/graph";
import { readCatalogueFixture, readRecordedRefusals, readSampleGraph } from "../workflow-fixtures";

const buildForm = (graph: Graph, info?: ObjectInfo) => createFormBuilder(graph, sortTopologically(graph), info)(graph);
const getControl = (form: FormNode[], id: string, name: string) =>
  form.find((node) => node.id === id)?.fields.find((field) => field.name === name)?.control;

describe("the form of a graph with a catalogue", () => {
  const graph = readSampleGraph("02-poster-from-photo");
  const form = buildForm(graph, readCatalogueFixture());

  it("lists each node after the nodes it depends on", () => {
    expect(form.map(({ id }) => id)).toEqual(["1", "2", "3", "4", "5", "6"]);
    const ids = buildForm(readSampleGraph("03-composite-with-mask")).map(({ id }) => id);
    expect(ids).toHaveLength(7);
    expect(ids.indexOf("7")).toBeLessThan(ids.indexOf("3"));
    expect(ids.indexOf("3")).toBeLessThan(ids.indexOf("4"));
  });

  it("uses a node's title, or else the display name of its class", () => {
    expect(form[0]?.title).toBe("Photo");
    expect(form[5]?.title).toBe("Save Image");
    expect(buildForm(graph)[5]?.title).toBe("SaveImage");
  });

  it("selects each literal's control by its description", () => {
    expect(getControl(form, "1", "image")).toEqual({ kind: "image", options: [] });
    expect(getControl(form, "2", "upscale_method")).toEqual({
      kind: "choice",
      options: ["nearest-exact", "bilinear", "area", "bicubic", "lanczos"],
    });
    expect(getControl(form, "2", "width")).toEqual({ kind: "number", integer: true, min: 0, max: 16384, step: 1 });
    expect(getControl(form, "4", "color")).toEqual({ kind: "color", min: 0, max: 16777215 });
    expect(getControl(form, "5", "blend_factor")).toMatchObject({ kind: "number", integer: false, min: 0, max: 1 });
    expect(getControl(form, "6", "filename_prefix")).toEqual({ kind: "text" });
  });

  it("shows a link as its source node and output", () => {
    expect(getControl(form, "2", "image")).toEqual({ kind: "link", fromId: "1", fromTitle: "Photo", output: 0, outputName: "IMAGE" });
  });

  it("shows a missing required input as unconnected or empty", () => {
    const bare: Graph = { "4": { class_type: "SaveImage", inputs: {} } };
    const fields = buildForm(bare, readCatalogueFixture())[0]?.fields;
    expect(fields?.map(({ name, control: { kind } }) => [name, kind])).toEqual([
      ["images", "unconnected"],
      ["filename_prefix", "text"],
    ]);
  });

  it("marks classes missing from the service as unknown", () => {
    const production = buildForm(readSampleGraph("08-production-sdxl"), readCatalogueFixture());
    expect(production.find(({ id }) => id === "1")?.isKnown).toBe(false);
    expect(production.find(({ id }) => id === "40")?.isKnown).toBe(true);
  });
});

describe("the form of a graph without a catalogue", () => {
  const form = buildForm({
    "1": {
      class_type: "Anything",
      inputs: {
        flag: true,
        size: 12,
        color: 0xdba446,
        name: "short",
        text: "a cat",
        long: "x".repeat(80),
        list: { __value__: [1, 2] },
        nothing: null,
      },
    },
    "2": { class_type: "LoadImage", inputs: { image: "photo.png" } },
    "3": { class_type: "Other", inputs: { image: "a word" } },
  });

  it("infers controls from value types and marks no class as unknown", () => {
    const kinds = Object.fromEntries(form[0]?.fields.map((field) => [field.name, field.control.kind]) ?? []);
    expect(kinds).toEqual({
      flag: "switch",
      size: "number",
      color: "color",
      name: "text",
      text: "long-text",
      long: "long-text",
      list: "fixed",
      nothing: "fixed",
    });
    expect(form.every(({ isKnown }) => isKnown)).toBe(true);
  });

  it("shows an image control only for the image loaders", () => {
    expect(getControl(form, "2", "image")).toEqual({ kind: "image" });
    expect(getControl(form, "3", "image")).toEqual({ kind: "text" });
  });
});

describe("an edit", () => {
  const graph = readSampleGraph("01-invert");

  it("changes one input, and nothing for the same value or a missing node", () => {
    expect(withInput(graph, "1", "width", 640)).toEqual({
      ...graph,
      "1": { ...graph["1"], inputs: { ...graph["1"]?.inputs, width: 640 } },
    });
    expect(graph["1"]?.inputs.width).toBe(512);
    expect(withInput(graph, "1", "width", 512)).toBe(graph);
    expect(withInput(graph, "99", "width", 1)).toBe(graph);
  });

  it("never changes a field's type", () => {
    const builder = createFormBuilder(graph, sortTopologically(graph));
    const clearedForm = builder(withInput(graph, "1", "width", ""));
    expect(getControl(clearedForm, "1", "width")?.kind).toBe("number");
    expect(clearedForm[0]?.fields[0]?.value).toBe("");
  });
});

it("shows long text in a large field", () => {
  const inputs = { string_a: "x".repeat(1000), string_b: "short", delimiter: "" };
  const required = Object.fromEntries(Object.keys(inputs).map((name) => [name, ["STRING", {}]]));
  const info = objectInfoSchema.parse({ StringConcatenate: { input: { required } } });
  const [node] = buildForm({ "1": { class_type: "StringConcatenate", inputs } }, info);
  expect(node?.fields.map(({ control }) => control.kind)).toEqual(["long-text", "text", "text"]);
});

it("keeps a 64-bit seed and its range exact in a number field", () => {
  const graph = { "1": { class_type: "Noise", inputs: { noise_seed: 18446744073709551615n } } };
  expect(createFormBuilder(graph, ["1"])(graph)[0]?.fields[0]?.control).toEqual({ kind: "number", integer: true });
  const spec = readInputSpec("noise_seed", ["INT", { min: 0, max: 18446744073709551615n }]);
  expect(spec).toMatchObject({ kind: "number", max: 18446744073709551615n });
});

describe("fill texts", () => {
  const catalogue: ObjectInfo = { Encode: { input: { required: { text: ["STRING", { dynamicPrompts: true }], note: ["STRING", {}] } } } };
  const date = new Date(2026, 2, 5, 7, 8, 9);
  const createSaveGraph = (filename_prefix: string, class_type = "SaveImage"): Graph => ({
    "1": { class_type, inputs: { filename_prefix } },
    "2": { class_type: "KSampler", inputs: { seed: 42, sampler_name: "a/b", model: ["3", 0] }, _meta: { title: "Mine" } },
  });
  const fillPrefix = (text: string, class_type?: string) =>
    fillTexts(createSaveGraph(text, class_type), catalogue, { at: date, draw: 1 })[0]?.text;
  const fillPrompt = (text: string, draw = 1, name = "text") =>
    fillTexts({ "1": { class_type: "Encode", inputs: { [name]: text } } }, catalogue, { at: date, draw })[0]?.text;

  test("fills in date and node values and keeps server placeholders", () => {
    expect(fillPrefix("%date:yyyy-MM-dd%/%date:hhmmss%_%date:d.M%")).toBe("2026-03-05/070809_%date:d.M%");
    expect(fillPrefix("%date:yy-M-d%")).toBe("26-3-5");
    expect(fillPrefix("%KSampler.seed%-%Mine.sampler_name%")).toBe("42-a_b");
    for (const text of ["%width%x%height%", "%year%", "%Nobody.seed%", "%KSampler.model%", "plain"])
      expect(fillPrefix(text)).toBeUndefined();
    expect(fillPrefix("%date:yyyy%", "PreviewImage")).toBeUndefined();
  });

  test("picks one alternative per draw and eventually covers all", () => {
    expect(fillPrompt("a {red|blue} cat", 3)).toBe(fillPrompt("a {red|blue} cat", 3));
    const texts = new Set(Array.from({ length: 40 }, (_, draw) => fillPrompt("{red|{dark|light} blue}", draw)));
    expect([...texts].sort()).toEqual(["dark blue", "light blue", "red"]);
    expect(fillPrompt("one /* not this */two // nor this\nthree")).toBe("one two \nthree");
    expect(fillPrompt("a \\{b\\|c\\}")).toBe("a {b|c}");
    expect(fillPrompt("a \\\\{b} \\(c\\) \\")).toBe("a \\\\b \\(c\\) \\");
    expect(fillPrompt("{a|b}", 1, "note")).toBeUndefined();
  });

  test("replaces only the filled texts in the graph", () => {
    const graph = createSaveGraph("%date:yyyy%");
    const texts = fillTexts(graph, catalogue, { at: date, draw: 1 });
    expect(replaceTexts(graph, texts)).toEqual({ ...graph, "1": { class_type: "SaveImage", inputs: { filename_prefix: "2026" } } });
    expect(replaceTexts(graph, [])).toBe(graph);
  });

  test("uses the editor file's names and the form's values", () => {
    const info = objectInfoSchema.parse({
      Sampler: { input: { required: { steps: ["INT", { default: 1 }] } }, output: [] },
      SaveImage: { input: { required: { filename_prefix: ["STRING", {}] } }, output: [] },
    });
    const createSampler = (id: number, name: string, steps: number) => ({
      id,
      type: "Sampler",
      properties: { "Node name for S&R": name },
      widgets_values: [steps],
    });
    const text = "%Fine.steps%";
    const file = {
      nodes: [createSampler(1, "Sampler", 5), createSampler(2, "Fine", 6), { id: 3, type: "SaveImage", widgets_values: [text] }],
      links: [],
    };
    const graph = {
      "1": { class_type: "Sampler", inputs: { steps: 5 } },
      "2": { class_type: "Sampler", inputs: { steps: 7 } },
      "3": { class_type: "SaveImage", inputs: { filename_prefix: text } },
    };
    const { applyValues } = createEditableFile(file, info);
    expect(fillTexts(graph, info, { at: date, draw: 1 }, (currentGraph) => applyValues(currentGraph).findWidgetValue)).toEqual([
      { nodeId: "3", name: "filename_prefix", text: "7" },
    ]);
    expect(fillTexts(graph, info, { at: date, draw: 1 })).toEqual([]);
  });
});

function readRefusal(name: string) {
  const refusal = readRecordedRefusals()[name];
  if (!refusal) throw new Error(`tests/fixtures/golden/refusals.json has no case "${name}".`);
  const { prompt, answer } = refusal;
  return { prompt, failure: parseFailure({ status: 400 }, JSON.stringify(answer.error)) };
}

describe("node_errors on the form", () => {
  const { prompt, failure } = readRefusal("bad-graph");
  const form = createFormBuilder(prompt, sortTopologically(prompt), readCatalogueFixture())(prompt);

  it("appear at the fields they refer to, the first one in form order", () => {
    const { byNode, first, nodeCount } = placeProblems(form, failure.nodeErrors ?? {});
    expect([first, nodeCount]).toEqual([{ nodeId: "1", field: "width" }, 3]);
    expect(Object.keys(byNode).toSorted()).toEqual(["1", "2", "4"]);
    expect(Object.keys(byNode["1"]?.fields ?? {})).toEqual(["width", "height"]);
    expect(byNode["4"]?.fields.images?.[0]?.type).toBe("required_input_missing");
    const [width, mode] = [byNode["1"]?.fields.width?.[0], byNode["2"]?.fields.blend_mode?.[0]];
    expect(width && toProblemMessage(width)).toEqual({ key: "value_smaller_than_min", values: { received: "-5", min: 1 } });
    expect(mode && toProblemMessage(mode)).toEqual({ key: "value_not_in_list", values: { received: "sparkle" } });
  });

  it("appear at the node or the form when the field or node is unknown", () => {
    const error = { type: "new_kind", message: "Too hot", details: "inside", extra_info: { input_name: "gone" } };
    const entry = { class_type: "X", dependent_outputs: [], errors: [error] };
    const unknownFieldProblems = placeProblems(form, { "3": entry, "77": entry });
    expect(unknownFieldProblems.byNode["3"]?.node.map(({ type }) => type)).toEqual(["new_kind"]);
    expect(unknownFieldProblems.unplaced.map(({ nodeId }) => nodeId)).toEqual(["77"]);
    expect(unknownFieldProblems.first).toEqual({ nodeId: "3" });
    expect(toProblemMessage({ type: "new_kind", message: "Too hot", details: "inside", extra: {} })).toEqual({
      key: "otherWithDetails",
      values: { message: "Too hot", details: "inside" },
    });
  });

  it("report a cycle as a path on each of its nodes", () => {
    const { prompt, failure } = readRefusal("cycle");
    const cyclicForm = createFormBuilder(prompt, Object.keys(prompt), readCatalogueFixture())(prompt);
    const problem = placeProblems(cyclicForm, failure.nodeErrors ?? {}).byNode["1"]?.node[0];
    expect(problem && toProblemMessage(problem).key).toBe("dependency_cycle");
  });
});

it("highlights every node of a missing class, but of no other error", () => {
  const { prompt, failure } = readRefusal("unknown-class");
  const errors = findMissingClassErrors({ ...prompt, "9": { class_type: "NoSuchNode", inputs: {} } }, failure);
  expect(Object.keys(errors ?? {})).toEqual(["1", "9"]);
  expect(errors?.["1"]?.errors[0]?.extra_info.class_type).toBe("NoSuchNode");
  // A service may name only the class.
  const byName = findMissingClassErrors(prompt, { code: "missing_node_type", message: "Node 'NoSuchNode' not found.", status: 400 });
  expect(Object.keys(byName ?? {})).toEqual(["1"]);
  expect(findMissingClassErrors(prompt, { code: "prompt_no_outputs", message: "Prompt has no outputs", status: 400 })).toBeUndefined();
});
