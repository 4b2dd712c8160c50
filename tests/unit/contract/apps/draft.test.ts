// Drafts of apps, created from a workflow's pinned inputs or from the editor's App mode.
import { expect, it } from "vitest";
import { appDefinitionSchema } from "@/lib/contract/apps/app";
import { createAppDraft, readAppMode } from "@/lib/contract/apps/draft";
import { fillApp } from "@/lib/contract/apps/fill";

const graph = {
  "1": { class_type: "LoadImage", inputs: { image: "old.png" } },
  "2": { class_type: "KSampler", inputs: { seed: 18446744073709551615n, steps: 20, cfg: 7.5, sampler_name: "euler", image: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "out" }, _meta: { title: "Result" } },
};

it("imports App mode inputs and skips links and missing widgets", () => {
  const editor = {
    nodes: [],
    extra: { linearData: { inputs: [[1, "image"], [2, "seed", { height: 3 }], [2, "image"], [7, "x"], "odd"], outputs: [3, 9] } },
  };
  expect(readAppMode(editor)?.outputs).toEqual(["3", "9"]);
  const draft = createAppDraft({ graph, editor, title: "  Sharpen\n it " });
  expect(draft).toMatchObject({
    title: "Sharpen it",
    inputs: [
      { name: "image", node: "1", control: { kind: "picture" }, isRequired: true },
      { name: "seed", control: { kind: "seed" } },
    ],
    outputs: [{ node: "3", label: "Result" }],
  });
  expect(appDefinitionSchema.safeParse(draft).success).toBe(true);
});

const SUBGRAPH_ID = "0a0a0a0a-0000-4000-8000-000000000001";
const createWidgetNode = (id: number, type: string, name: string, link: number, overrides: object = {}) => ({
  id,
  type,
  inputs: [{ name, link, widget: { name } }],
  ...overrides,
});
const createInputLink = (id: number, target_id: number) => ({ id, origin_id: -10, origin_slot: 0, target_id, target_slot: 0 });
/** An editor file whose App mode lists `inputs` as pairs of node id and name. */
const createEditor = (nodes: object[], inputs: [number, string][], overrides: object = {}) => ({
  nodes,
  links: [],
  extra: { linearData: { inputs, outputs: [] } },
  ...overrides,
});
const createDefinitions = (nodes: object[], inputs: object[], links: object[]) => ({
  definitions: { subgraphs: [{ id: SUBGRAPH_ID, name: "Soft", inputs, outputs: [], nodes, links }] },
});
const blur = { class_type: "Blur", inputs: { sigma: 1.5 } };

it("creates one input for a shared widget and sets every linked input", () => {
  const innerNodes = [
    createWidgetNode(11, "Blur", "sigma", 1),
    createWidgetNode(12, "Blur", "sigma", 2),
    { id: 13, type: "Blur", widgets_values: [2] },
  ];
  const nodes = [
    { id: 5, type: SUBGRAPH_ID, inputs: [{ name: "amount", widget: { name: "amount" } }], properties: { proxyWidgets: [["13", "sigma"]] } },
    { id: 6, type: "PrimitiveNode", outputs: [{ name: "n", type: "FLOAT" }], widgets_values: [3] },
    createWidgetNode(7, "Blur", "sigma", 9),
  ];
  const inputs: [number, string][] = [
    [5, "amount"],
    [5, "sigma"],
    [6, "value"],
    [7, "sigma"],
  ];
  const editor = createEditor(nodes, inputs, {
    links: [[9, 6, 0, 7, 0, "FLOAT"]],
    ...createDefinitions(innerNodes, [{ name: "amount", linkIds: [1, 2] }], [createInputLink(1, 11), createInputLink(2, 12)]),
  });
  const flat = { "5:11": blur, "5:12": blur, "5:13": blur, "7": blur };
  const draft = appDefinitionSchema.parse(createAppDraft({ graph: flat, editor, title: "Soft" }));
  expect(draft.inputs.map(({ label, node, input, also }) => ({ label, node, input, also }))).toEqual([
    { label: "Amount", node: "5:11", input: "sigma", also: [{ node: "5:12", input: "sigma" }] },
    { label: "Sigma", node: "5:13", input: "sigma", also: undefined },
    { label: "Sigma", node: "7", input: "sigma", also: undefined },
  ]);
  const filled = fillApp(draft, { amount: 4 });
  const sigmas = filled.ok ? Object.entries(filled.graph).map(([node, { inputs }]) => [node, inputs.sigma]) : [];
  expect(Object.fromEntries(sigmas)).toEqual({ "5:11": 4, "5:12": 4, "5:13": 1.5, "7": 1.5 });
});

it("finds inputs inside a subgraph when its node ids are renumbered", () => {
  const innerNodes = [
    { id: 5, type: "Blur", widgets_values: [1.5] },
    { id: 8, type: "SaveImage", widgets_values: ["out"] },
  ];
  // The inner node also has the id 5, so it becomes 21.
  const editor = createEditor([{ id: 5, type: SUBGRAPH_ID, properties: { proxyWidgets: [["5", "sigma"]] } }], [], {
    last_node_id: 20,
    ...createDefinitions(innerNodes, [], []),
    extra: {
      linearData: {
        inputs: [
          [5, "sigma"],
          [8, "filename_prefix"],
        ],
        outputs: [8],
      },
    },
  });
  const flat = { "5:21": blur, "5:8": { class_type: "SaveImage", inputs: { filename_prefix: "out" } } };
  const { inputs, outputs } = appDefinitionSchema.parse(createAppDraft({ graph: flat, editor, title: "Soft" }));
  expect(inputs.map(({ node, input }) => `${node} ${input}`)).toEqual(["5:21 sigma", "5:8 filename_prefix"]);
  expect(outputs.map(({ node }) => node)).toEqual(["5:8"]);
});

it("omits keys and repeated inputs when links form a loop", () => {
  const nodes = [
    { id: 1, type: "PrimitiveNode", inputs: [{ name: "n", link: 9 }], outputs: [{ name: "n", type: "STRING" }], widgets_values: ["x"] },
    createWidgetNode(2, "Ask", "text", 7, { widgets_values: ["x"] }),
    createWidgetNode(3, "Ask", "api_key", 8, { widgets_values: ["x"] }),
  ];
  const links = [
    [7, 1, 0, 2, 0, "STRING"],
    [8, 1, 0, 3, 0, "STRING"],
    [9, 1, 0, 1, 0, "STRING"],
  ];
  const editor = createEditor(nodes, [[1, "value"]], { links });
  const promptGraph = { "2": { class_type: "Ask", inputs: { text: "x" } }, "3": { class_type: "Ask", inputs: { api_key: "x" } } };
  const { inputs } = appDefinitionSchema.parse(createAppDraft({ graph: promptGraph, editor, title: "Ask" }));
  expect(inputs.map(({ node, input, also }) => ({ node, input, also }))).toEqual([{ node: "2", input: "text", also: undefined }]);
});

it("returns no inputs when a subgraph contains itself", () => {
  const innerNodes = [createWidgetNode(11, SUBGRAPH_ID, "amount", 1), createWidgetNode(12, SUBGRAPH_ID, "amount", 2)];
  const editor = createEditor(
    [{ id: 5, type: SUBGRAPH_ID, inputs: [{ name: "amount", widget: { name: "amount" } }] }],
    [[5, "amount"]],
    createDefinitions(innerNodes, [{ name: "amount", linkIds: [1, 2] }], [createInputLink(1, 11), createInputLink(2, 12)]),
  );
  expect(createAppDraft({ graph, editor, title: "Endless" }).inputs).toEqual([]);
});

it("uses long text fields for prompts and long texts without a catalogue", () => {
  const promptGraph = { "1": { class_type: "Ask", inputs: { prompt: "a fox", name: "fox", note: "x".repeat(80), count: 3, on: true } } };
  const pins = Object.keys(promptGraph["1"].inputs).map((input) => ({ node: "1", input }));
  const { inputs } = appDefinitionSchema.parse(createAppDraft({ graph: promptGraph, title: "Ask", pins }));
  expect(Object.fromEntries(inputs.map(({ input, control }) => [input, control]))).toEqual({
    prompt: { kind: "text", isLong: true },
    name: { kind: "text", isLong: false },
    note: { kind: "text", isLong: true },
    count: { kind: "number", isWhole: false, isSlider: false },
    on: { kind: "switch" },
  });
});

it("adds pinned inputs with the service's ranges and omits keys", () => {
  const catalogue = {
    KSampler: {
      input: { required: { steps: ["INT", { min: 1, max: 100, step: 1 }], sampler_name: [["euler", "dpm"]], api_key: ["STRING", {}] } },
    },
  };
  const pins = ["steps", "sampler_name", "api_key"].map((name) => ({ node: "2", input: name }));
  const { inputs } = createAppDraft({ graph, title: "x", pins }, catalogue);
  expect(inputs).toMatchObject([
    { name: "steps", label: "Steps", control: { kind: "number", isWhole: true, min: 1, max: 100 }, default: 20 },
    { name: "sampler_name", control: { kind: "choice", choices: [{ value: "euler" }, { value: "dpm" }] }, default: "euler" },
  ]);
});

it.each([
  ["sigma_1", {}, "Sigma"],
  ["strength", {}, "Strength"],
  ["sigma_1", { label: "How soft" }, "How soft"],
])("labels a subgraph input by its outer name without a number: %s, %o", (name, overrides, label) => {
  const editor = createEditor(
    [{ id: 5, type: SUBGRAPH_ID, inputs: [{ name, widget: { name } }] }],
    [[5, name]],
    createDefinitions([createWidgetNode(11, "Blur", "sigma", 1)], [{ name, ...overrides, linkIds: [1] }], [createInputLink(1, 11)]),
  );
  expect(createAppDraft({ graph: { "5:11": blur }, editor, title: "Soft" }).inputs).toMatchObject([
    { node: "5:11", input: "sigma", label },
  ]);
});
