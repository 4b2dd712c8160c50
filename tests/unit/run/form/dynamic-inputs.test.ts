// Inputs that depend on a choice, lists that grow, and values that a list lacks: the form shows what the graph contains.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { missingInputs, valueChecker } from "@/components/run/form/checks";
import { formBuilder, withInput } from "@/components/run/form/form-model";
import { missingClassErrors, placeProblems } from "@/components/run/form/problems";
import { createRunStore } from "@/components/run/run-store";
import { openWorkflow } from "@/components/run/workflow/open-workflow";
import { removeSecrets } from "@/components/run/workflow/workflow-contents";
import { getOwn } from "@/lib/contract/json/json";
import { findNearestOption } from "@/lib/contract/nodes/input-spec";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo, objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { findWorkflowSecrets, readSecretPlaces } from "@/lib/contract/secrets/secret-places";

const size = (name: string) => ({ [name]: ["INT", { default: 512, min: 1, max: 4096 }] });
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
              { key: "dimensions", inputs: { required: { ...size("width"), ...size("height") } } },
              { key: "longer", inputs: { required: size("longer_size") } },
              { key: "width", inputs: { required: size("width") } },
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
const getFields = (now: Graph, id: string) => formBuilder(graph, order, catalogue)(now).find((node) => node.id === id)?.fields ?? [];
const fieldNames = (now: Graph, id: string) => getFields(now, id).map(({ name, control }) => [name, control.kind]);

function openedStore() {
  const store = createRunStore();
  store.open({ graph, order, workflowId: "w", name: "w" });
  return store;
}

describe("a choice with inputs of its own", () => {
  it("shows the chosen option's inputs under API names", () => {
    expect(fieldNames(graph, "1")).toEqual([
      ["input", "link"],
      ["resize_type", "choice"],
      ["resize_type.width", "number"],
      ["resize_type.height", "number"],
      ["method", "choice"],
      ["fill", "hex-color"],
      ["crop", "box"],
    ]);
  });

  it("swaps the inputs, keeps shared values and drops the rest", () => {
    const choose = (store: ReturnType<typeof openedStore>, value: string) => {
      store.edit(1, { nodeId: "1", name: "resize_type", value }, catalogue);
      return store.get();
    };
    const longer = choose(openedStore(), "longer").openWorkflow?.graph ?? {};
    expect(Object.keys(longer["1"]?.inputs ?? {})).toEqual(["input", "resize_type", "resize_type.longer_size", "method", "fill", "crop"]);
    expect(longer["1"]?.inputs["resize_type.longer_size"]).toBe(512);
    expect(fieldNames(longer, "1")).toContainEqual(["resize_type.longer_size", "number"]);
    const width = choose(openedStore(), "width").openWorkflow?.graph ?? {};
    expect(width["1"]?.inputs).toMatchObject({ resize_type: "width", "resize_type.width": 640 });
    expect(width["1"]?.inputs).not.toHaveProperty(["resize_type.height"]);
  });

  it("is judged by the choice's own inputs", () => {
    const far = { ...graph, "1": { class_type: "Resize", inputs: { ...graph["1"]?.inputs, "resize_type.width": 9999, method: "area" } } };
    expect(valueChecker(far, ["1"], catalogue)(far)["1"]?.errors).toMatchObject([
      { type: "value_bigger_than_max", extra_info: { input_name: "resize_type.width" } },
    ]);
    const { "resize_type.height": _, ...rest } = graph["1"]?.inputs ?? {};
    const short = { ...graph, "1": { class_type: "Resize", inputs: rest } };
    expect(missingInputs(short, ["1"], catalogue)["1"]?.errors).toMatchObject([{ extra_info: { input_name: "resize_type.height" } }]);
  });
});

describe("a growing list", () => {
  it("shows its items and the next slot when a form can fill it", () => {
    expect(fieldNames(graph, "2")).toEqual([
      ["images.image0", "link"],
      ["images.image1", "link"],
      ["words.a", "text"],
      ["words.b", "text"],
    ]);
  });
});

describe("a value missing from its list", () => {
  it("is shown before anything is sent, with the nearest one", () => {
    expect(valueChecker(graph, ["1"], catalogue)(graph)["1"]?.errors).toMatchObject([
      { type: "value_not_in_list", extra_info: { input_name: "method", received_value: "Bilinar", nearest: "bilinear" } },
    ]);
  });

  it("is shown for an empty list unless the list is partial", () => {
    const empty = objectInfoSchema.parse({
      Load: { input: { required: { name: [[]], other: ["COMBO", {}], far: ["COMBO", { remote: { route: "/x" } }] } }, output: [] },
    });
    const loading = { "1": { class_type: "Load", inputs: { name: "a.safetensors", other: "b", far: "c" } } };
    expect(valueChecker(loading, ["1"], empty)(loading)["1"]?.errors).toMatchObject([
      { type: "value_not_in_list", extra_info: { input_name: "name" } },
      { type: "value_not_in_list", extra_info: { input_name: "other" } },
    ]);
  });

  it("is marked but not a fault, since the file may have been added", () => {
    expect(valueChecker(graph, ["4"], catalogue)(graph)).toEqual({});
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

const inherited = ["__proto__", ...Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== "__proto__")];
const word = fc.constantFrom(...inherited, "1", "image");

function open(id: string, classType: string, input: string) {
  const nodes = [
    [id, { class_type: classType, inputs: Object.fromEntries([[input, "text"]]) }],
    ["last", { class_type: "SaveImage", inputs: { images: [id, 0] } }],
  ];
  const workflowResult = openWorkflow(JSON.stringify(Object.fromEntries(nodes)), "file.json");
  if (!workflowResult.ok) throw new Error(`refused: ${workflowResult.failure.reason.code}`);
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

describe("names inherited by every object", () => {
  it("opens, is edited and shows errors like any other", () => {
    fc.assert(
      fc.property(word, word, word, fc.boolean(), (id, classType, input, hasCatalogue) => {
        const file = open(id, classType, input);
        const form = formBuilder(file.graph, file.order, hasCatalogue ? {} : undefined)(file.graph);
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
        const typed = store.get();
        expect(getOwn(getOwn(typed.openWorkflow?.graph, id)?.inputs, input)).toBe(7);
        expect(Object.keys(typed.openWorkflow?.graph ?? {})).toEqual(Object.keys(file.graph));
      }),
    );
  });

  it("is not found when the graph lacks it", () => {
    const { graph } = open("1", "X", "text");
    for (const name of inherited) {
      expect(withInput(graph, name, "text", 1)).toBe(graph);
      expect(
        missingClassErrors(graph, { code: "missing_node_type", message: "", details: { node_id: name }, status: 400 }),
      ).toBeUndefined();
    }
  });

  it("is an empty field when required but missing", () => {
    for (const name of inherited) {
      const { graph, order } = open("1", "X", "other");
      const info = { X: { input: { required: Object.fromEntries([[name, ["STRING", {}]]]) } } };
      const field = formBuilder(graph, order, info)(graph)[0]?.fields.find((each) => each.name === name);
      expect(field).toEqual({ name, value: undefined, control: { kind: "text" } });
    }
  });
});

const node = (inputs: Record<string, unknown>) => ({ class_type: "Any", inputs });

test("opens masked inputs empty and drops masked fields", () => {
  const workflow = {
    prompt: { "1": node({ api_key: "[REDACTED]", text: "see https://x.test/?token=[REDACTED]", seed: 4 }) },
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

test("removes a key from typed text, also one without a known shape", () => {
  const graph = { "1": node({ a: "before sk-0123456789abcdefghij after", b: "plain", c: "kept" }) };
  const expectedPlaces = ["a", "b"].map((input) => ({ kind: "input" as const, node_id: "1", node: "Any", input }));
  const remaining = removeSecrets({ graph, extraData: { token: "t", deep: { secret: "s", steps: 1 } } }, [
    ...expectedPlaces,
    { kind: "extra", path: ["token"] },
    { kind: "extra", path: ["deep", "secret"] },
    { kind: "error" },
  ]);
  expect(remaining).toEqual({ graph: { "1": node({ a: "before  after", b: "", c: "kept" }) }, extraData: { deep: { steps: 1 } } });
});

test("ignores made-up places", () => {
  expect(readSecretPlaces([{ kind: "input" }, { kind: "else" }, 5, { kind: "extra", path: "a" }, { kind: "error" }])).toEqual([
    { kind: "error" },
  ]);
  expect(readSecretPlaces("no list")).toEqual([]);
});
