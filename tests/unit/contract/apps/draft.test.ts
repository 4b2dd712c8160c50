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

it("creates one input for a shared widget and sets every linked input", () => {
  const id = "0a0a0a0a-0000-4000-8000-000000000001";
  const createBlurNode = (node: number, link: number) => ({
    id: node,
    type: "Blur",
    inputs: [{ name: "sigma", link, widget: { name: "sigma" } }],
  });
  const createInputLink = (link: number, target: number) => ({
    id: link,
    origin_id: -10,
    origin_slot: 0,
    target_id: target,
    target_slot: 0,
  });
  const nodes = [createBlurNode(11, 1), createBlurNode(12, 2), { id: 13, type: "Blur", widgets_values: [2] }];
  const subgraph = {
    id,
    name: "Soft",
    inputs: [{ name: "amount", linkIds: [1, 2] }],
    outputs: [],
    nodes,
    links: [createInputLink(1, 11), createInputLink(2, 12)],
  };
  const editor = {
    nodes: [
      { id: 5, type: id, inputs: [{ name: "amount", widget: { name: "amount" } }], properties: { proxyWidgets: [["13", "sigma"]] } },
      { id: 6, type: "PrimitiveNode", outputs: [{ name: "n", type: "FLOAT" }], widgets_values: [3] },
      createBlurNode(7, 9),
    ],
    links: [[9, 6, 0, 7, 0, "FLOAT"]],
    definitions: { subgraphs: [subgraph] },
    extra: {
      linearData: {
        inputs: [
          [5, "amount"],
          [5, "sigma"],
          [6, "value"],
          [7, "sigma"],
        ],
        outputs: [],
      },
    },
  };
  const blur = { class_type: "Blur", inputs: { sigma: 1.5 } };
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
  const id = "0a0a0a0a-0000-4000-8000-000000000002";
  const nodes = [
    { id: 5, type: "Blur", widgets_values: [1.5] },
    { id: 8, type: "SaveImage", widgets_values: ["out"] },
  ];
  const editor = {
    last_node_id: 20,
    // The inner node also has the id 5, so it becomes 21.
    nodes: [{ id: 5, type: id, properties: { proxyWidgets: [["5", "sigma"]] } }],
    links: [],
    definitions: { subgraphs: [{ id, name: "Soft", inputs: [], outputs: [], nodes, links: [] }] },
    extra: {
      linearData: {
        inputs: [
          [5, "sigma"],
          [8, "filename_prefix"],
        ],
        outputs: [8],
      },
    },
  };
  const flat = {
    "5:21": { class_type: "Blur", inputs: { sigma: 1.5 } },
    "5:8": { class_type: "SaveImage", inputs: { filename_prefix: "out" } },
  };
  const { inputs, outputs } = appDefinitionSchema.parse(createAppDraft({ graph: flat, editor, title: "Soft" }));
  expect(inputs.map(({ node, input }) => `${node} ${input}`)).toEqual(["5:21 sigma", "5:8 filename_prefix"]);
  expect(outputs.map(({ node }) => node)).toEqual(["5:8"]);
});

it("omits keys and repeated inputs when links form a loop", () => {
  const createTextNode = (id: number, link: number, name: string) => ({
    id,
    type: "Ask",
    inputs: [{ name, link, widget: { name } }],
    widgets_values: ["x"],
  });
  const editor = {
    nodes: [
      { id: 1, type: "PrimitiveNode", inputs: [{ name: "n", link: 9 }], outputs: [{ name: "n", type: "STRING" }], widgets_values: ["x"] },
      createTextNode(2, 7, "text"),
      createTextNode(3, 8, "api_key"),
    ],
    links: [
      [7, 1, 0, 2, 0, "STRING"],
      [8, 1, 0, 3, 0, "STRING"],
      [9, 1, 0, 1, 0, "STRING"],
    ],
    extra: { linearData: { inputs: [[1, "value"]], outputs: [] } },
  };
  const promptGraph = { "2": { class_type: "Ask", inputs: { text: "x" } }, "3": { class_type: "Ask", inputs: { api_key: "x" } } };
  const { inputs } = appDefinitionSchema.parse(createAppDraft({ graph: promptGraph, editor, title: "Ask" }));
  expect(inputs.map(({ node, input, also }) => ({ node, input, also }))).toEqual([{ node: "2", input: "text", also: undefined }]);
});

it("returns no inputs when a subgraph contains itself", () => {
  const id = "0191c0de-0000-7000-8000-000000000002";
  const createSubgraphNode = (node: number, link: number) => ({
    id: node,
    type: id,
    inputs: [{ name: "amount", link, widget: { name: "amount" } }],
  });
  const createInputLink = (link: number, target: number) => ({
    id: link,
    origin_id: -10,
    origin_slot: 0,
    target_id: target,
    target_slot: 0,
  });
  const definition = {
    id,
    name: "Endless",
    inputs: [{ name: "amount", linkIds: [1, 2] }],
    outputs: [],
    nodes: [createSubgraphNode(11, 1), createSubgraphNode(12, 2)],
    links: [createInputLink(1, 11), createInputLink(2, 12)],
  };
  const editor = {
    nodes: [{ id: 5, type: id, inputs: [{ name: "amount", widget: { name: "amount" } }] }],
    links: [],
    definitions: { subgraphs: [definition] },
    extra: { linearData: { inputs: [[5, "amount"]], outputs: [] } },
  };
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
  ["sigma", {}, "Sigma"],
  ["sigma_1", {}, "Sigma"],
  ["strength", {}, "Strength"],
  ["sigma_1", { label: "How soft" }, "How soft"],
])("labels a subgraph input by its outer name without a number: %s, %o", (name, overrides, label) => {
  const id = "0a0a0a0a-0000-4000-8000-000000000003";
  const inner = { id: 11, type: "Blur", inputs: [{ name: "sigma", link: 1, widget: { name: "sigma" } }] };
  const links = [{ id: 1, origin_id: -10, origin_slot: 0, target_id: 11, target_slot: 0 }];
  const editor = {
    nodes: [{ id: 5, type: id, inputs: [{ name, widget: { name } }] }],
    links: [],
    definitions: { subgraphs: [{ id, name: "Soft", inputs: [{ name, ...overrides, linkIds: [1] }], outputs: [], nodes: [inner], links }] },
    extra: { linearData: { inputs: [[5, name]], outputs: [] } },
  };
  const flat = { "5:11": { class_type: "Blur", inputs: { sigma: 1.5 } } };
  expect(createAppDraft({ graph: flat, editor, title: "Soft" }).inputs).toMatchObject([{ node: "5:11", input: "sigma", label }]);
});
