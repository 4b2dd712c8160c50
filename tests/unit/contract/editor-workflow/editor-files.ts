// The editor's recorded files, builders for small files, and a catalogue of the classes that the tests use.
import { readdirSync, readFileSync } from "node:fs";
import { type EditorProblem, toApiWorkflow } from "@/lib/contract/editor-workflow";
import { type JsonObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";

const folder = "tests/fixtures/editor-pairs";
export const readFixture = (name: string) => parseExactJson<JsonObject>(readFileSync(`${folder}/${name}`, "utf8"));
export const pairInfo = objectInfoSchema.parse(readFixture("object-info.json"));
export const pairNames = readdirSync(folder).flatMap((file) => (file.endsWith(".editor.json") ? file.replace(".editor.json", "") : []));

export const info = objectInfoSchema.parse({
  Source: { input: { required: {} }, output: ["IMAGE", "IMAGE", "INT"], display_name: "The source" },
  Sink: { input: { required: { images: ["IMAGE"] }, optional: { also: ["IMAGE"], any: ["*"] } }, output: [] },
  Blur: {
    input: { required: { mask: ["MASK"], image: ["IMAGE"], more: ["IMAGE"], radius: ["INT", { default: 3 }] } },
    output: ["IMAGE", "IMAGE", "INT"],
  },
  Seeded: { input: { required: { seed: ["INT", { default: 0 }], steps: ["INT", { default: 20 }] } }, output: ["INT"] },
  Uncontrolled: { input: { required: { seed: ["INT", { control_after_generate: false }], steps: ["INT", {}] } }, output: [] },
  Drawn: {
    input: {
      required: {
        kind: [["one", "two"], { control_after_generate: true }],
        label: ["STRING", {}],
        strength: ["FLOAT", { control_after_generate: true }],
      },
      optional: { last: ["INT", {}] },
    },
    output: [],
  },
  Boxed: { input: { required: { box: ["BOUNDING_BOX", {}], after: ["STRING", { default: "" }] } }, output: [] },
  Listed: {
    input: {
      required: {
        from: ["COMBO", { remote: { route: "/x" }, options: [] }],
        kind: [["one", "two"], {}],
        size: ["FLOAT", { default: 1.5 }],
      },
    },
    output: [],
  },
  Refreshed: {
    input: { required: { from: ["COMBO", { remote: { route: "/x", refresh_button: true }, options: [] }], size: ["INT", {}] } },
    output: [],
  },
  Stepped: {
    input: {
      required: {
        width: ["INT", { default: 64, min: 16, max: 512, step: 8 }],
        cfg: ["FLOAT", { default: 8, min: 0, max: 30, step: 0.1, round: 0.01 }],
        strength: ["FLOAT", {}],
        fine: ["FLOAT", { min: -1, max: 1, step: 0.001 }],
        seed: ["INT", { max: 18446744073709551615 }],
      },
    },
    output: [],
  },
  Matched: {
    input: {
      required: {
        method: [
          "COMFY_DYNAMICCOMBO_V3",
          { options: [{ key: "like", inputs: { required: { like: ["IMAGE"], size: ["INT", { default: 5 }] } } }, { key: "not" }] },
        ],
        image: ["IMAGE"],
      },
    },
    output: ["IMAGE", "IMAGE", "IMAGE"],
  },
  Forced: { input: { required: { text: ["STRING", { forceInput: true }], width: ["INT", {}] } }, output: [] },
  Ordered: { input: { required: { b: ["INT", {}], a: ["INT", {}] } }, input_order: { required: ["a", "b"] }, output: [] },
  Unordered: {
    input: { required: { late: ["INT", {}], a: ["INT", {}] }, optional: { more: ["INT", {}] } },
    input_order: { required: ["a"], optional: ["more"] },
    output: [],
  },
  Coloured: { input: { required: { color: ["COLOR", { default: "#123456" }], curve: ["CURVE", {}], points: ["STRING", {}] } }, output: [] },
  Prompt: { input: { required: { text: ["STRING", { dynamicPrompts: true }], plain: ["STRING", {}] } }, output: ["STRING"] },
  SaveImage: { input: { required: { images: ["IMAGE"], filename_prefix: ["STRING", { default: "x" }] } }, output: [] },
  KSampler: { input: { required: { sampler_name: [["euler"], {}] } }, output: [] },
  Branching: {
    input: {
      required: {
        mode: [
          "COMFY_DYNAMICCOMBO_V3",
          {
            default: "b",
            options: [
              { key: "a", inputs: { required: { x: ["INT", { default: 1 }] } } },
              { key: "b", inputs: { required: { y: ["INT", { default: 2 }] } } },
            ],
          },
        ],
        last: ["INT", {}],
      },
    },
    output: [],
  },
  Chooser: {
    input: {
      required: {
        mode: [
          "COMFY_DYNAMICCOMBO_V3",
          { options: [{ key: "by", inputs: { required: { factor: ["FLOAT", { default: 2 }], match: ["IMAGE"] } } }, { key: "none" }] },
        ],
        last: ["INT", {}],
      },
    },
    output: [],
  },
});

export type NodeSpec = { id: number; type: string; in?: Record<string, unknown>; values?: unknown; [extra: string]: unknown };
/** `in` maps an input name to [origin, slot, type?, isWidget?]. A linked widget's value keeps its position. */
export function createEditorFile(specs: readonly NodeSpec[], firstLinkId = 1) {
  const links: unknown[] = [];
  const nodes = specs.map(({ in: inputs = {}, values, ...node }) => ({
    mode: 0,
    ...node,
    inputs: Object.entries(inputs).map(([name, from]) => {
      const [origin, slot, type = "IMAGE", isWidget] = Array.isArray(from) ? from : [];
      if (origin === undefined) return { name, type: "IMAGE", link: null };
      const id = firstLinkId + links.length;
      links.push([id, origin, slot, node.id, 0, type]);
      return { name, type, link: id, ...(isWidget && { widget: { name } }) };
    }),
    ...(values !== undefined && { widgets_values: values }),
  }));
  return { last_node_id: Math.max(0, ...specs.map(({ id }) => id)), nodes, links, version: 0.4 };
}
const toLinkObjects = (links: readonly unknown[]) =>
  links.map((link) => {
    const [id, origin_id, origin_slot, target_id, target_slot, type] = Array.isArray(link) ? link : [];
    return { id, origin_id, origin_slot, target_id, target_slot, type };
  });
/** `outputs` lists the node id and slot of each output. */
export function createSubgraph(
  id: string,
  specs: readonly NodeSpec[],
  { inputs = [], outputs = [] }: { inputs?: string[]; outputs?: [number, number][] } = {},
) {
  const inner = createEditorFile(specs, 100);
  const outputLinks = outputs.map(([node, slot], index) => ({
    id: 900 + index,
    origin_id: node,
    origin_slot: slot,
    target_id: -20,
    target_slot: index,
    type: "IMAGE",
  }));
  return {
    id,
    version: 1,
    name: "Inner",
    inputs: inputs.map((name) => ({ id: name, name, type: name === "radius" ? "INT" : "IMAGE", linkIds: [] })),
    outputs: outputs.map((_, index) => ({ id: `o${index}`, name: `o${index}`, type: "IMAGE", linkIds: [900 + index] })),
    nodes: inner.nodes,
    links: [...toLinkObjects(inner.links), ...outputLinks],
  };
}
export const convert = (file: unknown) => toApiWorkflow(file, info);
export const getInputs = (file: unknown, id: string) => convert(file).graph[id]?.inputs;
export const getCodes = (problems: readonly EditorProblem[]) => problems.map(({ code }) => code);

export const INNER_ID = "11111111-1111-1111-1111-111111111111";
export const OUTER_ID = "22222222-2222-2222-2222-222222222222";
/** A subgraph with one node. */
export const blurSubgraph = createSubgraph(
  INNER_ID,
  [{ id: 5, type: "Blur", in: { image: [-10, 0], radius: [-10, 1, "INT", true] }, values: [6] }],
  {
    inputs: ["image", "radius"],
    outputs: [[5, 0]],
  },
);
/** A file that uses the subgraph once. */
export const createFileWithSubgraph = (nodeOverrides: Partial<NodeSpec>, subgraphs: object[] = [blurSubgraph]) => ({
  ...createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: INNER_ID, in: { image: [1, 1] }, values: [], ...nodeOverrides },
    { id: 3, type: "Sink", in: { images: [2, 0] } },
  ]),
  definitions: { subgraphs },
});
