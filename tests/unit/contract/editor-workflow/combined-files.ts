// Node classes, subgraphs and an assertion for files that combine several of the editor's rules.
import { expect } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { createEditorFile, createSubgraph, info as baseInfo, type NodeSpec } from "./editor-files";
import { toComparable } from "./to-comparable";

export const SUBGRAPH_A = "11111111-1111-1111-1111-111111111111";
export const SUBGRAPH_B = "22222222-2222-2222-2222-222222222222";
export const SUBGRAPH_C = "33333333-3333-3333-3333-333333333333";
const info = {
  ...baseInfo,
  ...objectInfoSchema.parse({
    Grown: {
      input: {
        required: {
          images: ["COMFY_AUTOGROW_V3", { template: { input: { required: { image: ["IMAGE", {}] } }, prefix: "image", min: 1, max: 5 } }],
          size: ["INT", { default: 3 }],
        },
      },
      output: ["IMAGE"],
    },
    Hidden: {
      input: { required: { text: ["STRING", {}], seed: ["INT", {}] }, hidden: { prompt: "PROMPT", unique_id: "UNIQUE_ID" } },
      output: ["STRING"],
    },
    Uploading: {
      input: { required: { image: [["a.png"], { image_upload: true }], channel: [["red", "green"]] }, optional: { more: ["FLOAT", {}] } },
      input_order: { required: ["image", "channel"], optional: ["more"] },
      output: ["IMAGE", "MASK"],
    },
    Numbered: { input: { required: { size: [[64, 128, 256], {}], count: ["COMBO", { options: ["1", "2"] }] } }, output: [] },
    Mixed: {
      input: { required: { amount: ["FLOAT,INT", {}], typed: ["INT,FLOAT", { widgetType: "FLOAT" }], last: ["INT", {}] } },
      output: ["INT"],
    },
    Nested: {
      input: {
        required: {
          method: [
            "COMFY_DYNAMICCOMBO_V3",
            {
              options: [
                { key: "plain", inputs: {} },
                {
                  key: "deep",
                  inputs: {
                    required: {
                      kind: [
                        "COMFY_DYNAMICCOMBO_V3",
                        { options: [{ key: "x", inputs: { required: { n: ["INT", { control_after_generate: true }] } } }] },
                      ],
                      label: ["STRING", {}],
                    },
                    optional: { image: ["IMAGE", {}] },
                  },
                },
              ],
            },
          ],
          last: ["INT", {}],
        },
      },
      output: ["IMAGE"],
    },
    Switch: {
      input: {
        required: { on: ["BOOLEAN", {}] },
        optional: {
          no: ["COMFY_MATCHTYPE_V3", { template: { template_id: "s", allowed_types: "*" } }],
          yes: ["COMFY_MATCHTYPE_V3", { template: { template_id: "s", allowed_types: "*" } }],
        },
      },
      output: ["COMFY_MATCHTYPE_V3"],
    },
    Resize: {
      input: { required: { input: ["COMFY_MATCHTYPE_V3", { template: { template_id: "t", allowed_types: "IMAGE,MASK" } }] } },
      output: ["COMFY_MATCHTYPE_V3"],
    },
    Decode: { input: { required: { samples: ["LATENT"], vae: ["VAE"] } }, output: ["IMAGE"] },
    Latent: { input: { required: {} }, output: ["LATENT"] },
  }),
};
export const createDefinitions = (...subgraphs: object[]) => ({ definitions: { subgraphs } });
export type Nodes = Record<string, [type: string, inputs: Record<string, unknown>]>;
const createGraph = (nodes: Nodes): Graph =>
  Object.fromEntries(Object.entries(nodes).map(([id, [class_type, inputs]]) => [id, { class_type, inputs }]));

/** Nested subgraphs: A contains a blur, B contains A and C contains B. Each forwards the radius and the image. */
export const createBlur = (id: number, overrides: Partial<NodeSpec> = {}): NodeSpec => ({
  id,
  type: "Blur",
  in: { image: [-10, 0], radius: [-10, 1, "INT", true] },
  values: [6],
  ...overrides,
});
export const subgraphInputs = { inputs: ["image", "radius"] };
export const wrapInSubgraph = (id: string, inner: NodeSpec) => createSubgraph(id, [inner], { ...subgraphInputs, outputs: [[inner.id, 0]] });
export const createSubgraphNode = (id: number, type: string, overrides: Partial<NodeSpec> = {}): NodeSpec => ({
  id,
  type,
  in: { image: [-10, 0], radius: [-10, 1, "INT", true] },
  values: [],
  ...overrides,
});
export const nestedSubgraphs = [
  wrapInSubgraph(SUBGRAPH_A, createBlur(30)),
  wrapInSubgraph(SUBGRAPH_B, createSubgraphNode(20, SUBGRAPH_A)),
  wrapInSubgraph(SUBGRAPH_C, createSubgraphNode(10, SUBGRAPH_B)),
];
export const createOuterFile = (overrides: Partial<NodeSpec>, nodes: NodeSpec[] = []) =>
  createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: SUBGRAPH_C, in: { image: [1, 0] }, values: [], ...overrides },
    { id: 3, type: "Sink", in: { images: [2, 0] } },
    ...nodes,
  ]);

/** Pass `file` as a string when its exact digits matter. */
export function expectReadAs(file: object | string, expected: Nodes): void {
  const { graph } = toApiWorkflow(file, info, { fill: false });
  expect(toComparable(graph, info)).toEqual(toComparable(createGraph(expected), info));
  expect(readMatchingDrawing(typeof file === "string" ? parseJson(file) : file, graph)).toBeDefined();
}
