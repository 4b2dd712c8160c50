// Dynamic choices, growing lists, and values missing from their list.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { createValueChecker, findMissingInputs } from "@/components/run/form/checks";
import { createFormBuilder, withInput } from "@/components/run/form/form-model";
import { findMissingClassErrors, placeProblems } from "@/components/run/form/problems";
import { createRunStore } from "@/components/run/run-store";
import { openWorkflow } from "@/components/run/workflow/open-workflow";
import { removeSecrets } from "@/components/run/workflow/workflow-contents";
import { getOwn } from "@/lib/contract/json/json";
import { findNearestOption } from "@/lib/contract/nodes/input-spec";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo, objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { findWorkflowSecrets, readSecretLocations } from "@/lib/contract/secrets/secret-locations";

const createSizeInput = (name: string) => ({ [name]: ["INT", { default: 512, min: 1, max: 4096 }] });
const catalogue: ObjectInfo = {
  Resize: {
    output_node: true,
    input: {
      required: {
        input: ["COMFY_MATCHTYPE_V3", { template: { template_id: "t", allowed_types: "IMAGE,MASK" } }],
        resize_type: [
          "COMFY_DYNAMICCOMBO_V3",
          {
            options: [
              { key: "dimensions", inputs: { required: { ...createSizeInput("width"), ...createSizeInput("height") } } },
              { key: "longer", inputs: { required: createSizeInput("longer_size") } },
              { key: "width", inputs: { required: createSizeInput("width") } },
            ],
          },
        ],
        method: ["COMBO", { options: ["area", "bilinear", "lanczos"] }],
        fill: ["COLOR", { default: "#ffffff" }],
        crop: ["BOUNDING_BOX", {}],
      },
    },
  },
  Batch: {
    input: {
      required: {
        images: ["COMFY_AUTOGROW_V3", { template: { input: { required: { image: ["IMAGE", {}] } }, prefix: "image", min: 2, max: 5 } }],
        words: ["COMFY_AUTOGROW_V3", { template: { input: { required: { word: ["STRING", {}] } }, names: ["a", "b"], min: 0 } }],
      },
    },
  },
  LoadVideo: { input: { required: { file: ["COMBO", { options: ["a.mp4"], video_upload: true }] } } },
  LoadImage: { input: { required: { image: [["one.png", "two.png"], { image_upload: true }] } } },
};
const graph: Graph = {
  "1": {
    class_type: "Resize",
    inputs: {
      input: ["2", 0],
      resize_type: "dimensions",
      "resize_type.width": 640,
      "resize_type.height": 480,
      method: "Bilinar",
      fill: "#102030",
      crop: { x: 1, y: 2, width: 3, height: 4 },
    },
  },
  "2": { class_type: "Batch", inputs: { "images.image0": ["3", 0], "images.image1": ["3", 0], "words.a": "one" } },
  "3": { class_type: "LoadImage", inputs: { image: "one.png" } },
  "4": { class_type: "LoadVideo", inputs: { file: "mine.mp4" } },
};
const order = Object.keys(graph);
const getFields = (currentGraph: Graph, id: string) =>
  createFormBuilder(graph, order, catalogue)(currentGraph).find((node) => node.id === id)?.fields ?? [];
const getFieldKinds = (currentGraph: Graph, id: string) => getFields(currentGraph, id).map(({ name, control }) => [name, control.kind]);

function createOpenStore() {
  const store = createRunStore();
  store.open({ graph, order, workflowId: "w", name: "w" });
  return store;
}

describe("a dynamic choice", () => {
  it("shows the chosen option's inputs under their API names", () => {
    expect(getFieldKinds(graph, "1")).toEqual([
      ["input", "link"],
      ["resize_type", "choice"],
      ["resize_type.width", "number"],
      ["resize_type.height", "number"],
      ["method", "choice"],
      ["fill", "hex-color"],
      ["crop", "box"],
    ]);
  });

  it("replaces its inputs and keeps shared values when the option changes", () => {
    const choose = (store: ReturnType<typeof createOpenStore>, value: string) => {
      store.edit(1, { nodeId: "1", name: "resize_type", value }, catalogue);
      return store.get();
    };
    const longer = choose(createOpenStore(), "longer").openWorkflow?.graph ?? {};
    expect(Object.keys(longer["1"]?.inputs ?? {})).toEqual(["input", "resize_type", "resize_type.longer_size", "method", "fill", "crop"]);
    expect(longer["1"]?.inputs["resize_type.longer_size"]).toBe(512);
    expect(getFieldKinds(longer, "1")).toContainEqual(["resize_type.longer_size", "number"]);
    const width = choose(createOpenStore(), "width").openWorkflow?.graph ?? {};
    expect(width["1"]?.inputs).toMatchObject({ resize_type: "width", "resize_type.width": 640 });
    expect(width["1"]?.inputs).not.toHaveProperty(["resize_type.height"]);
  });

  it("checks only the chosen option's inputs", () => {
    const outOfRangeGraph = {
      ...graph,
      "1": { class_type: "Resize", inputs: { ...graph["1"]?.inputs, "resize_type.width": 9999, method: "area" } },
    };
    expect(createValueChecker(outOfRangeGraph, ["1"], catalogue)(outOfRangeGraph)["1"]?.errors).toMatchObject([
      { type: "value_bigger_than_max", extra_info: { input_name: "resize_type.width" } },
    ]);
    const { "resize_type.height": _, ...remainingInputs } = graph["1"]?.inputs ?? {};
    const incompleteGraph = { ...graph, "1": { class_type: "Resize", inputs: remainingInputs } };
    expect(findMissingInputs(incompleteGraph, ["1"], catalogue)["1"]?.errors).toMatchObject([
      { extra_info: { input_name: "resize_type.height" } },
    ]);
  });
});

describe("a growing list", () => {
  it("shows its items, and the next slot when it accepts a literal", () => {
    expect(getFieldKinds(graph, "2")).toEqual([
      ["images.image0", "link"],
      ["images.image1", "link"],
      ["words.a", "text"],
      ["words.b", "text"],
    ]);
  });
});

describe("a value missing from its list", () => {
  it("is reported for an empty list unless the list is loaded remotely", () => {
    const catalogueWithEmptyLists = objectInfoSchema.parse({
      Load: { input: { required: { name: [[]], other: ["COMBO", {}], far: ["COMBO", { remote: { route: "/x" } }] } }, output: [] },
    });
    const graphWithMissingValues = { "1": { class_type: "Load", inputs: { name: "a.safetensors", other: "b", far: "c" } } };
    expect(createValueChecker(graphWithMissingValues, ["1"], catalogueWithEmptyLists)(graphWithMissingValues)["1"]?.errors).toMatchObject([
      { type: "value_not_in_list", extra_info: { input_name: "name" } },
      { type: "value_not_in_list", extra_info: { input_name: "other" } },
    ]);
  });

  it("is not an error for a file input, because the list may be outdated", () => {
    expect(createValueChecker(graph, ["4"], catalogue)(graph)).toEqual({});
    expect(getFields(graph, "4")[0]?.control).toEqual({ kind: "media", media: "video", options: ["a.mp4"] });
    expect(getFields(graph, "3")[0]?.control).toEqual({ kind: "image", options: ["one.png", "two.png"] });
  });

  it("suggests the nearest name regardless of folder, case or extension", () => {
    const models = ["sdxl/Base_1.0.safetensors", "flux-dev.safetensors"];
    expect(findNearestOption("base_1.0.ckpt", models)).toBe(models[0]);
    expect(findNearestOption("flux_dev", models)).toBe(models[1]);
    expect(findNearestOption("entirely other", ["euler"])).toBeUndefined();
  });
});

const inheritedNames = ["__proto__", ...Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== "__proto__")];
const nameArbitrary = fc.constantFrom(...inheritedNames, "1", "image");

function openFile(id: string, classType: string, input: string) {
  const nodes = [
    [id, { class_type: classType, inputs: Object.fromEntries([[input, "text"]]) }],
    ["last", { class_type: "SaveImage", inputs: { images: [id, 0] } }],
  ];
  const workflowResult = openWorkflow(JSON.stringify(Object.fromEntries(nodes)), "file.json");
  if (!workflowResult.ok) throw new Error(`The workflow was rejected: ${workflowResult.failure.reason.code}`);
  return workflowResult.value;
}

const createErrors = (id: string, classType: string, input: string): NodeErrors =>
  Object.fromEntries([
    [
      id,
      {
        class_type: classType,
        dependent_outputs: [],
        errors: [{ type: "value_not_in_list", message: "", details: "", extra_info: { input_name: input } }],
      },
    ],
  ]);

describe("names inherited from Object.prototype", () => {
  it("can be opened and edited, and can have errors", () => {
    fc.assert(
      fc.property(nameArbitrary, nameArbitrary, nameArbitrary, fc.boolean(), (id, classType, input, hasCatalogue) => {
        const file = openFile(id, classType, input);
        const form = createFormBuilder(file.graph, file.order, hasCatalogue ? {} : undefined)(file.graph);
        expect(form.map((node) => node.id)).toEqual([id, "last"]);
        expect(form[0]?.title).toBe(classType);
        expect(form[0]?.isKnown).toBe(!hasCatalogue);
        expect(form[0]?.fields.map(({ name, value }) => [name, value])).toEqual([[input, "text"]]);
        expect(form[1]?.fields[0]?.control).toMatchObject({ kind: "link", fromId: id, fromTitle: classType });

        expect(placeProblems(form, {})).toEqual({ byNode: {}, unplaced: [], nodeCount: 0 });
        const problems = placeProblems(form, createErrors(id, classType, input));
        expect(problems).toMatchObject({ unplaced: [], first: { nodeId: id, field: input }, nodeCount: 1 });
        expect(getOwn(getOwn(problems.byNode, id)?.fields, input)).toHaveLength(1);

        const store = createRunStore();
        store.open(file);
        store.edit(1, { nodeId: id, name: input, value: 7 });
        const state = store.get();
        expect(getOwn(getOwn(state.openWorkflow?.graph, id)?.inputs, input)).toBe(7);
        expect(Object.keys(state.openWorkflow?.graph ?? {})).toEqual(Object.keys(file.graph));
      }),
    );
  });

  it("are not found when the graph doesn't contain them", () => {
    const { graph } = openFile("1", "X", "text");
    for (const name of inheritedNames) {
      expect(withInput(graph, name, "text", 1)).toBe(graph);
      expect(
        findMissingClassErrors(graph, { code: "missing_node_type", message: "", details: { node_id: name }, status: 400 }),
      ).toBeUndefined();
    }
  });

  it("become an empty field when required but missing", () => {
    for (const name of inheritedNames) {
      const { graph, order } = openFile("1", "X", "other");
      const info = { X: { input: { required: Object.fromEntries([[name, ["STRING", {}]]]) } } };
      const field = createFormBuilder(graph, order, info)(graph)[0]?.fields.find((candidate) => candidate.name === name);
      expect(field).toEqual({ name, value: undefined, control: { kind: "text" } });
    }
  });
});

const createNode = (inputs: Record<string, unknown>) => ({ class_type: "Any", inputs });

test("opens masked inputs empty and drops masked fields", () => {
  const workflow = {
    prompt: { "1": createNode({ api_key: "[REDACTED]", text: "see https://x.test/?token=[REDACTED]", seed: 4 }) },
    extra_data: { api_key_partner: "[REDACTED]", extra_pnginfo: { workflow: { nodes: [{ widgets_values: ["[REDACTED]", 1] }] } } },
  };
  const secretPlaces = findWorkflowSecrets(workflow);
  const workflowResult = openWorkflow(JSON.stringify(workflow), undefined, { leavesOut: secretPlaces });
  expect(workflowResult.ok && workflowResult.value.graph["1"]?.inputs).toEqual({
    api_key: "",
    text: "see https://x.test/?token=",
    seed: 4,
  });
  expect(workflowResult.ok && workflowResult.value.extraData).toEqual({
    extra_pnginfo: { workflow: { nodes: [{ widgets_values: ["", 1] }] } },
  });
  expect(JSON.stringify(workflowResult)).not.toContain("REDACTED");
});

test("removes secrets from input text and extra data", () => {
  const graph = { "1": createNode({ a: "before sk-0123456789abcdefghij after", b: "plain", c: "kept" }) };
  const expectedPlaces = ["a", "b"].map((input) => ({ kind: "input" as const, node_id: "1", node: "Any", input }));
  const remaining = removeSecrets({ graph, extraData: { token: "t", deep: { secret: "s", steps: 1 } } }, [
    ...expectedPlaces,
    { kind: "extra", path: ["token"] },
    { kind: "extra", path: ["deep", "secret"] },
    { kind: "error" },
  ]);
  expect(remaining).toEqual({ graph: { "1": createNode({ a: "before  after", b: "", c: "kept" }) }, extraData: { deep: { steps: 1 } } });
});

test("ignores malformed secret locations", () => {
  expect(readSecretLocations([{ kind: "input" }, { kind: "else" }, 5, { kind: "extra", path: "a" }, { kind: "error" }])).toEqual([
    { kind: "error" },
  ]);
  expect(readSecretLocations("no list")).toEqual([]);
});
