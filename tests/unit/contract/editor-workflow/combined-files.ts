// Classes and subgraphs for files that combine several of the editor's rules, and a comparison of such files.
import { expect } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { toComparable } from "./comparable";
import { definition, info as small, net, type NodeSpec } from "./editor-files";

export const A = "11111111-1111-1111-1111-111111111111";
export const B = "22222222-2222-2222-2222-222222222222";
export const C = "33333333-3333-3333-3333-333333333333";
const info = {
  ...small,
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
    Numbered: { input: { required: { size: [[64, 128, 256], {}], of: ["COMBO", { options: ["1", "2"] }] } }, output: [] },
    Mixed: {
      input: { required: { amount: ["FLOAT,INT", {}], typed: ["INT,FLOAT", { widgetType: "FLOAT" }], last: ["INT", {}] } },
      output: ["INT"],
    },
    Nested: {
      input: {
        required: {
          how: [
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
export const subgraphs = (...list: object[]) => ({ definitions: { subgraphs: list } });
export type Nodes = Record<string, [type: string, inputs: Record<string, unknown>]>;
const createGraph = (nodes: Nodes): Graph =>
  Object.fromEntries(Object.entries(nodes).map(([id, [class_type, inputs]]) => [id, { class_type, inputs }]));

/** Nested subgraphs: a blur in a, a in b, b in c; each forwards the radius and the picture. */
export const blur = (id: number, overrides: Partial<NodeSpec> = {}): NodeSpec => ({
  id,
  type: "Blur",
  in: { image: [-10, 0], radius: [-10, 1, "INT", true] },
  values: [6],
  ...overrides,
});
export const ends = { inputs: ["image", "radius"] };
export const wrapped = (id: string, inner: NodeSpec) => definition(id, [inner], { ...ends, outputs: [[inner.id, 0]] });
export const use = (id: number, type: string, overrides: Partial<NodeSpec> = {}): NodeSpec => ({
  id,
  type,
  in: { image: [-10, 0], radius: [-10, 1, "INT", true] },
  values: [],
  ...overrides,
});
export const three = [wrapped(A, blur(30)), wrapped(B, use(20, A)), wrapped(C, use(10, B))];
export const outside = (node: Partial<NodeSpec>, nodes: NodeSpec[] = []) =>
  net([
    { id: 1, type: "Source" },
    { id: 2, type: C, in: { image: [1, 0] }, values: [], ...node },
    { id: 3, type: "Sink", in: { images: [2, 0] } },
    ...nodes,
  ]);

/** `file`: a text if its exact digits matter. */
export function expectReadAs(file: object | string, expected: Nodes): void {
  const { graph } = toApiWorkflow(file, info, { fill: false });
  expect(toComparable(graph, info)).toEqual(toComparable(createGraph(expected), info));
  expect(readMatchingDrawing(typeof file === "string" ? parseJson(file) : file, graph)).toBeDefined();
}
